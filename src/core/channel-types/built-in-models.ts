import { channelTypes } from './index.ts'

const unreachable = new Set(['reserved', 'excluded', 'later'])

/** Model names that come with the product, by channel type; types that nothing can be sent to are absent. */
export const builtInModelsByType = (): { type: number; models: string[] }[] =>
  channelTypes
    .filter(({ status }) => !unreachable.has(status))
    .map(({ type, defaultModels, currentModels }) => ({
      type,
      models: [...new Set([...currentModels, ...defaultModels])],
    }))

/** Each name once, with the first type that has it. */
export function builtInModels(): { id: string; ownedBy: string }[] {
  const owners = new Map<string, string>()
  for (const { name, defaultModels, currentModels } of channelTypes) {
    for (const model of [...currentModels, ...defaultModels]) if (!owners.has(model)) owners.set(model, name)
  }
  return [...owners].map(([id, ownedBy]) => ({ id, ownedBy })).toSorted((left, right) => (left.id < right.id ? -1 : 1))
}
