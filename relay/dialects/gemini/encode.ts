import type { ChatChoice, ChatResponse, FinishReason, ResponsePart } from '#relay/chat/events.ts'
import { parseObject } from '#relay/chat/json.ts'
import { audioMediaType } from '#relay/chat/media.ts'
import { answerId } from '../answer-id.ts'
import type { EncodeContext } from '../types.ts'
import { toGrounding } from './grounding.ts'
import { toGeminiUsage } from './usage.ts'

export const geminiReasons = {
  stop: 'STOP',
  length: 'MAX_TOKENS',
  'tool-calls': 'STOP',
  'content-filter': 'SAFETY',
} satisfies Record<FinishReason, string>

/** Hub answer → `GenerateContentResponse`. */
export function encodeGemini(response: ChatResponse, context: EncodeContext): unknown {
  return {
    candidates: response.choices.map(toCandidate),
    usageMetadata: toGeminiUsage(response.usage ?? {}),
    modelVersion: context.model,
    responseId: answerId(response.id, '', context.ambient),
  }
}

function toCandidate(choice: ChatChoice, index: number) {
  const texts = choice.parts.filter((part) => part.type === 'text')
  const citations = texts.flatMap((part) => part.citations ?? [])
  const text = texts.map((part) => part.text).join('')
  return {
    content: { role: 'model', parts: choice.parts.flatMap(toParts) },
    finishReason: geminiReasons[choice.finish],
    index,
    ...(citations.length === 0 ? {} : { groundingMetadata: toGrounding(citations, text) }),
  }
}

type Call = Pick<Extract<ResponsePart, { type: 'tool-call' }>, 'id' | 'name' | 'arguments' | 'kind' | 'signature'>

const thoughtSignature = (signature: Call['signature']) =>
  signature?.dialect === 'gemini' ? { thoughtSignature: signature.value } : {}

export function toFunctionCall(call: Call) {
  const args = call.kind === 'custom' ? { input: call.arguments } : (parseObject(call.arguments) ?? {})
  return { functionCall: { id: call.id, name: call.name, args }, ...thoughtSignature(call.signature) }
}

function toParts(part: ResponsePart): object[] {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return part.text === '' ? [] : [{ text: part.text }]
    case 'reasoning': {
      const proof = thoughtSignature(part.signature)
      const empty = part.text === '' && !('thoughtSignature' in proof)
      return empty ? [] : [{ text: part.text, thought: true, ...proof }]
    }
    case 'tool-call':
      return [toFunctionCall(part)]
    case 'image':
      return [{ inlineData: { mimeType: part.mediaType, data: part.data } }]
    case 'audio':
      return [{ inlineData: { mimeType: audioMediaType(part.format), data: part.data } }]
  }
}
