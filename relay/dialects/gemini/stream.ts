import type { ReportedUsage } from '#core/usage.ts'
import type { ChatEvent, Citation, FinishReason, StreamEncoder } from '#relay/chat/events.ts'
import type { WebSearch } from '#relay/chat/hosted/types.ts'
import { audioMediaType } from '#relay/chat/media.ts'
import { answerId } from '../answer-id.ts'
import { shownError } from '../error-text.ts'
import type { EncodeContext } from '../types.ts'
import { finishReasonOf, showsReasoning, toFunctionCall } from './encode.ts'
import { geminiError } from './error.ts'
import { toGrounding } from './grounding.ts'
import { toLogprobsResult } from './logprobs.ts'
import { toGeminiUsage } from './usage.ts'

type Call = Omit<Extract<ChatEvent, { type: 'tool-call-start' }>, 'type'> & { arguments: string; ended: boolean }

type Candidate = {
  /** Constant text of a frame's object up to its parts. */
  head: string
  /** Calls whose arguments are still arriving, in order: this dialect hands over calls whole. */
  calls: Call[]
  /** A call was left out that was no whole one. */
  leftOut: boolean
  text: string
  citations: Citation[]
  searches: WebSearch[]
  logprobs: unknown[]
  finish: FinishReason | undefined
}

type ContentEvent = Exclude<ChatEvent, { type: 'start' | 'usage' | 'error' | 'finish' | 'logprobs' }>

/**
 * Hub events → one `GenerateContentResponse` per delta, as events or as the elements of one JSON array. The last one
 * carries finish reason and usage and waits for `close`. All have the object of usage, which some clients demand of every
 * chunk, for Google sends it in each.
 */
export function streamGemini(context: EncodeContext): StreamEncoder {
  const candidates = new Map<number, Candidate>()
  const asArray = context.asJsonArray === true
  const shows = showsReasoning(context)
  let trailing = ''
  let begun = false
  let failed = false
  let usage: ReportedUsage | undefined

  const frame = (json: string): string => {
    if (!asArray) return `data: ${json}\n\n`
    const lead = begun ? ',\n' : '['
    begun = true
    return lead + json
  }
  const identify = (id: string): void => {
    if (trailing !== '') return
    const constant = { modelVersion: context.model, responseId: answerId(id, '', context.ambient) }
    trailing = `,${JSON.stringify(constant).slice(1)}`
  }
  const candidateOf = (index: number): Candidate => {
    const existing = candidates.get(index)
    if (existing !== undefined) return existing
    const head = `{"candidates":[{"index":${index},"content":{"role":"model","parts":[`
    const fresh: Candidate = {
      head,
      calls: [],
      leftOut: false,
      text: '',
      citations: [],
      searches: [],
      logprobs: [],
      finish: undefined,
    }
    candidates.set(index, fresh)
    return fresh
  }
  const write = (candidate: Candidate, parts: string[]): string =>
    parts.map((part) => frame(`${candidate.head}${part}]}}],"usageMetadata":{}${trailing}`)).join('')

  const closing = (): string => {
    identify('')
    if (candidates.size === 0) candidateOf(0)
    const last = [...candidates.values()].map((candidate) => write(candidate, takeCalls(candidate, true))).join('')
    const ends = [...candidates].map(([index, candidate]) => ({
      index,
      content: { role: 'model', parts: [{ text: '' }] },
      finishReason: finishReasonOf(candidate.finish ?? 'stop', candidate.leftOut),
      ...toLogprobsResult(candidate.logprobs),
      ...(candidate.citations.length + candidate.searches.length === 0
        ? {}
        : { groundingMetadata: toGrounding(candidate, [{ text: candidate.text, partIndex: 0 }]) }),
    }))
    const counted = JSON.stringify(usage === undefined ? {} : toGeminiUsage(usage))
    return `${last}${frame(`{"candidates":${JSON.stringify(ends)},"usageMetadata":${counted}${trailing}`)}${asArray ? ']' : ''}`
  }

  return {
    push(event) {
      if (failed) return ''
      if (event.type === 'error') {
        failed = true
        const { body } = geminiError(shownError(event))
        return `${frame(JSON.stringify(body))}${asArray ? ']' : ''}`
      }
      identify(event.type === 'start' ? event.id : '')
      if (event.type === 'usage') usage = event.usage
      if (event.type === 'start' || event.type === 'usage') return ''
      const candidate = candidateOf(event.choice ?? 0)
      if (event.type === 'logprobs') {
        for (const token of event.tokens) candidate.logprobs.push(token)
        return ''
      }
      if (event.type !== 'finish') return write(candidate, partsOf(candidate, event, shows))
      candidate.finish = event.reason
      return write(candidate, takeCalls(candidate, true))
    },
    close: () => (failed ? '' : closing()),
  }
}

/** The finished calls from the front of the queue; all of them once something else follows. */
function takeCalls(candidate: Candidate, all: boolean): string[] {
  const firstOpen = all ? -1 : candidate.calls.findIndex((call) => !call.ended)
  const count = firstOpen < 0 ? candidate.calls.length : firstOpen
  return candidate.calls.splice(0, count).flatMap((call) => {
    const written = toFunctionCall(call)
    if (!written) candidate.leftOut = true
    return written ? [JSON.stringify(written)] : []
  })
}

function partsOf(candidate: Candidate, event: ContentEvent, shows: boolean): string[] {
  switch (event.type) {
    case 'tool-call-start':
      candidate.calls.push({ ...event, arguments: '', ended: false })
      return []
    case 'tool-call-delta':
    case 'tool-call-end': {
      const call = candidate.calls.find(({ index }) => index === event.index)
      if (call === undefined) return []
      if (event.type === 'tool-call-delta') call.arguments += event.arguments
      else call.ended = true
      return call.ended ? takeCalls(candidate, false) : []
    }
    case 'citation':
      candidate.citations.push(event.citation)
      return []
    case 'web-search':
      candidate.searches.push(event.search)
      return []
    case 'mcp-call':
      return []
    default:
      return [...takeCalls(candidate, true), ...plainParts(candidate, event, shows)]
  }
}

type PlainEvent = Exclude<ContentEvent, { type: `tool-call-${string}` | 'citation' | 'web-search' | 'mcp-call' }>

function plainParts(candidate: Candidate, event: PlainEvent, shows: boolean): string[] {
  switch (event.type) {
    case 'text-delta':
      candidate.text += event.text
      return event.text === '' ? [] : [`{"text":${JSON.stringify(event.text)}}`]
    case 'refusal-delta':
      return event.text === '' ? [] : [`{"text":${JSON.stringify(event.text)}}`]
    case 'reasoning-delta':
      return event.text === '' || !shows ? [] : [`{"text":${JSON.stringify(event.text)},"thought":true}`]
    case 'reasoning-signature':
      if (event.dialect !== 'gemini') return []
      return [`{"text":"","thought":true,"thoughtSignature":${JSON.stringify(event.value)}}`]
    case 'reasoning-encrypted':
      return []
    case 'image':
      return [JSON.stringify({ inlineData: { mimeType: event.mediaType, data: event.data } })]
    case 'audio-delta':
      if (event.data === '') return []
      return [JSON.stringify({ inlineData: { mimeType: audioMediaType(event.format ?? 'pcm16'), data: event.data } })]
  }
}
