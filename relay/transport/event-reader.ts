import type { Framing, WireEvent } from './framing.ts'
import type { UpstreamReply } from './send.ts'
import { createSseParser } from './sse.ts'

export type EventReader = { push: (chunk: Uint8Array) => void; end: () => void }

/** All that says how an answer is cut. */
type Headed = Pick<UpstreamReply, 'headers'>

const contentTypeOf = (reply: Headed): string => String(reply.headers['content-type'] ?? '')

/** Whether an answer comes as a stream of events, in the provider's own framing or as server-sent events. */
export const isEventStream = ({ framing }: { framing: Framing }, reply: Headed): boolean =>
  contentTypeOf(reply).includes('text/event-stream') ||
  (framing !== 'sse' && contentTypeOf(reply).includes(framing.contentType))

/** Bytes of an answer → its events, in whichever framing it came. */
export function createEventReader(
  { framing }: { framing: Framing },
  reply: Headed,
  onEvent: (event: WireEvent) => void,
): EventReader {
  if (framing === 'sse' || !contentTypeOf(reply).includes(framing.contentType)) return createSseParser({ onEvent })
  const reader = framing.reader()
  return {
    push: (chunk) => {
      for (const event of reader.push(chunk)) onEvent(event)
    },
    end: () => {
      for (const event of reader.end()) onEvent(event)
    },
  }
}
