import { isSealed } from '#relay/chat/seals/envelope.ts'
import { sealLoss } from '#relay/chat/seals/open-seals.ts'
import { type Json, recordOf } from '../shared/json.ts'
import type { ClaudeTraits } from './models.ts'

/** Reasoning of other vendors reaches callers of this dialect without a signature, or sealed; this vendor's own have one. */
const isUnproven = (block: unknown): boolean => {
  const { type, signature } = recordOf(block) ?? {}
  return type === 'thinking' && (typeof signature !== 'string' || signature === '' || isSealed(signature))
}

const isSealedProof = (block: unknown): boolean => {
  const signature = recordOf(block)?.['signature']
  return typeof signature === 'string' && isSealed(signature)
}

const blocksOf = (message: unknown): readonly unknown[] => {
  const content = recordOf(message)?.['content']
  return Array.isArray(content) ? content : []
}

const has = (message: unknown, types: readonly string[]): boolean =>
  blocksOf(message).some((block) => types.includes(String(recordOf(block)?.['type'])))

/**
 * Takes reasoning out of a conversation that this vendor would refuse as not its own. Older models then refuse to think on in
 * a round of tools whose reasoning is missing, so such a call goes without. Names proofs that were sealed for another vendor.
 */
export function dropUnprovenReasoning(body: Json, traits: ClaudeTraits): string[] {
  const messages: unknown = body['messages']
  if (!Array.isArray(messages) || !messages.some((message) => blocksOf(message).some(isUnproven))) return []
  const signed = messages.flatMap((message: unknown): unknown[] => {
    const blocks = blocksOf(message)
    if (!blocks.some(isUnproven)) return [message]
    const content = blocks.filter((block) => !isUnproven(block))
    return content.length > 0 ? [{ ...recordOf(message), content }] : []
  })
  body['messages'] = signed
  const last = signed.findLast((message) => recordOf(message)?.['role'] === 'assistant')
  const lostThem = has(last, ['tool_use']) && !has(last, ['thinking', 'redacted_thinking'])
  const thinks = recordOf(body['thinking'])?.['type']
  if (lostThem && traits.thinking === 'budget' && thinks !== undefined) body['thinking'] = { type: 'disabled' }
  return messages.some((message) => blocksOf(message).some(isSealedProof)) ? [sealLoss] : []
}
