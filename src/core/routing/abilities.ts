/** A comma-separated list as an operator types it: blanks trimmed, empties and repeats dropped. */
export const splitList = (text: string): string[] => [
  ...new Set(
    text
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== ''),
  ),
]

/** The name under which a model's abilities are stored: custom GPTs share one row. */
export function abilityModel(model: string): string {
  if (model.startsWith('gpt-4-gizmo')) return 'gpt-4-gizmo-*'
  return model.startsWith('gpt-4o-gizmo') ? 'gpt-4o-gizmo-*' : model
}

/** Whether a name is that of a model with the prefix before it. */
export const isPrefixed = (name: string, prefix: string, model: string): boolean =>
  prefix !== '' && name === prefix + model

/** The longest known prefix a name starts with and the model behind it; undefined where there is none. */
export function splitPrefix(name: string, prefixes: Iterable<string>): { prefix: string; model: string } | undefined {
  let longest = ''
  for (const prefix of prefixes) {
    if (prefix.length > longest.length && name.length > prefix.length && name.startsWith(prefix)) longest = prefix
  }
  return longest === '' ? undefined : { prefix: longest, model: name.slice(longest.length) }
}

type Listing = { models: readonly string[]; modelPrefix: string }

/**
 * What one channel is asked for, whatever other channels there are: of the models behind a name those that it lists, or all of them
 * where it lists none, without its own prefix unless it lists them with it.
 */
export function modelsAt<Entry extends { model: string }>(
  { models, modelPrefix }: Listing,
  behind: readonly Entry[],
): Entry[] {
  const isListed = ({ model }: { model: string }): boolean => models.includes(abilityModel(model))
  const bare = behind.map((entry) =>
    isListed(entry) ? entry : { ...entry, model: splitPrefix(entry.model, [modelPrefix])?.model ?? entry.model },
  )
  const listed = bare.filter(isListed)
  return listed.length > 0 ? listed : bare
}
