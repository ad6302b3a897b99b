import { abilityModel } from '#core/routing/abilities.ts'
import type { ChannelRow } from './channel-row.ts'

type Named = Pick<ChannelRow, 'groups' | 'models' | 'modelPrefix'>

/** Which models the channels of a group name, whether they are on or off. */
export type ListedModels = {
  add: (channel: Named) => void
  remove: (channel: Named) => void
  /** By its own name, or behind the prefix of a channel that has it. */
  has: (group: string, model: string) => boolean
}

/** Counted by name, so that a call for a name that nobody has costs no walk over all channels. */
export function createListedModels(): ListedModels {
  const groups = new Map<string, Map<string, number>>()
  const prefixes = new Map<string, number>()

  const change = ({ groups: own, models, modelPrefix }: Named, by: 1 | -1): void => {
    if (modelPrefix !== '') count(prefixes, modelPrefix, by)
    for (const group of own) {
      const names = groups.get(group) ?? new Map<string, number>()
      groups.set(group, names)
      for (const model of models) {
        count(names, model, by)
        if (modelPrefix !== '') count(names, prefixed(modelPrefix, model), by)
      }
      if (names.size === 0) groups.delete(group)
    }
  }

  return {
    add: (channel) => change(channel, 1),
    remove: (channel) => change(channel, -1),
    has: (group, model) => {
      const names = groups.get(group)
      if (names === undefined || names.has(model)) return names !== undefined
      return [...prefixes.keys()].some(
        (prefix) => model.startsWith(prefix) && names.has(prefixed(prefix, abilityModel(model.slice(prefix.length)))),
      )
    },
  }
}

/** Never the same as a model's own name, which has no such character. */
const prefixed = (prefix: string, model: string): string => `${prefix}\0${model}`

function count(counts: Map<string, number>, name: string, by: 1 | -1): void {
  const next = (counts.get(name) ?? 0) + by
  if (next === 0) counts.delete(name)
  else counts.set(name, next)
}
