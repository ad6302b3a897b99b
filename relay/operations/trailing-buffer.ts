import type { ReportedUsage } from '#core/usage.ts'

/** How much of a stream is kept back until it is paid for, and looked through for usage. */
const keptEvents = 64 * 1024

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
  let kept: Uint8Array = new Uint8Array()
  let closing = false
  return {
    push: (chunk) => {
      if (!isEventStream) {
        const due = kept
        kept = chunk
        return due
      }
      kept = kept.length === 0 ? chunk : Buffer.concat([kept, chunk])
      if (closing) return new Uint8Array()
      const text = Buffer.from(kept.buffer, kept.byteOffset, kept.length).toString('latin1')
      const end = text.search(
        /(^|\n)(event: [^\n]*(completed|\.done)|data: \[DONE\]|data: \{"type": ?"[^"]*(completed|\.done)")/,
      )
      if (end >= 0) {
        closing = true
        const due = kept.subarray(0, end)
        kept = kept.subarray(end)
        return due
      }
      // Whole events leave; the unfinished one may turn out to be the closing one.
      const boundary = text.lastIndexOf('\n\n') + 2
      const due = boundary > 1 ? kept.subarray(0, boundary) : new Uint8Array()
      kept = boundary > 1 ? kept.subarray(boundary) : kept
      return due
    },
    rest: () => kept,
    usage: (read) => {
      if (!isEventStream) return undefined
      const text = Buffer.from(kept.buffer, kept.byteOffset, Math.min(kept.length, 64 * keptEvents)).toString('utf8')
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
