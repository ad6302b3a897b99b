import { MalformedUpstream } from '#relay/chat/events.ts'
import type { FrameReader, WireEvent } from '#relay/transport/framing.ts'
import { createTextPieces } from '#core/text-pieces.ts'

/** Text without a line end that is put up with. */
const longestLine = 10 * 1_048_576

/**
 * One JSON value a line, wherever the chunks end; a last line may lack its end. Blank lines keep connections alive. Each chunk is
 * looked through once, however many of them a line takes.
 */
export function createJsonLineReader(): FrameReader {
  const decoder = new TextDecoder()
  const begun = createTextPieces()
  const eventsOf = (lines: string[]): WireEvent[] =>
    lines.flatMap((line) => (line.trim() === '' ? [] : [{ data: line.trim() }]))
  return {
    push(chunk) {
      const text = decoder.decode(chunk, { stream: true })
      const end = text.lastIndexOf('\n')
      const lines = end < 0 ? [] : begun.take(text.slice(0, end)).split('\n')
      begun.keep(text.slice(end + 1))
      if (begun.length() > longestLine) throw new MalformedUpstream('the upstream sent a line without an end')
      return eventsOf(lines)
    },
    end: () => eventsOf([begun.take(decoder.decode())]),
  }
}
