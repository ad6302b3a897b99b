import type { ReportedUsage } from '#core/usage.ts'
import type { ChatEvent, FinishReason, StreamEncoder } from '#relay/chat/events.ts'
import { toMarkdownImage } from '#relay/chat/media.ts'
import { answerId, unixSeconds } from '../answer-id.ts'
import { shownError } from '../error-text.ts'
import type { EncodeContext } from '../types.ts'
import { signatureExtra, toAnnotation, toLogprobs } from './encode.ts'
import { openAiStreamError } from './error.ts'
import { finishReasons } from './finish.ts'
import { encryptedDetail, signatureDetail } from './reasoning.ts'
import { toOpenAiUsage } from './usage.ts'

type ChoiceState = {
  /** Constant text of every delta up to the delta itself. */
  head: string
  calls: Map<number, { custom: boolean; empty: boolean }>
  reasoningIndex: number
  /** Of the reasoning part that is being written, where it will be signed, as far as it may be repeated. */
  signedText: string
  audioId: string | undefined
  finish: FinishReason | undefined
}

/** Characters; the words of a thought stand once more in the line of its signature, and many clients read no line of 64 KB (Go's). */
const longestSignedText = 16_000

const trailing = ',"logprobs":null,"finish_reason":null}]}\n\n'

type ChoiceEvent = Exclude<ChatEvent, { type: 'start' | 'usage' | 'error' | 'finish' }>

/** Hub events → `chat.completion.chunk` events; finish reasons, usage and `[DONE]` wait for `close`. */
export function streamOpenAiChat(context: EncodeContext): StreamEncoder {
  const choices = new Map<number, ChoiceState>()
  let prefix = ''
  let usage: ReportedUsage | undefined
  let failed = false

  const begin = (id: string): void => {
    if (prefix !== '') return
    const constant = {
      id: answerId(id, 'chatcmpl-', context.ambient),
      object: 'chat.completion.chunk',
      created: unixSeconds(context.ambient),
      model: context.model,
      system_fingerprint: null,
    }
    prefix = `data: ${JSON.stringify(constant).slice(0, -1)},"choices":[`
  }
  const open = (index: number): string => {
    if (choices.has(index)) return ''
    begin('')
    const head = `${prefix}{"index":${index},"delta":`
    choices.set(index, {
      head,
      calls: new Map(),
      reasoningIndex: 0,
      signedText: '',
      audioId: undefined,
      finish: undefined,
    })
    return `${head}{"role":"assistant","content":"","refusal":null}${trailing}`
  }
  const closing = (): string => {
    const opening = choices.size === 0 ? open(0) : ''
    const ends = [...choices.values()].map((choice) => {
      const reason = choice.finish ?? (choice.calls.size > 0 ? 'tool-calls' : 'stop')
      return `${missingArguments(choice)}${choice.head}{},"logprobs":null,"finish_reason":"${finishReasons[reason]}"}]}\n\n`
    })
    const counted =
      context.includeUsage && usage !== undefined
        ? `${prefix}],"usage":${JSON.stringify(toOpenAiUsage(usage))}}\n\n`
        : ''
    return `${opening}${ends.join('')}${counted}data: [DONE]\n\n`
  }

  return {
    push(event) {
      if (failed) return ''
      if (event.type === 'usage') usage = event.usage
      else if (event.type === 'error') {
        failed = true
        return openAiStreamError(shownError(event))
      } else if (event.type === 'start') {
        begin(event.id)
        return open(0)
      } else {
        const opening = open(event.choice ?? 0)
        const choice = choices.get(event.choice ?? 0)
        if (choice === undefined) return opening
        if (event.type !== 'finish') return opening + writeDelta(choice, event, context)
        choice.finish = event.reason
        return opening
      }
      return ''
    },
    close: () => (failed ? '' : closing()),
  }
}

/** A function call without arguments still has to be valid JSON. */
function missingArguments(choice: ChoiceState): string {
  return [...choice.calls]
    .filter(([, call]) => call.empty && !call.custom)
    .map(([index]) => argumentsDelta(choice, index, '{}'))
    .join('')
}

const argumentsDelta = (choice: ChoiceState, index: number, text: string): string =>
  `${choice.head}{"tool_calls":[{"index":${index},"function":{"arguments":${JSON.stringify(text)}}}]}${trailing}`

const textDelta = (choice: ChoiceState, field: string, text: string): string =>
  text === '' ? '' : `${choice.head}{"${field}":${JSON.stringify(text)}}${trailing}`

