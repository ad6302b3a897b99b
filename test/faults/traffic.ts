import { setTimeout as pause } from 'node:timers/promises'
import type { TestToken } from '../support/factories.ts'
import { long } from '../support/long.ts'
import { until } from '../support/processes.ts'

export type CallKind = 'plain' | 'stream' | 'failing' | 'hung-up'

export type Outcome = {
  id: string
  kind: CallKind
  /** `Date.now()` when it was sent. */
  startedAt: number
  status: number
  /** The caller read the answer to its end: it has to be on the bill, once. */
  complete: boolean
  body: string
  headers: Headers
  /** So long it took. */
  ms: number
  /** What cut it off. */
  broken: string
}

/** Paces the simulated provider: some calls are always under way when something dies. */
const askFor: Record<CallKind, string> = {
  plain: '[[delay=15]] say something',
  stream: '[[gap=8,words=12]] tell something',
  failing: '[[status=400]] this is refused',
  'hung-up': '[[gap=20,words=60]] tell something long',
}

/** One call, read to its end where it has one. Never rejects: what broke is an answer that is not complete. */
export async function callOnce(
  url: string,
  token: TestToken,
  call: {
    kind: CallKind
    text?: string
    model?: string
    signal?: AbortSignal
    onChunk?: (text: string) => void
    longestMs?: number
  },
): Promise<Outcome> {
  const { kind } = call
  const stream = kind === 'stream' || kind === 'hung-up'
  const hangUp = new AbortController()
  const outcome: Outcome = {
    id: '',
    kind,
    startedAt: Date.now(),
    status: 0,
    complete: false,
    body: '',
    headers: new Headers(),
    ms: 0,
    broken: '',
  }
  try {
    const reply = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer sk-${token.key}` },
      body: JSON.stringify({
        model: call.model ?? 'gpt-4o-mini',
        stream,
        max_tokens: 200,
        messages: [{ role: 'user', content: call.text ?? askFor[kind] }],
      }),
      signal: AbortSignal.any([
        hangUp.signal,
        AbortSignal.timeout(call.longestMs ?? 60_000),
        ...(call.signal ? [call.signal] : []),
      ]),
    })
    outcome.id = reply.headers.get('x-request-id') ?? ''
    outcome.status = reply.status
    outcome.headers = reply.headers
    if (kind === 'hung-up') setTimeout(() => hangUp.abort(), 60).unref()
    const decoder = new TextDecoder()
    for await (const chunk of reply.body ?? []) {
      const text = decoder.decode(chunk, { stream: true })
      outcome.body += text
      call.onChunk?.(text)
    }
    outcome.complete = reply.status === 200 && (!stream || outcome.body.includes('data: [DONE]'))
  } catch (error) {
    // Cut off, refused or hung up.
    const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : ''
    outcome.broken = `${String(error)}${cause}`
  }
  outcome.ms = Date.now() - outcome.startedAt
  return outcome
}

/** Waits until a stream of this model is served, its price and a channel known; one that is, is left at once. */
export const untilStreamed = (url: string, token: TestToken, model: string): Promise<void> =>
  until(
    async () => {
      const reply = await fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer sk-${token.key}` },
        body: JSON.stringify({ model, stream: true, messages: [{ role: 'user', content: 'tell' }] }),
      })
      await reply.body?.cancel()
      return reply.status === 200
    },
    { what: () => `${model} is not served` },
  )

/**
 * Half of the callers wait for an answer at any time. Without a pause they would take every core from what they wait for, the starts of
 * products above all; the long forms do that too.
 */
const usualPauseMs = long ? 0 : 50

/**
 * Callers that call again and again, so many at a time, until asked to stop, or until the scope that has them by `using` is left. Stopping
 * resolves with everything that was seen.
 */
export function startTraffic(input: {
  urls: string[]
  tokens: TestToken[]
  kinds: CallKind[]
  concurrency: number
  /** Between two calls of one caller; short unless it says otherwise. */
  pauseMs?: number
  /** After which a caller gives up. */
  longestMs?: number
}) {
  const pick = <Item>(items: Item[]): Item => items[Math.floor(Math.random() * items.length)] as Item
  const outcomes: Outcome[] = []
  let stopping = false
  const timeout = input.longestMs === undefined ? {} : { longestMs: input.longestMs }
  const caller = async (): Promise<void> => {
    while (!stopping) {
      const outcome = await callOnce(pick(input.urls), pick(input.tokens), { kind: pick(input.kinds), ...timeout })
      outcomes.push(outcome)
      await pause(input.pauseMs ?? usualPauseMs)
      // Nobody answers: the port is between two owners.
      if (outcome.status === 0 && outcome.kind !== 'hung-up') await pause(20)
    }
  }
  const callers = Array.from({ length: input.concurrency }, caller)
  return {
    outcomes,
    stop: async (): Promise<Outcome[]> => {
      stopping = true
      await Promise.all(callers)
      return outcomes
    },
    [Symbol.dispose]: (): void => void (stopping = true),
  }
}
