import { emptyUsage, type ReportedUsage } from '#core/usage.ts'
import type { UpstreamFailure } from '#relay/chat/events.ts'
import { refusalOf } from '#relay/providers/shared/failures.ts'
import { tryRecord } from '#relay/providers/shared/json.ts'
import { TransportError } from '#relay/transport/transport-error.ts'

/** An event may be a whole image; more is kept back of no answer. */
const mostBuffered = 128 * 1024 * 1024

/** How far back of what has come anew an event's beginning or end may lie. */
const overlap = 1024

/** An event with a whole image: of one that is closing, of each of several, or the last of previews. */
const imageEvent = /^ ?\{"type": ?"[^"]*(completed|partial_succeeded)"/

/** The data of an event that was not cut inside. */
const isUncut = (line: string): boolean => /(\}|\[DONE\])\s*$/.test(line.slice(-32))

const holdsImage = (line: string): boolean =>
  imageEvent.test(line) && /"(b64_json|url)": ?"/.test(line) && isUncut(line)

const closingData = /^ ?(\[DONE\]|\{"type": ?"[^"]*(completed|\.done)")/

/** The closing event, or an error: clients read each by its name or, where it has none, by its type. */
const closingEvent =
  /(^|[\r\n])(event: ?([^\r\n]*(completed|\.done)|error)|data: ?\[DONE\]|data: ?\{"(type": ?"([^"]*(completed|\.done)|error)"|error": ?\{))/

/** An event of those vendors who name their events, and close a transcript with one: OpenAI, Mistral, vLLM. */
const namedTranscript = /"(type|object)": ?"(transcript|transcription|translation)\./

const hasUsage = (line: string): boolean => line.includes('"usage"')

const usageFigures = Object.keys(emptyUsage) as Exclude<keyof ReportedUsage, 'containers' | 'drawing'>[]

const eventEnd = /\r\n\r\n|\n\n|\r\r/g

/** Figures of several events as one. */
function addedUsage([first, ...others]: (ReportedUsage | undefined)[]): ReportedUsage | undefined {
  if (others.length === 0) return first
  const total: ReportedUsage = { ...first }
  for (const name of usageFigures) {
    const counts = [first, ...others].flatMap((usage) => usage?.[name] ?? [])
    if (counts.length > 0) total[name] = counts.reduce((sum, count) => sum + count, 0)
  }
  return total
}

export type TrailingBuffer = {
  /** Bytes that may leave at once. @throws {TransportError} too-large */
  push: (chunk: Uint8Array) => Uint8Array
  /** What was kept back. */
  rest: () => Uint8Array
  /** Usage of the last event that reports any, or of all images where each has an event that does. */
  usage: (read: (json: unknown) => ReportedUsage | undefined) => ReportedUsage | undefined
  /** Images that came whole. */
  images: () => number
  /**
   * Whether an event stream came to its own end: an event that closes it, or one with usage, for vendors have words of their own.
   * Of images, `asked` of which are wanted, each may have an event that closes.
   */
  ended: (asked: number) => boolean
  /** Whether whole events came, none of them of a kind that another closes: some servers send the segments of a transcript alone. */
  hasSegmentsOnly: () => boolean
  /** Of what was kept back, the events that came whole. */
  completeRest: () => Uint8Array
  /** The error with which the stream ended, if it did. */
  failure: () => UpstreamFailure | undefined
}

/**
 * Holds the end of an answer back: the last chunk of plain bytes; of an event stream everything from its closing event on
 * (`…completed`, `….done`, `[DONE]`, an error).
 */
