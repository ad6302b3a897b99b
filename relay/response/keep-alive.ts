import type { Call, RelayServices } from '#relay/request/call.ts'
import { beginStream } from './caller-stream.ts'

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
