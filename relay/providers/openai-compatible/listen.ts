import { MalformedUpstream, type UpstreamFailure } from '#relay/chat/events.ts'
import { pastString } from '#relay/chat/text-at.ts'
import type { ReportedUsage } from '#core/usage.ts'
import type { WireEvent } from '#relay/transport/framing.ts'
import type { ListenVerdict, StreamListener } from '../types.ts'
import { nameless } from '../shared/answer-record.ts'
import { refusalOf } from '../shared/failures.ts'
import { createChoiceEnds } from '#relay/chat/choice-ends.ts'
import { type Json, numberOf, recordsOf, tryRecord } from '../shared/json.ts'
import { createListener, type ListenState } from '../shared/stream-listener.ts'
import { failedEndOf, failedReasonIn, hasContent, isBlank } from './answer-parts.ts'
import { createOpenAiDecoder } from './stream.ts'
import type { OpenAiStyle } from './style.ts'
import { readUsage, usageObjectOf } from './usage.ts'

/** Looked for from their first letter on: an event is full of quotes, at which the search would stop. */
const usageName = 'usage"'
const finishName = 'finish_reason"'
const errorName = 'error"'
const choicesField = '"choices"'
const noChoices = /"choices"\s*:\s*\[\s*\]/

/** A name in quotes cannot stand inside a JSON text's string unescaped, so a hit is a field; what follows it shows its kind. */
function opens(data: string, name: string, mark: string): boolean {
  for (let at = data.indexOf(name); at >= 0; at = data.indexOf(name, at + name.length)) {
    if (data[at - 1] !== '"') continue
    let value = at + name.length
    while (data[value] === ':' || data[value] === ' ') value += 1
    if (data[value] === mark) return true
  }
  return false
}

const choicesName = '"choices":[{'
const indexName = '"index":'
const textStarts = ['"delta":{"content":"', '"delta":{"role":"assistant","content":"']

/**
 * Returns the text of an event in the words that most vendors use, with nothing beside it; undefined of any other. From a finish
 * on all events are read in full: what comes behind it may be more, or nothing.
 */
function createTextReader(style: OpenAiStyle): (data: string) => string | undefined {
  let ended = style.refusal !== undefined
  const start = (data: string): number => {
    for (const mark of textStarts) {
      const at = data.indexOf(mark)
      if (at >= 0) return at + mark.length - 1
    }
    return -1
  }
  return (data) => {
    if (ended) return undefined
    ended = opens(data, finishName, '"') || holds(data, errorName)
    if (ended) return undefined
    const from = start(data)
    const choices = data.indexOf(choicesName)
    if (from < 0 || choices < 0 || choices > from || data.indexOf('"delta"', from) > 0) return undefined
    const second = data.indexOf('},{', choices)
    if (second >= 0 && second < from) return undefined
    // Of another answer than the first, which stands apart. In a text the quotes of the name would be escaped.
    const index = data.indexOf(indexName, choices)
    if (index >= 0 && data[index + indexName.length] !== '0') return undefined
    const end = pastString(data, from)
    if (data[end] !== '}' || !data.endsWith('}')) return undefined
    const text = data.slice(from + 1, end - 1)
    return text.includes('\\') ? unescaped(data.slice(from, end)) : text
  }
}

function unescaped(text: string): string | undefined {
  try {
    return JSON.parse(text) as string
  } catch {
    return undefined
  }
}

/** Whether the name stands in an event, in its quotes. */
function holds(data: string, name: string): boolean {
  for (let at = data.indexOf(name); at >= 0; at = data.indexOf(name, at + name.length))
    if (data[at - 1] === '"') return true
  return false
}

export function listenToOpenAi(
  style: OpenAiStyle,
  caller: { includeUsage: boolean; choices?: number },
): StreamListener {
  const isSole = (caller.choices ?? 1) === 1
  const ends = createChoiceEnds(caller.choices, { resumes: true })
  let usageData: string | undefined
  let begun = false
  /** Events wait for the settlement. */
  let waits = false

  /** Takes note of the answers in a chunk; whether it has more of any of them. */
  const noteChoices = (data: string): boolean => {
    let writes = false
    for (const choice of recordsOf(tryRecord(data)?.['choices'])) {
      const index = numberOf(choice['index']) ?? 0
      if (hasContent(choice)) {
        ends.write(index)
        writes = true
      }
      if (choice['finish_reason']) ends.finish(index)
      else if (!isSole) ends.begin(index)
    }
    return writes
  }

  function failureIn(chunk: Json): UpstreamFailure | undefined {
    return (
      style.refusal?.read(chunk) ??
      refusalOf(chunk) ??
      recordsOf(chunk['choices'])
        .map((choice) => refusalOf(choice))
        .find((found) => found)
    )
  }

  /** Whether an event is an error. */
  function refuses(data: string, state: ListenState): boolean {
    const isChunk = data.includes(choicesField)
    begun ||= isChunk
    if (isChunk && !holds(data, errorName) && !(style.refusal && data.includes(style.refusal.mark))) return false
    const chunk = tryRecord(data)
    if (chunk) {
      state.failure = failureIn(chunk)
      return state.failure !== undefined
    }
    // In place of an answer text is none; what comes in the middle of one goes on as it came.
    if (!begun && data.trim() !== '') throw new MalformedUpstream('the upstream sent text in place of events')
    return false
  }

  function watch({ data }: WireEvent, state: ListenState): ListenVerdict {
    if (data.trimStart().startsWith('[DONE]')) {
      state.closed = true
      state.complete = true
      return 'hold'
    }
    if (refuses(data, state)) return 'failed'
    const hasUsage = opens(data, usageName, '{')
    if (hasUsage) usageData = data
    const finishes = opens(data, finishName, '"') && !/"finish_reason"\s*:\s*""/.test(data)
    const failed = finishes ? failedReasonIn(data) : undefined
    if (failed !== undefined) state.failure = failedEndOf(failed, state.written().tokens > 0)
    if (state.failure) return 'failed'
    const hasNoChoices = hasUsage && noChoices.test(data)
    const counts =
      hasUsage && (hasNoChoices || (state.complete && !finishes && isBlank(recordsOf(tryRecord(data)?.['choices']))))
    // The first finish of one answer is its end, and no event is read for it. What comes behind it is, for it may be more.
    const isRead = !isSole || ((waits || ends.ended() > 0) && !hasNoChoices)
    const writes = isRead && noteChoices(data)
    if (finishes && !isRead) ends.finish(0)
    state.complete = ends.areComplete()
    state.continued = ends.continued()
    if (counts && !caller.includeUsage) return 'drop'
    if (waits && writes) {
      waits = state.complete
      return 'resume'
    }
    // One of several answers may end before the others, which are not held back for that.
    waits ||= (finishes && state.complete) || counts
    return waits ? 'hold' : 'forward'
  }

  function usage(): ReportedUsage | undefined {
    const chunk = usageData === undefined ? undefined : tryRecord(usageData)
    const counts = chunk && usageObjectOf(chunk)
    return counts ? (style.usage ?? readUsage)(counts) : undefined
  }

  return createListener({
    decoder: () => createOpenAiDecoder(style, nameless),
    textOf: createTextReader(style),
    watch,
    usage,
    close: (state) => {
      ends.close()
      state.complete ||= ends.areComplete()
    },
  })
}
