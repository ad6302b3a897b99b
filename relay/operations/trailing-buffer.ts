import type { ReportedUsage } from '#core/usage.ts'

/** How much of a stream is kept back until it is paid for, and looked through for usage. */
const longestEvents = 64 * 1024

export type TrailingBuffer = {
  /** Bytes that may leave at once. */
  push: (chunk: Uint8Array) => Uint8Array
  /** What was kept back. */
  rest: () => Uint8Array
  /** Usage of the last event that reports any. */
  usage: (read: (json: unknown) => ReportedUsage | undefined) => ReportedUsage | undefined
}

/**
 * Holds the end of an answer back: the last chunk of plain bytes; of an event stream everything from its closing event on
 * (`…completed`, `….done`, `[DONE]`).
 */
export function createTrailingBuffer(isEventStream: boolean): TrailingBuffer {
  let trailing: Uint8Array = new Uint8Array()
  let closing = false
  return {
    push: (chunk) => {
      if (!isEventStream) {
        const due = trailing
        trailing = chunk
        return due
      }
      trailing = trailing.length === 0 ? chunk : Buffer.concat([trailing, chunk])
      if (closing) return new Uint8Array()
      const text = Buffer.from(trailing.buffer, trailing.byteOffset, trailing.length).toString('latin1')
      const end = text.search(
        /(^|\n)(event: [^\n]*(completed|\.done)|data: \[DONE\]|data: \{"type": ?"[^"]*(completed|\.done)")/,
      )
      if (end >= 0) {
        closing = true
        const due = trailing.subarray(0, end)
        trailing = trailing.subarray(end)
        return due
      }
      // Complete events leave; the unfinished one may turn out to be the closing one.
      const boundary = text.lastIndexOf('\n\n') + 2
      const due = boundary > 1 ? trailing.subarray(0, boundary) : new Uint8Array()
      trailing = boundary > 1 ? trailing.subarray(boundary) : trailing
      return due
    },
    rest: () => trailing,
    usage: (read) => {
      if (!isEventStream) return undefined
      const text = Buffer.from(
        trailing.buffer,
        trailing.byteOffset,
        Math.min(trailing.length, 64 * longestEvents),
      ).toString('utf8')
      for (const line of text.split('\n').reverse()) {
        if (!line.startsWith('data:') || !line.includes('"usage"')) continue
        try {
          return read(JSON.parse(line.slice(5)))
        } catch {
          return undefined
        }
      }
      return undefined
    },
  }
}
