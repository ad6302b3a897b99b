import { crc32 } from 'node:zlib'
import type { Framing, StreamEvent } from '../types.ts'

const textType = 7

/** A header is its name, the type of its value and the value, each text with its length in front. */
function header(name: string, value: string): Buffer {
  const head = Buffer.alloc(1 + name.length + 1 + 2)
  head.writeUInt8(name.length, 0)
  head.write(name, 1, 'latin1')
  head.writeUInt8(textType, 1 + name.length)
  head.writeUInt16BE(Buffer.byteLength(value), 2 + name.length)
  return Buffer.concat([head, Buffer.from(value)])
}

/** A message of `application/vnd.amazon.eventstream`: lengths, checksum of the lengths, headers, payload, checksum of all. */
function eventMessage(headers: Record<string, string>, payload: string): Buffer {
  const head = Buffer.concat(Object.entries(headers).map(([name, value]) => header(name, value)))
  const body = Buffer.from(payload)
  const prelude = Buffer.alloc(12)
  prelude.writeUInt32BE(12 + head.length + body.length + 4, 0)
  prelude.writeUInt32BE(head.length, 4)
  prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8)
  const message = Buffer.concat([prelude, head, body, Buffer.alloc(4)])
  message.writeUInt32BE(crc32(message.subarray(0, -4)), message.length - 4)
  return message
}

/** How `vendor.streamError` names its event. */
export const exceptionEvent = ':exception'

function exceptionMessage({ data }: StreamEvent): Buffer {
  const { type, message } = JSON.parse(data) as { type: string; message: string }
  return eventMessage(
    { ':exception-type': type, ':content-type': 'application/json', ':message-type': 'exception' },
    JSON.stringify({ message }),
  )
}

const eventStreamType = 'application/vnd.amazon.eventstream'

/** Events under their own names. */
export const namedFraming: Framing = {
  contentType: eventStreamType,
  frame: (event) =>
    event.event === exceptionEvent
      ? exceptionMessage(event)
      : eventMessage(
          { ':event-type': event.event ?? '', ':content-type': 'application/json', ':message-type': 'event' },
          event.data,
        ),
}

/** Events of the messages dialect, each packed into the bytes of a chunk. */
export const chunkFraming: Framing = {
  contentType: eventStreamType,
  frame: (event) =>
    event.event === exceptionEvent
      ? exceptionMessage(event)
      : eventMessage(
          { ':event-type': 'chunk', ':content-type': 'application/json', ':message-type': 'event' },
          JSON.stringify({ bytes: Buffer.from(event.data).toString('base64'), p: 'abcd' }),
        ),
}
