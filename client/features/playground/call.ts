import { createParser } from 'eventsource-parser'
import { currentLanguage } from '../../i18n/language.ts'
import { failureIn, failureOf } from '../../lib/relay-call.ts'
import { userHeaders } from '../../lib/trpc.ts'
import type { CallBody } from './reply.ts'

type CallInput = {
  body: CallBody
  signal: AbortSignal
  /** As soon as the gateway has answered. */
  onRequestId: (id: string) => void
  /** The events of one piece of the stream, in order. */
  onEvents: (events: string[]) => void
}

/** One chat in the reader's own name. Resolves when the stream has ended; throws what the gateway refused. */
export async function callPlayground({ body, signal, onRequestId, onEvents }: CallInput): Promise<void> {
  const response = await fetch('/pg/chat/completions', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Accept-Language': currentLanguage(), ...userHeaders() },
    body: JSON.stringify(body),
    signal,
  })
  const requestId = response.headers.get('x-request-id') ?? ''
  onRequestId(requestId)
  if (!response.ok || !response.body) throw await failureOf(response)
  let events: string[] = []
  const parser = createParser({ onEvent: ({ data }) => void events.push(data) })
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (value !== undefined) parser.feed(value)
    if (done) parser.reset({ consume: true })
    if (events.length > 0) onEvents(events)
    const failure = events.map((data) => failureIn(readJson(data), { requestId, status: response.status }))
    const [first] = failure.filter((one) => one !== undefined)
    if (first) throw first
    events = []
    if (done) return
  }
}

export function readJson(data: string): unknown {
  try {
    return JSON.parse(data)
  } catch {
    return undefined
  }
}
