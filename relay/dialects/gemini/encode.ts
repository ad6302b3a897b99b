import type { ChatChoice, ChatResponse, FinishReason, ResponsePart } from '#relay/chat/events.ts'
import { areBroken, parseObject } from '#relay/chat/json.ts'
import { audioMediaType } from '#relay/chat/media.ts'
import { answerId } from '../answer-id.ts'
import type { EncodeContext } from '../types.ts'
import { type GroundedText, toGrounding } from './grounding.ts'
import { toLogprobsResult } from './logprobs.ts'
import { toGeminiUsage } from './usage.ts'

const geminiReasons = {
  stop: 'STOP',
  length: 'MAX_TOKENS',
  'tool-calls': 'STOP',
  'content-filter': 'SAFETY',
} satisfies Record<FinishReason, string>

/** The reason an answer ended for, where a call was left out of it that nothing else explains. */
export const finishReasonOf = (finish: FinishReason, leftOut: boolean): string =>
  leftOut && (finish === 'tool-calls' || finish === 'stop') ? 'MALFORMED_FUNCTION_CALL' : geminiReasons[finish]

/** Callers who do not ask for reasoning look at no mark of it, and would show it as the answer. */
export const showsReasoning = ({ includeThoughts }: EncodeContext): boolean => includeThoughts === true

/** Hub answer → `GenerateContentResponse`. */
export function encodeGemini(response: ChatResponse, context: EncodeContext): unknown {
  const shows = showsReasoning(context)
  return {
    candidates: response.choices.map((choice, index) => toCandidate(choice, index, shows)),
    usageMetadata: toGeminiUsage(response.usage ?? {}),
    modelVersion: context.model,
    responseId: answerId(response.id, '', context.ambient),
  }
}

function toCandidate(choice: ChatChoice, index: number, shows: boolean) {
  const citations = choice.parts.flatMap((part) => (part.type === 'text' ? (part.citations ?? []) : []))
  const searches = choice.parts.flatMap((part) => (part.type === 'web-search' ? [part.search] : []))
  const parts: object[] = []
  const texts: GroundedText[] = []
  let leftOut = false
  for (const part of choice.parts) {
    const last = texts.at(-1)
    if (part.type === 'tool-call') {
      const call = toFunctionCall(part)
      if (call) parts.push(call)
      else leftOut = true
    } else if (part.type !== 'text' || part.text === '') parts.push(...toParts(part, shows))
    else if (last !== undefined && last.partIndex === parts.length - 1) {
      last.text += part.text
      parts[last.partIndex] = { text: last.text }
    } else {
      texts.push({ text: part.text, partIndex: parts.length })
      parts.push({ text: part.text })
    }
  }
  return {
    content: { role: 'model', parts },
    finishReason: finishReasonOf(choice.finish, leftOut),
    index,
    ...toLogprobsResult(choice.logprobs),
    ...(citations.length + searches.length === 0
      ? {}
      : { groundingMetadata: toGrounding({ citations, searches }, texts) }),
  }
}

type Call = Pick<Extract<ResponsePart, { type: 'tool-call' }>, 'id' | 'name' | 'arguments' | 'kind' | 'signature'>

const thoughtSignature = (signature: Call['signature']) =>
  signature?.dialect === 'gemini' ? { thoughtSignature: signature.value } : {}

/** Nothing of a call whose arguments were cut off: with none it would be another call than the model meant. */
export function toFunctionCall(call: Call) {
  const args = call.kind === 'custom' ? { input: call.arguments } : parseObject(call.arguments)
  if (args === undefined && areBroken(call.arguments)) return undefined
  return { functionCall: { id: call.id, name: call.name, args: args ?? {} }, ...thoughtSignature(call.signature) }
}

function toParts(part: Exclude<ResponsePart, { type: 'tool-call' }>, shows: boolean): object[] {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return part.text === '' ? [] : [{ text: part.text }]
    case 'reasoning': {
      const proof = thoughtSignature(part.signature)
      const text = shows ? part.text : ''
      const empty = text === '' && !('thoughtSignature' in proof)
      return empty ? [] : [{ text, thought: true, ...proof }]
    }
    case 'image':
      return [{ inlineData: { mimeType: part.mediaType, data: part.data } }]
    case 'audio':
      return [{ inlineData: { mimeType: audioMediaType(part.format), data: part.data } }]
    // Searches are reported beside the parts; tools of other servers are none of this vendor's.
    case 'web-search':
    case 'mcp-call':
      return []
  }
}
