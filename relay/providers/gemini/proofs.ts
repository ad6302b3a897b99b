import { type Json, recordOf, textOf } from '../shared/json.ts'
import { draws, wantsSignatures } from './models.ts'

/** Marks for the upstream that the signature of a part is not known, where it would refuse one without. */
export const unknownSignature = 'skip_thought_signature_validator'

/** The field that holds the signature of a part, in either spelling. */
export const nameIn = (part: Json): string =>
  part['thought_signature'] === undefined ? 'thoughtSignature' : 'thought_signature'

const isCall = (part: Json): boolean => (part['functionCall'] ?? part['function_call']) !== undefined

export function isImage(part: Json): boolean {
  const inline = recordOf(part['inlineData'] ?? part['inline_data'])
  return (textOf(inline?.['mimeType'] ?? inline?.['mime_type']) ?? '').startsWith('image/')
}

/**
 * Parts of a model's turn that the model refuses without a signature: from the third generation on the first call and every image,
 * and where the model draws, what it says first: https://ai.google.dev/gemini-api/docs/thought-signatures#model-behavior.
 */
export function partsToProve(parts: readonly Json[], model: string): Set<Json> {
  if (!wantsSignatures(model)) return new Set()
  const spoken = parts.filter((part) => part['thought'] !== true)
  const call = spoken.find(isCall)
  return new Set([...(draws(model) ? spoken.slice(0, 1) : []), ...(call ? [call] : []), ...spoken.filter(isImage)])
}
