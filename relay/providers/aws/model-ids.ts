/** Public names without a date → the dated ones that have an id here. */
const aliases: Readonly<Record<string, string>> = {
  'claude-opus-4-5': 'claude-opus-4-5-20251101',
  'claude-sonnet-4-5': 'claude-sonnet-4-5-20250929',
  'claude-haiku-4-5': 'claude-haiku-4-5-20251001',
  'claude-opus-4-1': 'claude-opus-4-1-20250805',
}

const special: Readonly<Record<string, string>> = {
  'claude-instant-1.2': 'anthropic.claude-instant-v1',
  'claude-2.0': 'anthropic.claude-v2',
  'claude-2.1': 'anthropic.claude-v2:1',
  'claude-3-5-sonnet-20241022': 'anthropic.claude-3-5-sonnet-20241022-v2:0',
  'claude-opus-4-6': 'anthropic.claude-opus-4-6-v1',
}

function idOf(name: string): string {
  if (Object.hasOwn(special, name)) return special[name] as string
  if (/^claude-.*-\d{8}$/.test(name)) return `anthropic.${name}-v1:0`
  if (/^claude-(opus|sonnet|haiku|fable|mythos)-\d/.test(name)) return `anthropic.${name}`
  return name.startsWith('nova-') ? `amazon.${name}` : name
}

/** Areas that earlier models have a cross-region profile in; elsewhere they are called by their own id. */
const earlierAreas: readonly [RegExp, readonly string[]][] = [
  [
    /^claude-3-(sonnet|haiku)-|^claude-3-5-sonnet-20240620|^claude-3-7-sonnet|^claude-sonnet-4-20250514/,
    ['us', 'eu', 'apac'],
  ],
  [/^claude-3-opus|^claude-3-5-haiku|^claude-opus-4-(20250514|1)/, ['us']],
  [/^claude-3-5-sonnet-20241022/, ['us', 'apac']],
  [/^claude-(2|instant|3)/, []],
]

/**
 * Areas that later models have a profile in, without which they cannot be called; from elsewhere the one of the whole world serves. Those of
 * Japan and Australia (`jp`, `au`) not every model has:
 * https://docs.aws.amazon.com/bedrock/latest/userguide/inference-profiles-support.html
 */
const laterAreas: readonly string[] = ['us', 'eu', 'us-gov']

function areaOf(region: string): string {
  if (region.startsWith('us-gov-')) return 'us-gov'
  const [first = ''] = region.split('-')
  return first === 'ap' ? 'apac' : first
}

/** The id a model is called by in a region; full ids, profiles and ARNs stay as they are. */
export function toBedrockId(model: string, region: string): string {
  const name = aliases[model] ?? model
  const id = idOf(name)
  if (id === name || !id.startsWith('anthropic.')) return id
  const area = areaOf(region)
  const earlier = earlierAreas.find(([pattern]) => pattern.test(name))?.[1]
  if (earlier) return earlier.includes(area) ? `${area}.${id}` : id
  return `${laterAreas.includes(area) ? area : 'global'}.${id}`
}
