import type { FinishReason, ResponsePart, UpstreamFailure } from '#relay/chat/events.ts'
import { audioFormat, sampleRate } from '#relay/chat/media.ts'
import type { ProviderCall } from '../types.ts'
import { unwrapInput } from '../shared/custom-tools.ts'
import { type Json, numberOf, recordOf, recordsOf, textOf, wordOf } from '../shared/json.ts'
import { argumentsText } from '../shared/tool-arguments.ts'

export type Reading = Pick<ProviderCall, 'ambient' | 'customTools'>

const filtered = new Set([
  'SAFETY',
  'RECITATION',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
  'IMAGE_SAFETY',
  'IMAGE_PROHIBITED_CONTENT',
  'IMAGE_RECITATION',
  'LANGUAGE',
])

export function finishReasonOf(reason: string, calledTools: boolean): FinishReason {
  if (reason === 'MAX_TOKENS' || reason === 'CONTINUATION') return 'length'
  if (filtered.has(reason)) return 'content-filter'
  return calledTools ? 'tool-calls' : 'stop'
}

/** Reasons that stand for a failure of the model. */
const failedFinish: ReadonlySet<unknown> = new Set([
  'MALFORMED_FUNCTION_CALL',
  'MALFORMED_RESPONSE',
  'UNEXPECTED_TOOL_CALL',
  'TOO_MANY_TOOL_CALLS',
  'OTHER',
  'NO_IMAGE',
  'IMAGE_OTHER',
])

/** The failure that candidates end in; where none of them has said anything, it is that of the complete answer. */
export function failedEndOf(candidates: readonly Json[]): UpstreamFailure | undefined {
  const failed = candidates.find((candidate) => failedFinish.has(candidate['finishReason']))
  if (!failed) return undefined
  const reason = String(failed['finishReason'])
  const message = textOf(failed['finishMessage']) ?? `the upstream stopped without an answer: ${reason}`
  return { status: 500, type: 'server_error', code: reason, message }
}

/** Whether a part says anything; the proof of hidden reasoning and a search alone do not. */
export const isOutput = (part: ResponsePart): boolean =>
  part.type !== 'web-search' && (part.type !== 'reasoning' || part.text !== '')

/** The parts of a candidate, as everybody reads them. */
export const partsOf = (candidate: Json, reading: Reading): ResponsePart[] =>
  recordsOf(recordOf(candidate['content'])?.['parts']).flatMap((part) => readPart(part, reading))

/** Which of the answers the candidate at this place belongs to. Some hosts number none, others all but the first. */
export function indexOf(candidates: readonly Json[], place: number): number {
  const numberAt = (at: number): number | undefined => numberOf(candidates[at]?.['index'])
  return numberAt(place) ?? (place > 0 && candidates.some((_, at) => numberAt(at) !== undefined) ? 0 : place)
}

const signatureOf = (part: Json): { dialect: 'gemini'; value: string } | undefined => {
  const value = wordOf(part['thoughtSignature'])
  return value === undefined ? undefined : { dialect: 'gemini', value }
}

function callPart(call: Json, part: Json, reading: Reading): ResponsePart {
  const name = textOf(call['name']) ?? ''
  const written = argumentsText(call['args'] ?? {})
  const custom = reading.customTools?.includes(name) === true
  const signature = signatureOf(part)
  return {
    type: 'tool-call',
    id: wordOf(call['id']) ?? `call_${reading.ambient.newId(24)}`,
    name,
    arguments: custom ? unwrapInput(written) : written,
    ...(custom ? { kind: 'custom' as const } : {}),
    ...(signature ? { signature } : {}),
  }
}

function mediaPart(inline: Json): ResponsePart[] {
  const mediaType = textOf(inline['mimeType']) ?? ''
  const data = wordOf(inline['data'])
  if (data === undefined) return []
  if (mediaType.startsWith('audio/'))
    return [{ type: 'audio', data, format: audioFormat(mediaType), transcript: '', rate: sampleRate(mediaType) }]
  return [{ type: 'image', mediaType: mediaType === '' ? 'image/png' : mediaType, data }]
}

/** Code the vendor ran, and what it printed, are shown as text. */
function codeText(part: Json): string | undefined {
  const run = recordOf(part['executableCode'])
  if (run) return `\n\`\`\`${(textOf(run['language']) ?? '').toLowerCase()}\n${textOf(run['code']) ?? ''}\n\`\`\`\n`
  const result = recordOf(part['codeExecutionResult'])
  return result ? `\n\`\`\`output\n${textOf(result['output']) ?? ''}\n\`\`\`\n` : undefined
}

/** One part of a candidate. A signature on a text or an image proves the hidden reasoning before it. */
function readPart(part: Json, reading: Reading): ResponsePart[] {
  const call = recordOf(part['functionCall'])
  if (call) return [callPart(call, part, reading)]
  const signature = signatureOf(part)
  const proof: ResponsePart[] = signature ? [{ type: 'reasoning', text: '', signature }] : []
  const inline = recordOf(part['inlineData'])
  // Models that draw think in images too, which are drafts.
  if (inline) return part['thought'] === true ? [] : [...proof, ...mediaPart(inline)]
  const text = codeText(part) ?? textOf(part['text']) ?? ''
  if (part['thought'] === true) {
    return text === '' && !signature ? [] : [{ type: 'reasoning', text, ...(signature ? { signature } : {}) }]
  }
  return [...proof, ...(text === '' ? [] : [{ type: 'text' as const, text }])]
}
