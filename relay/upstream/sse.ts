import { StringDecoder } from 'node:string_decoder'
import { createParser } from 'eventsource-parser'
import { TransportError } from './transport-error.ts'

/** An event before anybody looked inside. */
export type SseEvent = { event?: string | undefined; data: string }

export type SseParserOptions = {
  onEvent: (event: SseEvent) => void
  /** Comments keep connections alive; their text is without the colon. */
  onComment?: ((text: string) => void) | undefined
  /** Bytes without a complete event or comment that are put up with. */
  maxEventBytes?: number | undefined
}

export type SseParser = {
  /** @throws {TransportError} `too-large`. */
  push: (chunk: Uint8Array) => void
  /** The body ended as it should. An event that lacks only its closing blank line is still told. */
  end: () => void
}

/** Bytes of a body → its server-sent events, however they are cut. */
export function createSseParser({ onEvent, onComment, maxEventBytes = 10 * 1_048_576 }: SseParserOptions): SseParser {
  const decoder = new StringDecoder('utf8')
  let bytesSinceEvent = 0
  const parser = createParser({
    onEvent: (event) => {
      bytesSinceEvent = 0
      onEvent(event)
    },
    onComment: (text) => {
      bytesSinceEvent = 0
      onComment?.(text)
    },
  })
  return {
    push(chunk) {
      bytesSinceEvent += chunk.length
      parser.feed(decoder.write(chunk))
      if (bytesSinceEvent > maxEventBytes) throw new TransportError('too-large', { sent: true })
    },
    end() {
      parser.feed(`${decoder.end()}\n\n`)
    },
  }
}

/** The events of a body, in batches as they arrive, so that a reader can write each batch at once. */
export async function* sseBatches(
  body: AsyncIterable<Uint8Array>,
  options: Omit<SseParserOptions, 'onEvent'> = {},
): AsyncGenerator<SseEvent[]> {
  let batch: SseEvent[] = []
  const parser = createSseParser({ ...options, onEvent: (event) => batch.push(event) })
  for await (const chunk of body) {
    parser.push(chunk)
    if (batch.length === 0) continue
    yield batch
    batch = []
  }
  parser.end()
  if (batch.length > 0) yield batch
}
