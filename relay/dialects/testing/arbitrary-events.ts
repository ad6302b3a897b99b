import fc from 'fast-check'
import type { ChatEvent, FinishReason } from '#relay/chat/events.ts'
import type { DialectId } from '#relay/chat/request.ts'

/** Texts as models write them: any script, line ends, quotes, and halves of characters where an upstream cut badly. */
export const anyText = fc.oneof(
  fc.string({ unit: 'grapheme', minLength: 1 }),
  fc.string({ unit: 'binary', minLength: 1 }),
  fc.constantFrom('\n\n', 'data: [DONE]', '"}', '\r', '\u2028', '\ud83d', '\ude00'),
)

const texts = fc.array(anyText, { minLength: 1, maxLength: 4 })

const textRun = texts.map((list): ChatEvent[] => list.map((text) => ({ type: 'text-delta', text })))

const reasoningRun = (dialect: DialectId) =>
  fc
    .record({ list: texts, signature: fc.option(anyText, { nil: undefined }) })
    .map(({ list, signature }): ChatEvent[] => [
      ...list.map((text): ChatEvent => ({ type: 'reasoning-delta', text })),
      ...(signature === undefined ? [] : [{ type: 'reasoning-signature' as const, dialect, value: signature }]),
    ])

/** A text in pieces cut at arbitrary places. */
const pieces = (text: string) =>
  fc.array(fc.nat({ max: text.length }), { maxLength: 4 }).map((cuts) => {
    const places = [0, ...cuts.sort((left, right) => left - right), text.length]
    return places.slice(1).map((end, index) => text.slice(places[index], end))
  })

const argumentPieces = fc.oneof(
  fc.constant([] as string[]),
  fc
    .dictionary(fc.string(), fc.oneof(fc.string(), fc.integer(), fc.boolean()))
    .chain((value) => pieces(JSON.stringify(value))),
)

const call = fc.record({ name: fc.stringMatching(/^[a-z_]{1,12}$/), written: argumentPieces, ends: fc.boolean() })

/** Calls whose pieces arrive one call after the other, or mixed. */
const callRun = fc
  .record({
    calls: fc.array(call, { minLength: 1, maxLength: 3 }),
    order: fc.infiniteStream(fc.nat()),
    mixed: fc.boolean(),
  })
  .map(({ calls, order, mixed }) => (first: number): { events: ChatEvent[]; count: number } => {
    const queues = calls.map(({ name, written, ends }, position): ChatEvent[] => {
      const index = first + position
      return [
        { type: 'tool-call-start', index, id: `call_${index}`, name },
        ...written.map((text): ChatEvent => ({ type: 'tool-call-delta', index, arguments: text })),
        ...(ends ? [{ type: 'tool-call-end' as const, index }] : []),
      ]
    })
    if (!mixed) return { events: queues.flat(), count: calls.length }
    // Calls start in order; what follows is drawn from them in turn.
    const events = queues.flatMap((queue) => queue.slice(0, 1))
    const rest = queues.map((queue) => queue.slice(1))
    while (rest.some((queue) => queue.length > 0)) {
      const open = rest.filter((queue) => queue.length > 0)
      const event = open[(order.next().value ?? 0) % open.length]?.shift()
      if (event !== undefined) events.push(event)
    }
    return { events, count: calls.length }
  })

const anyFinish = fc.constantFrom<FinishReason>('stop', 'length', 'content-filter', 'tool-calls')

const anyUsage = fc
  .record({ prompt: fc.nat(10_000), cached: fc.nat(10_000), completion: fc.nat(10_000), reasoning: fc.nat(10_000) })
  .map(({ prompt, cached, completion, reasoning }) => ({
    promptTokens: prompt + 1,
    cachedTokens: Math.min(cached, prompt),
    completionTokens: completion,
    reasoningTokens: Math.min(reasoning, completion),
  }))

/** Legal event sequences of one answer with a single choice: start, runs of parts, finish and usage. */
export const anyAnswer = (dialect: DialectId): fc.Arbitrary<ChatEvent[]> =>
  fc
    .record({
      runs: fc.array(
        fc.oneof(
          textRun.map((events) => () => ({ events, count: 0 })),
          reasoningRun(dialect).map((events) => () => ({ events, count: 0 })),
          callRun,
        ),
        { maxLength: 5 },
      ),
      finish: anyFinish,
      usage: anyUsage,
    })
    .map(({ runs, finish, usage }) => {
      const events: ChatEvent[] = [{ type: 'start', id: 'answer-1', model: 'upstream-model' }]
      let calls = 0
      for (const run of runs) {
        const { events: part, count } = run(calls)
        calls += count
        events.push(...part)
      }
      // The reason agrees with what was written, as decoders see to.
      const reason =
        calls > 0 && finish === 'stop' ? 'tool-calls' : calls === 0 && finish === 'tool-calls' ? 'stop' : finish
      return [...events, { type: 'finish', reason }, { type: 'usage', usage }]
    })
