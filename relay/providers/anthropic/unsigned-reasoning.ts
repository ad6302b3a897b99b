import { isSealed } from '#relay/chat/seals/envelope.ts'
import { sealLoss } from '#relay/chat/seals/open-seals.ts'
import { type Json, recordOf, textOf } from '../shared/json.ts'
import type { ClaudeTraits } from './models.ts'

type Sent = {
  /** Nothing is known of the models of other vendors. */
  traits?: ClaudeTraits | undefined
  /** Reasoning goes whose proof the upstream has refused. */
  isRefused?: ((proof: string) => boolean) | undefined
}

/** Reasoning of other vendors reaches callers of this dialect without a signature, or sealed; this vendor's own have one. */
const isUnproven = (block: unknown): boolean => {
  const { type, signature } = recordOf(block) ?? {}
  return type === 'thinking' && (typeof signature !== 'string' || signature === '' || isSealed(signature))
}

/** The proof of a block of reasoning. */
function proofOf(block: unknown): string | undefined {
  const { type, signature, data } = recordOf(block) ?? {}
  return textOf(type === 'thinking' ? signature : type === 'redacted_thinking' ? data : undefined)
}

const isSealedProof = (block: unknown): boolean => {
  const signature = recordOf(block)?.['signature']
  return typeof signature === 'string' && isSealed(signature)
}

const blocksOf = (message: unknown): readonly unknown[] => {
  const content = recordOf(message)?.['content']
  return Array.isArray(content) ? content : []
}

const has = (message: unknown, types: readonly unknown[]): boolean =>
  blocksOf(message).some((block) => types.includes(recordOf(block)?.['type']))

const reasoningTypes: readonly unknown[] = ['thinking', 'redacted_thinking']
export const isReasoning = (block: unknown): boolean => reasoningTypes.includes(recordOf(block)?.['type'])

/**
 * Whether a round of tools is under way that began without reasoning. In a round that began with it the model need not think
 * again before each call.
 */
export function isRoundWithoutReasoning(messages: unknown): boolean {
  const list: readonly unknown[] = Array.isArray(messages) ? messages : []
  const roleOf = (message: unknown): unknown => recordOf(message)?.['role']
  let at = list.findLastIndex((message) => roleOf(message) === 'assistant')
  if (!has(list[at], ['tool_use'])) return false
  for (; at >= 0; at -= 1) {
    const message = list[at]
    if (roleOf(message) === 'assistant' ? blocksOf(message).some(isReasoning) : !has(message, ['tool_result'])) break
  }
  return roleOf(list[at]) !== 'assistant'
}

/**
 * Takes reasoning out of a conversation that this vendor would refuse as not its own. Older models then refuse to think on in
 * a round of tools whose reasoning is missing, so such a call goes without. Names proofs that were sealed for another vendor.
 */
export function dropUnprovenReasoning(body: Json, { traits, isRefused }: Sent): string[] {
  const messages: unknown = body['messages']
  if (!Array.isArray(messages)) return []
  const refused = refusedIn(messages, isRefused)
  const isDropped = (block: unknown): boolean => refused.has(block) || isUnproven(block)
  if (!messages.some((message) => blocksOf(message).some(isDropped))) return []
  const signed = messages.flatMap((message: unknown): unknown[] => {
    const blocks = blocksOf(message)
    if (!blocks.some(isDropped)) return [message]
    const content = blocks.filter((block) => !isDropped(block))
    return content.length > 0 ? [{ ...recordOf(message), content }] : []
  })
  body['messages'] = signed
  const last = signed.findLast((message) => recordOf(message)?.['role'] === 'assistant')
  const lostThem = has(last, ['tool_use']) && !has(last, ['thinking', 'redacted_thinking'])
  const thinks = recordOf(body['thinking'])?.['type']
  if (lostThem && traits?.thinking === 'budget' && thinks !== undefined) body['thinking'] = { type: 'disabled' }
  return refused.size > 0 || messages.some((message) => blocksOf(message).some(isSealedProof)) ? [sealLoss] : []
}

/** Blocks whose proof the upstream has refused. */
function refusedIn(messages: readonly unknown[], isRefused: Sent['isRefused']): Set<unknown> {
  const isOdd = (block: unknown): boolean => {
    const proof = isUnproven(block) ? undefined : proofOf(block)
    return proof !== undefined && isRefused?.(proof) === true
  }
  return new Set(messages.flatMap((message) => blocksOf(message).filter(isOdd)))
}

/** The same of reasoning whose proof was refused alone, for vendors of whose models nothing is known. */
export function dropRefusedReasoning(body: Json, isRefused: Sent['isRefused']): string[] {
  const messages: unknown = body['messages']
  if (!Array.isArray(messages)) return []
  const refused = refusedIn(messages, isRefused)
  if (refused.size === 0) return []
  body['messages'] = messages.flatMap((message: unknown): unknown[] => {
    const blocks = blocksOf(message)
    const content = blocks.filter((block) => !refused.has(block))
    if (content.length === blocks.length) return [message]
    return content.length > 0 ? [{ ...recordOf(message), content }] : []
  })
  return [sealLoss]
}

/**
 * Takes the proofs away that were sealed for others, for vendors who look at no proof but want earlier reasoning back: their
 * models see what was thought.
 */
export function dropSealedProofs(body: Json): string[] {
  const messages: unknown = body['messages']
  if (!Array.isArray(messages) || !messages.some((message) => blocksOf(message).some(isSealedProof))) return []
  body['messages'] = messages.map((message: unknown): unknown => {
    const blocks = blocksOf(message)
    if (!blocks.some(isSealedProof)) return message
    const content = blocks.flatMap((block): unknown[] => {
      if (!isSealedProof(block)) return [block]
      return recordOf(block)?.['thinking'] === '' ? [] : [{ ...recordOf(block), signature: '' }]
    })
    return { ...recordOf(message), content: content.length > 0 ? content : [{ type: 'text', text: '...' }] }
  })
  return [sealLoss]
}
