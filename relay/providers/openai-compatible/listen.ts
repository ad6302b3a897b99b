import type { UpstreamFailure } from '#relay/chat/events.ts'
import { pastString } from '#relay/chat/text-at.ts'
import type { ReportedUsage } from '#core/usage.ts'
import type { WireEvent } from '#relay/transport/framing.ts'
import type { ListenVerdict, StreamListener } from '../types.ts'
import { nameless } from '../shared/answer-record.ts'
import { refusalOf } from '../shared/failures.ts'
import { createChoiceEnds } from '#relay/chat/choice-ends.ts'
import { numberOf, recordOf, recordsOf, tryRecord } from '../shared/json.ts'
import { createListener, type ListenState } from '../shared/stream-listener.ts'
import { createOpenAiDecoder } from './stream.ts'
import type { OpenAiStyle } from './style.ts'
import { readUsage, usageObjectOf } from './usage.ts'

/** Looked for from their first letter on: an event is full of quotes, at which the search would stop. */
const usageName = 'usage"'
const finishName = 'finish_reason"'
const errorName = 'error"'
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
 * Returns the text of an event in the words that most vendors use, with nothing beside it; undefined of any other. After a finish
 * there is no more text, whatever an event says.
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

const saysNothing = (value: unknown): boolean =>
  value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)

/** Whether a chunk says nothing in any of its answers, as the last of hosts that send no list without one. */
const isBlank = (data: string): boolean =>
  recordsOf(tryRecord(data)?.['choices']).every(({ delta, text }) => {
    const { role: _, ...rest } = recordOf(delta) ?? {}
    return saysNothing(text) && Object.values(rest).every(saysNothing)
  })

export function listenToOpenAi(
  style: OpenAiStyle,
  caller: { includeUsage: boolean; choices?: number },
): StreamListener {
  let usageData: string | undefined
  /** Of one answer the first finish is the end, and no event has to be read for it. */
  const ends = (caller.choices ?? 1) > 1 ? createChoiceEnds(caller.choices) : null

  const noteChoices = (data: string): void => {
    for (const choice of recordsOf(tryRecord(data)?.['choices'])) {
      const index = numberOf(choice['index']) ?? 0
      if (choice['finish_reason']) ends?.finish(index)
      else ends?.begin(index)
    }
  }

  function failureIn(data: string): UpstreamFailure | undefined {
    const chunk = tryRecord(data)
    if (!chunk) return undefined
    return (
      style.refusal?.read(chunk) ??
      refusalOf(chunk) ??
      recordsOf(chunk['choices'])
        .map((choice) => refusalOf(choice))
        .find((found) => found)
    )
  }

  function watch({ data }: WireEvent, state: ListenState): ListenVerdict {
    if (data.startsWith('[DONE]')) {
      state.complete = true
      return 'hold'
    }
    if (holds(data, errorName) || (style.refusal && data.includes(style.refusal.mark))) {
      state.failure = failureIn(data)
      if (state.failure) return 'failed'
    }
    const hasUsage = opens(data, usageName, '{')
    if (hasUsage) usageData = data
    const finishes = opens(data, finishName, '"') && !/"finish_reason"\s*:\s*""/.test(data)
    const counts = hasUsage && (noChoices.test(data) || (state.complete && !finishes && isBlank(data)))
    if (ends) noteChoices(data)
    state.complete ||= ends ? ends.areComplete() : finishes
    if (counts && !caller.includeUsage) return 'drop'
    // One of several answers may end before the others, which are not held back for that.
    return (finishes && state.complete) || counts ? 'hold' : 'forward'
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
      ends?.close()
      state.complete ||= ends?.areComplete() === true
    },
  })
}
