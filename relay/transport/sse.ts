import { StringDecoder } from 'node:string_decoder'
import type { WireEvent } from './framing.ts'
import { createTextPieces } from '#core/text-pieces.ts'
import { TransportError } from './transport-error.ts'

/** An event as it goes over the wire, with plain line ends. */
export function formatSseEvent({ event, data }: WireEvent): string {
  const lines = data.includes('\n') ? data.replaceAll('\n', '\ndata: ') : data
  return event ? `event: ${event}\ndata: ${lines}\n\n` : `data: ${lines}\n\n`
}

type SseParserOptions = {
  onEvent: (event: WireEvent) => void
  /** Bytes without a complete event, or a comment between two, that are put up with. */
  maxEventBytes?: number | undefined
}

export type SseParser = {
  /** @throws {TransportError} `too-large`. */
  push: (chunk: Uint8Array) => void
  /** The body ended as it should. An event that lacks only its closing blank line is still delivered. */
  end: () => void
}

/**
 * Text in pieces → its lines, ended by CR, LF or both. Each piece is looked through once, however many of them a line
 * takes: with a parser that begins anew for every piece, single bytes of a long line would take all the time there is.
 */
function createLineReader(onLine: (line: string) => void) {
  const begun = createTextPieces()
  let afterReturn = false

  return {
    push(text: string): void {
      if (text === '') return
      let at = afterReturn && text.startsWith('\n') ? 1 : 0
      afterReturn = false
      let feed = text.indexOf('\n', at)
      let carriage = text.indexOf('\r', at)
      while (feed >= 0 || carriage >= 0) {
        const end = carriage < 0 || (feed >= 0 && feed < carriage) ? feed : carriage
        onLine(begun.take(text.slice(at, end)))
        at = end + 1
        if (end === carriage) {
          if (at === text.length) afterReturn = true
          else if (at === feed) at += 1
          carriage = text.indexOf('\r', at)
        }
        if (feed >= 0 && feed < at) feed = text.indexOf('\n', at)
      }
      if (at < text.length) begun.keep(text.slice(at))
    },
    /** What came after the last line end. */
    rest: (): string => begun.take(),
  }
}

const withoutSpace = (value: string): string => (value.startsWith(' ') ? value.slice(1) : value)

/** Bytes of a body → its server-sent events, however they are cut. */
export function createSseParser({ onEvent, maxEventBytes = 10 * 1_048_576 }: SseParserOptions): SseParser {
  const decoder = new StringDecoder('utf8')
  let bytesSinceEvent = 0
  let begun = false
  let name: string | undefined
  let data: string | undefined

  const dispatch = (unfinished: boolean): void => {
    if (data !== undefined) {
      bytesSinceEvent = 0
      onEvent({ event: name, data, ...(unfinished ? { unfinished } : {}) })
    }
    name = undefined
    data = undefined
  }
  const readField = (line: string): void => {
    const colon = line.indexOf(':')
    // A comment: it keeps the connection alive. Inside an event it makes what is kept of that no less.
    if (colon === 0) {
      if (data === undefined) bytesSinceEvent = 0
      return
    }
    const field = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : withoutSpace(line.slice(colon + 1))
    if (field === 'data') data = data === undefined ? value : `${data}\n${value}`
    else if (field === 'event') name = value === '' ? undefined : value
  }
  const lines = createLineReader((line) => (line === '' ? dispatch(false) : readField(line)))
  const read = (text: string): void => {
    if (begun || text === '') return lines.push(text)
    begun = true
    lines.push(text.startsWith('\ufeff') ? text.slice(1) : text)
  }
  return {
    push(chunk) {
      bytesSinceEvent += chunk.length
      read(decoder.write(chunk as Buffer))
      if (bytesSinceEvent > maxEventBytes) throw new TransportError('too-large', { sent: true })
    },
    end() {
      read(decoder.end())
      const last = lines.rest()
      if (last !== '') readField(last)
      dispatch(true)
    },
  }
}
