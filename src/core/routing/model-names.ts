import { parseJson } from '../exact-json.ts'
import type { ModelMapping } from '../options/model-mapping.ts'

export type MappedModel =
  | { ok: true; model: string; isMapped: boolean }
  | { ok: false; problem: 'model_mapping_contains_cycle' | 'unmarshal_model_mapping_failed' }

/**
 * The name a channel sends upstream: links of its mapping are followed from name to name. A link to itself ends the chain;
 * one back to an earlier name is an error.
 */
export function resolveModelMapping(mappingText: string, name: string): MappedModel {
  const links = readLinks(mappingText)
  if (links === undefined) return { ok: false, problem: 'unmarshal_model_mapping_failed' }
  const passed = new Set([name])
  let model = name
  for (;;) {
    const next = links.get(model)
    if (next === undefined || next === '' || next === model) return { ok: true, model, isMapped: model !== name }
    if (passed.has(next)) return { ok: false, problem: 'model_mapping_contains_cycle' }
    passed.add(next)
    model = next
  }
}

const noLinks: ReadonlyMap<string, string> = new Map()

function readLinks(text: string): ReadonlyMap<string, string> | undefined {
  if (text.trim() === '') return noLinks
  try {
    const value: unknown = parseJson(text)
    if (value === null) return noLinks
    if (typeof value !== 'object' || Array.isArray(value)) return undefined
    const links = Object.entries(value)
    return links.every((link): link is [string, string] => typeof link[1] === 'string') ? new Map(links) : undefined
  } catch {
    return undefined
  }
}

const leastWeight = 10

/** The actual models behind a name with the weight of each, highest number first; see {@link actualModels}. */
export function modelsBehind(
  mapping: ModelMapping,
  name: string,
): { model: string; priorities: number; weight: number }[] {
  const entries = Object.hasOwn(mapping, name) ? (mapping[name] ?? []) : []
  if (entries.length === 0) return [{ model: name, priorities: 0, weight: leastWeight }]
  return entries
    .map((entry) => ({ ...entry, weight: Math.max(leastWeight, entry.weight) }))
    .toSorted((left, right) => right.priorities - left.priorities)
}

/**
 * The actual models behind a name, in the order to try them: highest number first, equal ones by weighted probability. A name
 * that is not virtual stands for itself.
 */
export function actualModels(mapping: ModelMapping, name: string, random: () => number): string[] {
  const entries = modelsBehind(mapping, name)
  if (entries.length === 1) return entries.map(({ model }) => model)
  // The smallest of exponential draws comes first with a probability in proportion to its weight.
  const drawn = entries.map((entry) => ({ ...entry, draw: -Math.log(1 - random()) / entry.weight }))
  return drawn
    .toSorted((left, right) => right.priorities - left.priorities || left.draw - right.draw)
    .map((entry) => entry.model)
}
