import type { AssistantPart, ChatRequest, ReasoningPart, ToolCallPart } from '../request.ts'
import { isSealed, type Maker, type Proof, readSeal, type Seal, type Sealer } from './envelope.ts'

export type Opening = {
  sealer: Sealer
  /** Whether a proof of this maker is read by the upstream that the call goes to. */
  reads: (maker: Maker) => boolean
}

/** The name under which a proof is lost that is not this upstream's own, or not ours. */
export const sealLoss = 'reasoning.signature'

/** What the seals of one request may hold together: they are compressed, and the memory for its body counts them as they came. */
const mostOpened = 16 * 1024 * 1024
const bytesOfSeal = 1024

type Proven = ReasoningPart | ToolCallPart

function sealOf(part: AssistantPart): string | undefined {
  if (part.type !== 'reasoning' && part.type !== 'tool-call') return undefined
  const given = part.signature?.value ?? (part.type === 'reasoning' ? part.encrypted?.data : undefined)
  return given !== undefined && isSealed(given) ? given : undefined
}

const reasoningOf = (proof: Proof, { dialect }: Maker): ReasoningPart =>
  proof.kind === 'encrypted'
    ? { type: 'reasoning', text: proof.text, encrypted: { dialect, data: proof.value } }
    : { type: 'reasoning', text: proof.text, signature: { dialect, value: proof.value } }

/** The part as it would be had nobody proven it; a reasoning part without words is none. */
function unproven(part: Proven): AssistantPart[] {
  if (part.type === 'tool-call') {
    const { signature: _, ...call } = part
    return [call]
  }
  return part.text === '' ? [] : [{ type: 'reasoning', text: part.text }]
}

const proofOf = (part: Proven): string | undefined =>
  part.signature?.value ?? (part.type === 'reasoning' ? part.encrypted?.data : undefined)

/** A conversation without the proofs that its upstream has refused; the very same object where there are none. */
export function withoutProofs(request: ChatRequest, isRefused?: (proof: string) => boolean): ChatRequest {
  const refused = new Set<AssistantPart>()
  for (const { role, content } of request.messages) {
    if (role !== 'assistant') continue
    for (const part of content) {
      const proof = part.type === 'reasoning' || part.type === 'tool-call' ? proofOf(part) : undefined
      if (proof !== undefined && isRefused?.(proof) === true) refused.add(part)
    }
  }
  if (refused.size === 0) return request
  const messages = request.messages.map((message) =>
    message.role === 'assistant'
      ? {
          ...message,
          content: message.content.flatMap((part) => (refused.has(part) ? unproven(part as Proven) : [part])),
        }
      : message,
  )
  return { ...request, messages }
}

const isProven = (part: ReasoningPart): boolean => (part.signature ?? part.encrypted) !== undefined

/** A reasoning part that stands proven beside it was shown once and proven later. */
function withoutRepeated(content: AssistantPart[]): AssistantPart[] {
  const proven = new Set(content.flatMap((part) => (part.type === 'reasoning' && isProven(part) ? [part.text] : [])))
  return content.filter((part) => part.type !== 'reasoning' || isProven(part) || !proven.has(part.text))
}

/**
 * A conversation whose sealed proofs are its maker's own again, for the upstream that made them; what is sealed for another,
 * or was not sealed here, was changed, or is too much with the others, is left out and named. Without any of them it is the very same object.
 */
export function openSeals(
  request: ChatRequest,
  { sealer, reads }: Opening,
): { request: ChatRequest; losses: string[] } {
  const losses = new Set<string>()
  let room = mostOpened
  const open = (text: string): Seal | undefined => {
    const seal = room > 0 ? readSeal(text, sealer) : undefined
    room -= bytesOfSeal
    for (const proof of seal?.proofs ?? []) room -= proof.text.length + proof.value.length
    return seal
  }
  const openMessage = (content: AssistantPart[]): AssistantPart[] => {
    /** Proves the call that comes next. */
    let ofCall: ToolCallPart['signature']
    const opened = content.flatMap((part): AssistantPart[] => {
      const text = sealOf(part)
      const given = part as Proven
      if (text === undefined) {
        if (part.type !== 'tool-call' || ofCall === undefined) return [part]
        const signature = ofCall
        ofCall = undefined
        return [{ ...part, signature }]
      }
      const seal = open(text)
      if (seal === undefined || !reads(seal.maker)) {
        losses.add(sealLoss)
        return unproven(given)
      }
      const proven = seal.proofs.filter(({ kind }) => kind !== 'call').map((proof) => reasoningOf(proof, seal.maker))
      const call = seal.proofs.find(({ kind }) => kind === 'call')
      const signature = call && { dialect: seal.maker.dialect, value: call.value }
      if (part.type !== 'tool-call') {
        if (signature) ofCall = signature
        return proven
      }
      const own = unproven(part)[0] as ToolCallPart
      return [...proven, signature ? { ...own, signature } : own]
    })
    return withoutRepeated(opened)
  }
  const holdsSeal = request.messages.some(
    ({ role, content }) => role === 'assistant' && content.some((part) => sealOf(part as AssistantPart) !== undefined),
  )
  if (!holdsSeal) return { request, losses: [] }
  const messages = request.messages.map((message) =>
    message.role === 'assistant' ? { ...message, content: openMessage(message.content) } : message,
  )
  return { request: { ...request, messages }, losses: [...losses] }
}
