import type { WireEvent } from '#relay/transport/framing.ts'
import type { FrameReader } from '#relay/transport/framing.ts'
import { textOf, tryRecord, wordOf } from '../shared/json.ts'
import { createFrameSplitter, type Frame } from './event-stream.ts'

/** Exceptions inside a stream, in the words of the messages dialect. */
const errorTypes: Readonly<Record<string, string>> = {
  throttlingException: 'rate_limit_error',
  validationException: 'invalid_request_error',
  modelTimeoutException: 'timeout_error',
  serviceUnavailableException: 'overloaded_error',
}

function exceptionEvent({ headers, payload }: Frame): WireEvent {
  const name = headers[':exception-type'] ?? headers[':error-code'] ?? 'exception'
  const message = wordOf(tryRecord(payload.toString('utf8'))?.['message']) ?? headers[':error-message'] ?? name
  const type = (Object.hasOwn(errorTypes, name) ? errorTypes[name] : undefined) ?? 'api_error'
  return { event: 'error', data: JSON.stringify({ type: 'error', error: { type, message } }) }
}

/** Models called in their own dialect send its events packed, all under this one name. */
const packed = 'chunk'

/** The event that a frame carries: under the frame's own name, or one of the messages dialect, whose name is its type. */
function messageEvent(frame: Frame): WireEvent[] {
  const name = frame.headers[':event-type'] ?? packed
  if (name !== packed) return [{ event: name, data: frame.payload.toString('utf8') }]
  const bytes = textOf(tryRecord(frame.payload.toString('utf8'))?.['bytes'])
  if (bytes === undefined) return []
  const data = Buffer.from(bytes, 'base64').toString('utf8')
  const event = wordOf(tryRecord(data)?.['type'])
  return [{ ...(event === undefined ? {} : { event }), data }]
}

/** Binary frames → the server-sent events that the vendor itself would have sent. */
export function createFrameReader(): FrameReader {
  const splitter = createFrameSplitter()
  return {
    push: (chunk) =>
      splitter
        .push(chunk)
        .flatMap((frame) =>
          (frame.headers[':message-type'] ?? 'event') === 'event' ? messageEvent(frame) : [exceptionEvent(frame)],
        ),
    end: () => [],
  }
}