const objectDelta = (choice: ChoiceState, delta: object): string => choice.head + JSON.stringify(delta) + trailing

function writeDelta(choice: ChoiceState, event: ChoiceEvent, context: EncodeContext): string {
  switch (event.type) {
    case 'text-delta':
      return textDelta(choice, 'content', event.text)
    case 'refusal-delta':
      return textDelta(choice, 'refusal', event.text)
    case 'image':
      return textDelta(choice, 'content', toMarkdownImage(event.mediaType, event.data))
    case 'citation':
      return objectDelta(choice, { annotations: [toAnnotation(event.citation)] })
    // The dialect has sources, and no place for how they were found.
    case 'web-search':
    case 'mcp-call':
      return ''
    case 'audio-delta':
      return writeAudio(choice, event, context)
    case 'reasoning-delta':
    case 'reasoning-signature':
    case 'reasoning-encrypted':
      return writeReasoning(choice, event, context)
    case 'tool-call-start':
    case 'tool-call-delta':
    case 'tool-call-end':
      return writeToolCall(choice, event)
    case 'logprobs':
      return `${choice.head}{},"logprobs":${JSON.stringify(toLogprobs(event.tokens))},"finish_reason":null}]}\n\n`
  }
}

/**
 * The words in both places of one chunk, as OpenRouter has them: clients show either, and only the details say where one signed part
 * ends and the next begins. The format stands in the last detail of a part: OpenAI's Python library joins the texts of details of one
 * index, whatever they are.
 */
function signedDelta(choice: ChoiceState, text: string): string {
  if (text === '') return ''
  if (choice.signedText.length <= longestSignedText) choice.signedText += text
  const words = JSON.stringify(text)
  const detail = `{"type":"reasoning.text","text":${words},"index":${choice.reasoningIndex}}`
  return `${choice.head}{"reasoning_content":${words},"reasoning_details":[${detail}]}${trailing}`
}

function writeReasoning(
  choice: ChoiceState,
  event: Extract<ChoiceEvent, { type: `reasoning-${'delta' | 'signature' | 'encrypted'}` }>,
  { includeThoughts }: EncodeContext,
): string {
  if (event.type === 'reasoning-delta') {
    if (includeThoughts === false) return ''
    return event.signer === undefined
      ? textDelta(choice, 'reasoning_content', event.text)
      : signedDelta(choice, event.text)
  }
  const repeats = choice.signedText !== '' && choice.signedText.length <= longestSignedText
  const detail =
    event.type === 'reasoning-signature'
      ? signatureDetail(event, choice.reasoningIndex, repeats ? { signed_text: choice.signedText } : {})
      : encryptedDetail(event, choice.reasoningIndex)
  choice.signedText = ''
  choice.reasoningIndex += 1
  return objectDelta(choice, { reasoning_details: [detail] })
}

function writeToolCall(
  choice: ChoiceState,
  event: Extract<ChoiceEvent, { type: `tool-call-${'start' | 'delta' | 'end'}` }>,
): string {
  const { index } = event
  if (event.type === 'tool-call-start') {
    const custom = event.kind === 'custom'
    choice.calls.set(index, { custom, empty: true })
    const call = custom
      ? { index, id: event.id, type: 'custom', custom: { name: event.name, input: '' } }
      : {
          index,
          id: event.id,
          type: 'function',
          function: { name: event.name, arguments: '' },
          ...signatureExtra(event.signature),
        }
    return objectDelta(choice, { tool_calls: [call] })
  }
  const call = choice.calls.get(index)
  if (call === undefined) return ''
  if (event.type === 'tool-call-delta') {
    if (event.arguments === '') return ''
    call.empty = false
    if (!call.custom) return argumentsDelta(choice, index, event.arguments)
    return objectDelta(choice, { tool_calls: [{ index, custom: { input: event.arguments } }] })
  }
  if (!call.empty || call.custom) return ''
  call.empty = false
  return argumentsDelta(choice, index, '{}')
}

function writeAudio(
  choice: ChoiceState,
  event: Extract<ChoiceEvent, { type: 'audio-delta' }>,
  { ambient }: EncodeContext,
): string {
  const isFirst = choice.audioId === undefined
  choice.audioId ??= `audio_${ambient.newId(24)}`
  return objectDelta(choice, {
    audio: {
      ...(isFirst ? { id: choice.audioId } : {}),
      ...(event.data === '' ? {} : { data: event.data }),
      ...(event.transcript === undefined ? {} : { transcript: event.transcript }),
    },
  })
}
