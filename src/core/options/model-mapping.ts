import { z } from 'zod'
import type { Problem } from '#core/errors.ts'

export type MappingEntry = { model: string; priorities: number; weight: number }

/** Virtual model name → the actual models behind it. */
export type ModelMapping = Record<string, MappingEntry[]>

/** Shape alone; what the entries must keep to, `checkModelMapping` says with its own words. */
const mappingEntry = z.object({
  model: z.string(),
  priorities: z.number(),
  weight: z.number().default(0),
})
export const modelMapping = z.record(z.string(), z.array(mappingEntry))

const isRank = (value: number): boolean => Number.isSafeInteger(value) && value >= 0

function checkEntries(entries: MappingEntry[]): Problem | undefined {
  if (entries.length === 0) return { code: 'mapping.entries_required' }
  const models = new Set<string>()
  for (const entry of entries) {
    const model = entry.model.trim()
    if (model === '') return { code: 'mapping.model_required' }
    if (models.has(model)) return { code: 'mapping.model_duplicate' }
    if (!isRank(entry.priorities) || !isRank(entry.weight)) return { code: 'mapping.priority_invalid' }
    models.add(model)
  }
  return undefined
}

export function checkModelMapping(mapping: ModelMapping): Problem | undefined {
  const virtualNames = new Set<string>()
  for (const [virtualName, entries] of Object.entries(mapping)) {
    const name = virtualName.trim()
    if (name === '') return { code: 'mapping.name_required' }
    if (virtualNames.has(name)) return { code: 'mapping.name_taken', params: { name } }
    const problem = checkEntries(entries)
    if (problem) return problem
    virtualNames.add(name)
  }
  return undefined
}

/** Names without the blanks around them. */
export const trimModelMapping = (mapping: ModelMapping): ModelMapping =>
  Object.fromEntries(
    Object.entries(mapping).map(([name, entries]) => [
      name.trim(),
      entries.map((entry) => ({ ...entry, model: entry.model.trim() })),
    ]),
  )
