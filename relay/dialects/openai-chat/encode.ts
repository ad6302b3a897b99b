import type { ChatChoice, ChatResponse, Citation, ResponsePart } from '#relay/chat/events.ts'
import { isObject } from '#relay/chat/json.ts'
import { toMarkdownImage } from '#relay/chat/media.ts'
import { toWav } from '#relay/chat/wav.ts'
import { answerId, unixSeconds } from '../answer-id.ts'
import { defined } from '../read.ts'
import type { EncodeContext } from '../types.ts'
import { finishReasons } from './finish.ts'
import { reasoningDetails } from './reasoning.ts'
import { toOpenAiUsage } from './usage.ts'

/** Hub answer → chat completion. */
export const encodeOpenAiChat = (response: ChatResponse, context: EncodeContext): unknown =>
  toChatCompletion(response, context)

export function toChatCompletion(response: ChatResponse, context: EncodeContext) {
  return {
    id: answerId(response.id, 'chatcmpl-', context.ambient),
    object: 'chat.completion',
    created: unixSeconds(context.ambient),
    model: context.model,
    system_fingerprint: null,
    choices: response.choices.map((choice, index) => ({
      index,
      message: toMessage(choice, context),
      logprobs: choice.logprobs === undefined ? null : toLogprobs(choice.logprobs),
      finish_reason: finishReasons[choice.finish],
    })),
    usage: response.usage === undefined ? undefined : toOpenAiUsage(response.usage),
  }
}

export const toLogprobs = (tokens: unknown[]) => ({ content: tokens, refusal: null })

type Part<Type extends ResponsePart['type']> = Extract<ResponsePart, { type: Type }>

function toMessage({ parts }: ChatChoice, context: EncodeContext) {
  const of = <Type extends ResponsePart['type']>(type: Type) =>
    parts.filter((part): part is Part<Type> => part.type === type)
  const content = parts.map(shownText).join('')
  const hides = context.includeThoughts === false
  const reasoning = of('reasoning').map((part) => (hides ? { ...part, text: '' } : part))
  const refusal = of('refusal')
  const calls = of('tool-call')
  const audio = of('audio')[0]
  const reasoningText = reasoning.map((part) => part.text).join('')
  const annotations = of('text').flatMap((part) => (part.citations ?? []).map(toAnnotation))
  const silent = calls.length > 0 || refusal.length > 0 || audio !== undefined
  return defined({
    role: 'assistant',
    content: content === '' && silent ? null : content,
    refusal: refusal.length === 0 ? null : refusal.map((part) => part.text).join(''),
    reasoning_content: reasoningText === '' ? undefined : reasoningText,
    reasoning_details: reasoningDetails(reasoning),
    annotations: annotations.length === 0 ? undefined : annotations,
    audio: audio === undefined ? undefined : toAudio(audio, context),
    tool_calls: calls.length === 0 ? undefined : calls.map(toToolCall),
  })
}

function shownText(part: ResponsePart): string {
  if (part.type === 'text') return part.text
  return part.type === 'image' ? toMarkdownImage(part.mediaType, part.data) : ''
}

const oneDayInSeconds = 86_400

/** Of samples without a head, where their rate is not known: what both vendors speak in. */
const usualRate = 24_000

/** Samples without a head are what the caller wanted only where it asked for them. */
function audioData({ data, format, rate }: Part<'audio'>, { callerBody }: EncodeContext): string {
  const asked = callerBody?.['audio']
  const isBare = format === 'pcm16' && data !== ''
  return isBare && !(isObject(asked) && asked['format'] === 'pcm16') ? toWav(data, rate ?? usualRate) : data
}

const toAudio = (audio: Part<'audio'>, context: EncodeContext) => ({
  id: `audio_${context.ambient.newId(24)}`,
  data: audioData(audio, context),
  transcript: audio.transcript,
  expires_at: unixSeconds(context.ambient) + oneDayInSeconds,
})

export const toAnnotation = (citation: Citation) => ({
  type: 'url_citation',
  url_citation: {
    url: citation.url,
    title: citation.title ?? '',
    start_index: citation.startIndex ?? 0,
    end_index: citation.endIndex ?? 0,
  },
})

/** Where the vendor's own OpenAI surface keeps the signature of a Gemini call. */
export const signatureExtra = (signature: Part<'tool-call'>['signature']) =>
  signature?.dialect === 'gemini' ? { extra_content: { google: { thought_signature: signature.value } } } : {}

function toToolCall(call: Part<'tool-call'>) {
  if (call.kind === 'custom') {
    return { id: call.id, type: 'custom', custom: { name: call.name, input: call.arguments } }
  }
  return {
    id: call.id,
    type: 'function',
    function: { name: call.name, arguments: call.arguments === '' ? '{}' : call.arguments },
    ...signatureExtra(call.signature),
  }
}