export function createTrailingBuffer(isEventStream: boolean): TrailingBuffer {
  /** Joined only when something leaves: an event may come in thousands of pieces. */
  let pieces: Uint8Array[] = []
  let length = 0
  /** The end of what is kept back, in which the next chunk may complete something. */
  let ending: Uint8Array = new Uint8Array()
  let closing = false
  /** The last event that left with usage in it: not every upstream names its closing event as the original does. */
  let counted = ''
  let images = 0
  /** Of the events that left. */
  let hasData = false
  let isNamed = false

  const holdBack = (bytes: Uint8Array): void => {
    pieces = [bytes]
    length = bytes.length
    ending = bytes.subarray(-overlap)
  }
  const trailing = (): Uint8Array => {
    const [only] = pieces
    if (pieces.length === 1 && only) return only
    const joined = Buffer.concat(pieces, length)
    pieces = [joined]
    return joined
  }
  const release = (end: number): Uint8Array => {
    const joined = trailing()
    holdBack(joined.subarray(end))
    return joined.subarray(0, end)
  }
  const dataLines = (bytes: Uint8Array): string[] =>
    Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
      .toString('utf8')
      .split(/\r\n|\r|\n/)
      .flatMap((line) => (line.startsWith('data:') ? [line.slice(5)] : []))

  /** Complete events, with what is to be known of them when they have left. */
  const releaseEvents = (end: number): Uint8Array => {
    const due = release(end)
    const bytes = Buffer.from(due.buffer, due.byteOffset, due.length)
    if (bytes.includes('_succeeded"')) images += dataLines(due).filter(holdsImage).length
    if (bytes.includes('"usage"')) counted = dataLines(due).findLast(hasUsage) ?? counted
    hasData ||= bytes.includes('data:')
    if (!isNamed && bytes.includes('"trans')) isNamed = dataLines(due).some((line) => namedTranscript.test(line))
    return due
  }

  const imagesIn = (lines: string[]): number => images + lines.filter(holdsImage).length

  return {
    push: (chunk) => {
      if (!isEventStream) {
        const due = trailing()
        holdBack(chunk)
        return due
      }
      if (length + chunk.length > mostBuffered) throw new TransportError('too-large', { sent: true })
      pieces.push(chunk)
      length += chunk.length
      if (closing) return new Uint8Array()
      const seen = Buffer.concat([ending, chunk])
      const known = length - seen.length
      const text = seen.toString('latin1')
      const end = text.search(closingEvent)
      if (end >= 0) {
        closing = true
        return releaseEvents(known + end)
      }
      // Complete events leave; the unfinished one may turn out to be the closing one.
      const last = [...text.matchAll(eventEnd)].at(-1)
      if (!last) {
        ending = seen.subarray(-overlap)
        return new Uint8Array()
      }
      return releaseEvents(known + last.index + last[0].length)
    },
    rest: trailing,
    usage: (read) => {
      if (!isEventStream) return undefined
      const reports = dataLines(trailing()).filter(hasUsage)
      const ofImages = reports.filter(holdsImage)
      const lines = ofImages.length > 1 ? ofImages : [reports.at(-1) ?? counted]
      try {
        return addedUsage(lines.map((line) => (line === '' ? undefined : read(JSON.parse(line)))))
      } catch {
        return undefined
      }
    },
    images: () => (isEventStream ? imagesIn(dataLines(trailing())) : 0),
    ended: (asked) => {
      const lines = dataLines(trailing())
      if (lines.length > 0 && !isUncut(lines.at(-1) ?? '')) return false
      const drawn = imagesIn(lines)
      const known = [counted, ...lines]
      // Neither the event of an image nor the usage in it closes the others.
      if (drawn > 0 && drawn < asked)
        return known.some((line) => (closingData.test(line) || hasUsage(line)) && !holdsImage(line))
      return (closing && lines.length > 0) || drawn > 0 || known.some(hasUsage)
    },
    hasSegmentsOnly: () => {
      const bytes = Buffer.from(trailing())
      const lines = dataLines(bytes)
      if (isNamed || lines.some((line) => namedTranscript.test(line))) return false
      const unfinished = bytes.subarray(1 + Math.max(bytes.lastIndexOf('\n'), bytes.lastIndexOf('\r')))
      // A line of text is known to be whole by its line end alone.
      const isComplete = unfinished.length === 0 || dataLines(unfinished).some((line) => tryRecord(line) !== undefined)
      return isComplete && (hasData || lines.length > 0)
    },
    completeRest: () => {
      const bytes = Buffer.from(trailing())
      if (isUncut(dataLines(bytes).at(-1) ?? '')) return Buffer.concat([bytes, Buffer.from('\n\n')])
      const ends = ['\n\n', '\r\n\r\n', '\r\r'].flatMap((mark) => {
        const at = bytes.lastIndexOf(mark)
        return at < 0 ? [] : [at + mark.length]
      })
      return bytes.subarray(0, Math.max(0, ...ends))
    },
    failure: () => {
      if (!closing) return undefined
      for (const line of dataLines(trailing())) {
        const refusal = refusalOf(tryRecord(line) ?? {})
        if (refusal) return refusal
      }
      return undefined
    },
  }
}
