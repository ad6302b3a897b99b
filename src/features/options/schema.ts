import { z } from 'zod'
import { modelMapping } from '#core/options/model-mapping.ts'

/** One option as text, known or not. */
export const updateOption = z.object({ key: z.string(), value: z.string() })
export type UpdateOption = z.infer<typeof updateOption>

/**
 * Options by their values, as the settings form holds them; a key that is not known takes text. `expected` is what the form
 * began with: where somebody else has saved another value since, the change is refused.
 */
export const saveOptions = z.object({
  changes: z.array(z.object({ key: z.string(), value: z.json(), expected: z.json().optional() })).max(500),
})
export type SaveOptions = z.infer<typeof saveOptions>

export const resetOptions = z.object({ keys: z.array(z.string()).max(500) })
export type ResetOptions = z.infer<typeof resetOptions>

export const updateModelMapping = z.object({
  mapping: modelMapping,
  /** What the change began with: the whole mapping is refused where somebody else has saved another since. */
  expected: modelMapping.optional(),
})
export type UpdateModelMapping = z.infer<typeof updateModelMapping>

export const testMail = z.object({ to: z.email().max(320) })
export type TestMail = z.infer<typeof testMail>

export const discoverOidc = z.object({ address: z.string() })
export type DiscoverOidc = z.infer<typeof discoverOidc>
