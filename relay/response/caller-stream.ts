import { once } from 'node:events'
import { watchMessage } from '#features/request-bodies/untaken-answers.ts'
import { nameLosses } from '#relay/chat/losses.ts'
import type { Call, RelayServices } from '#relay/request/call.ts'

/** The caller's side of a streamed answer: headers with the first byte, back-pressure, and the news that nobody listens. */
export type CallerStream = {
  /** Resolves when the caller can take more, undefined if at once; never rejects after a hang-up. */
  write: (text: string) => Promise<void> | undefined
  end: (text: string) => Promise<void>
  started: () => boolean
}

type StreamHeaders = { contentType: string; losses: string[] }

/** The head of a streamed answer; an earlier attempt or a keep-alive comment may have sent it already. */
function beginStream({ res }: Call, { contentType, losses }: StreamHeaders): void {
  if (res.headersSent) return
  res.status(200)
  res.setHeader('content-type', contentType)
  res.setHeader('cache-control', 'no-cache')
  res.setHeader('connection', 'keep-alive')
  res.setHeader('x-accel-buffering', 'no')
  nameLosses(res, losses)
  res.flushHeaders()
}

/** Resolves when the caller can take more, has gone, or is given up because it takes nothing. Never rejects. */
export async function drained({
  res,
  callerAborted,
  upstreamAbort,
}: Pick<Call, 'res' | 'callerAborted' | 'upstreamAbort'>): Promise<void> {
  const ended = watchMessage(res)
  await once(res, 'drain', { signal: AbortSignal.any([callerAborted.signal, upstreamAbort.signal]) }).catch(() => {})
  ended()
}

export function openCallerStream(call: Call, headers: StreamHeaders): CallerStream {
  const { res, callerAborted } = call
  let started = false

  const start = (): void => {
    if (started) return
    started = true
    beginStream(call, headers)
  }

  return {
    started: () => started,
    write: (text) => {
      if (text === '' || callerAborted.signal.aborted) return undefined
      start()
      return res.write(text) ? undefined : drained(call)
    },
    end: async (text) => {
      if (callerAborted.signal.aborted) return
      start()
      await new Promise<void>((resolve) => {
        const ended = watchMessage(res)
        const finished = () => {
          ended()
          resolve()
        }
        callerAborted.signal.addEventListener('abort', finished, { once: true })
        res.end(text, finished)
      })
    },
  }
}

/**
 * Comments that tell a waiting caller that its line is open, where the operator wants them: from the moment its stream is
 * accepted, through every attempt, to its end. Returns what stops them.
 */
export function keepAlive({ options }: RelayServices, call: Call): () => void {
  const { res, dialect, stream, asJsonArray } = call
  // A JSON array has no room for comments.
  if (!stream || asJsonArray || !options.get('general_setting.ping_interval_enabled')) return () => {}
  const seconds = options.get('general_setting.ping_interval_seconds')
  const ping = (): void => {
    if (call.callerAborted.signal.aborted || res.writableEnded || res.writableNeedDrain) return
    beginStream(call, { contentType: dialect.streamContentType({ asJsonArray }), losses: [] })
    res.write(dialect.ping)
  }
  const timer = setInterval(ping, (seconds > 0 ? seconds : 10) * 1000)
  return () => clearInterval(timer)
}

const comment = ': WAITING FOR UPSTREAM\n\n'
const everyMs = 5000

/**
 * The signs of life of a stream whose channel cannot stream: one at once and one every five seconds, until the complete answer
 * is there. Returns what stops them.
 */
export function pingUntilAnswered(call: Call, losses: string[]): () => void {
  const { res, callerAborted, dialect, asJsonArray } = call
  // A JSON array has no room for comments.
  if (asJsonArray) return () => {}
  const text = dialect.refusesComments === true ? dialect.ping : comment
  const ping = (): void => {
    if (callerAborted.signal.aborted || res.writableEnded || res.writableNeedDrain) return
    beginStream(call, { contentType: dialect.streamContentType({ asJsonArray }), losses })
    res.write(text)
  }
  ping()
  const timer = setInterval(ping, everyMs)
  return () => clearInterval(timer)
}
