import type { Call } from '#relay/request/call.ts'
import { beginStream } from './caller-stream.ts'

const comment = ': WAITING FOR UPSTREAM\n\n'
const everyMs = 5000

/**
 * The signs of life of a stream whose channel cannot stream: one at once and one every five seconds, until the whole answer
 * is there. Returns what stops them.
 */
export function tellWaiting(call: Call, losses: string[]): () => void {
  const { res, callerAborted, dialect, asJsonArray } = call
  // A JSON array has no room for comments.
  if (asJsonArray) return () => {}
  const tell = (): void => {
    if (callerAborted.signal.aborted || res.writableEnded || res.writableNeedDrain) return
    beginStream(call, { contentType: dialect.streamContentType({ asJsonArray }), losses })
    res.write(comment)
  }
  tell()
  const timer = setInterval(tell, everyMs)
  return () => clearInterval(timer)
}
