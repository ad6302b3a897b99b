import { isObject } from '#relay/chat/json.ts'
import { dialectOfReasoning, reasoningFormatOf } from '#relay/chat/reasoning-formats.ts'
import type { DialectId, ReasoningPart } from '#relay/chat/request.ts'

/** Of `reasoning_details`, the extension by which chat completions carry reasoning that only its vendor can check or read. */
export type ReasoningDetail = {
  type: 'reasoning.text' | 'reasoning.encrypted'
  text?: string | undefined
  signature?: string
  /** In streams, whose words stand in the pieces before: for clients that keep the last detail alone. */
  signed_text?: string
  data?: string
  format: string
  index: number
}

/** `signed`: its words, as a field that clients show or as one that they only send back. */
export const signatureDetail = (
  signature: { dialect: DialectId; value: string },
  index: number,
  signed: Pick<ReasoningDetail, 'text' | 'signed_text'>,
): ReasoningDetail => ({
  type: 'reasoning.text',
  ...signed,
  signature: signature.value,
  format: reasoningFormatOf(signature.dialect),
  index,
})

export const encryptedDetail = (encrypted: { dialect: DialectId; data: string }, index: number): ReasoningDetail => ({
  type: 'reasoning.encrypted',
  data: encrypted.data,
  format: reasoningFormatOf(encrypted.dialect),
  index,
})

type Reasoning = Pick<ReasoningPart, 'text' | 'signature' | 'encrypted'>

/** Details of all reasoning parts, or undefined when plain text says it all. */
export function reasoningDetails(parts: Reasoning[]): ReasoningDetail[] | undefined {
  if (!parts.some((part) => part.signature !== undefined || part.encrypted !== undefined)) return undefined
  return parts.flatMap((part, index) => {
    const details: ReasoningDetail[] = []
    if (part.signature !== undefined) details.push(signatureDetail(part.signature, index, { text: part.text }))
    else if (part.text !== '') {
      const format = reasoningFormatOf(part.encrypted?.dialect ?? 'openai-chat')
      details.push({ type: 'reasoning.text', text: part.text, format, index })
    }
    if (part.encrypted !== undefined) details.push(encryptedDetail(part.encrypted, index))
    return details
  })
}

type Detail = Reasoning & { index: unknown; dialect: DialectId; isComplete?: boolean }

function readDetail(value: unknown): Detail | undefined {
  if (!isObject(value)) return undefined
  const { text, summary, signature, data, format, index } = value
  const complete = value['signed_text']
  // Clients that name no vendor have it from Claude.
  const dialect = dialectOfReasoning(format ?? reasoningFormatOf('claude'))
  if (typeof data === 'string') return { text: '', encrypted: { dialect, data }, index, dialect }
  const written = typeof text === 'string' ? text : typeof summary === 'string' ? summary : ''
  if (typeof signature === 'string' && signature !== '') {
    const signed = { signature: { dialect, value: signature }, index, dialect }
    return typeof complete === 'string' ? { ...signed, text: complete, isComplete: true } : { ...signed, text: written }
  }
  return written === '' ? undefined : { text: written, index, dialect }
}

/** Whether `next` continues `last`: clients that gather a stream send the pieces and the signature of one reasoning part apart. */
const continues = (last: Detail, next: Detail): boolean => {
  if (last.signature !== undefined || last.encrypted !== undefined || last.index !== next.index) return false
  return next.encrypted === undefined || next.dialect === 'openai-responses'
}

/**
 * The reasoning of an assistant message: from `reasoning_details`, else from the plain text. The plain text also fills the
 * first detail when none of them has any.
 */
export function readReasoning(details: unknown[], plain: string, signature: string): ReasoningPart[] {
  const found: Detail[] = []
  for (const value of details) {
    const detail = readDetail(value)
    const last = found.at(-1)
    if (detail === undefined) continue
    if (last !== undefined && continues(last, detail)) {
      found[found.length - 1] = { ...last, ...detail, text: detail.isComplete ? detail.text : last.text + detail.text }
    } else found.push(detail)
  }
  const parts = found.map(({ text, signature: proof, encrypted }): ReasoningPart => {
    const part: ReasoningPart = { type: 'reasoning', text }
    if (proof !== undefined) part.signature = proof
    if (encrypted !== undefined) part.encrypted = encrypted
    return part
  })
  if (plain === '' || parts.some((part) => part.text !== '')) return parts
  const [first] = parts
  const readable = first !== undefined && first.encrypted?.dialect !== 'claude'
  if (readable) return [{ ...first, text: plain }, ...parts.slice(1)]
  const part: ReasoningPart = { type: 'reasoning', text: plain }
  if (signature !== '') part.signature = { dialect: 'claude', value: signature }
  return [part, ...parts]
}
