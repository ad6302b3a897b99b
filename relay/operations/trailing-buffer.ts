import { parseJson } from '#core/exact-json.ts'
import { emptyUsage, type ReportedUsage } from '#core/usage.ts'
import type { UpstreamFailure } from '#relay/chat/events.ts'
import { tryRecord } from '#relay/providers/shared/json.ts'
import { TransportError } from '#relay/transport/transport-error.ts'
import {
  type FailedEvent,
  hasData,
  hasImagePlace,
  type ReadEvent,
  readEvents,
  withBareComments,
} from './stream-events.ts'

/** An event may be a whole image; more is kept back of no answer. */
const mostBuffered = 128 * 1024 * 1024

/** How far back of what has come anew an event's beginning or end may lie. */
const overlap = 1024

/** An event with a whole image: of one that is closing, of each of several, or the last of previews. */
const imageEvent = /^ ?\{"type": ?"[^"]*(completed|partial_succeeded)"/

/** The data of an event that was not cut inside. */
const isUncut = (line: string): boolean => /(\}|\[DONE\])\s*$/.test(line.slice(-32))

const bringsImage = (line: string): boolean =>
  imageEvent.test(line) && /"(b64_json|url)": ?"/.test(line) && isUncut(line)

const closingData = /^ ?(\[DONE\]|\{"type": ?"[^"]*(completed|\.done)")/

/** The closing event: clients read it by its name or, where it has none, by its type. */
const closingEvent =
  /(^|[\r\n])(event: ?[^\r\n]*(completed|\.done)|data: ?\[DONE\]|data: ?\{"type": ?"[^"]*(completed|\.done)")/

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
  /** What was kept back, its failed events as they are shown. */
  rest: () => Uint8Array
  /** Usage of the last event that reports any, or of all images where each has an event that does. */
  usage: (read: (json: unknown) => ReportedUsage | undefined) => ReportedUsage | undefined
  /** Images that came whole. */
  images: () => number
  /** Images that failed, as an event of each says. */
  failedImages: () => number
  /**
   * Whether an event stream came to its own end: an event that closes it, or one with usage, for vendors have words of their own.
   * Of images, `asked` of which are wanted, each may have an event that closes.
   */
  ended: (asked: number) => boolean
  /** Whether whole events came, none of them of a kind that another closes: some servers send the segments of a transcript alone. */
  hasSegmentsOnly: () => boolean
  /** Of what was kept back, the events that came whole, the failed ones as they are shown. */
  completeRest: () => Uint8Array
  /** The error with which the stream ended, if it did. */
  failure: () => UpstreamFailure | undefined
  /** The error of the first of its images where none of them came. */
  failureOfImages: () => UpstreamFailure | undefined
}

/**
 * Holds the end of an answer back: the last chunk of plain bytes; of an event stream everything from its closing event on
 * (`…completed`, `….done`, `[DONE]`, an error). Images that failed wait for something that came: where nothing does, another upstream may be
 * asked. Failed events leave as `show` writes them, comments without a word.
 */
export function createTrailingBuffer(
  isEventStream: boolean,
  show: (event: FailedEvent) => Uint8Array = ({ bytes }) => bytes,
): TrailingBuffer {
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
  let hadData = false
  let isNamed = false
  let hasLeft = false
  let hasPlace = false
  let failedImages = 0
  let firstFailed: FailedEvent | undefined
  /** Failed images that came before anything else did, as they are shown. */
  let withheld: Uint8Array[] = []
  let withheldLength = 0

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

  /** Nothing but failed images, and nothing has left before. */
  const withhold = (shown: Uint8Array[]): void => {
    for (const bytes of shown) {
      withheld.push(bytes)
      withheldLength += bytes.length
    }
  }

  const shown = ({ bytes, failed }: ReadEvent): Uint8Array => (failed ? show(failed) : withBareComments(bytes))

  /** Complete events up to the one with which the stream fails, if it does. */
  const releaseEvents = (end: number): Uint8Array => {
    const events = readEvents(trailing().subarray(0, end))
    const failing = events.findIndex(({ failed }) => failed && !failed.isPartial)
    if (failing >= 0) closing = true
    const released = failing < 0 ? events : events.slice(0, failing)
    const due = withBareComments(release(released.reduce((sum, { bytes }) => sum + bytes.length, 0)))
    note(due)
    hasPlace ||= released.some((event) => !event.failed && hasImagePlace(event))
    const failures = released.flatMap(({ failed }) => failed ?? [])
    failedImages += failures.length
    firstFailed ??= failures[0]
    // Without a failed one they leave in one piece, uncopied.
    if (failures.length === 0 && withheld.length === 0) {
      hasLeft ||= due.length > 0
      return due
    }
    withhold(released.map(shown))
    if (!hasLeft && released.every((event) => event.failed || !hasData(event))) return new Uint8Array()
    hasLeft = true
    return takeWithheld()
  }

  const takeWithheld = (): Uint8Array => {
    const joined = Buffer.concat(withheld, withheldLength)
    withheld = []
    withheldLength = 0
    return joined
  }

  /** Bytes that leave at the end. */
  const shownEvents = (bytes: Uint8Array): Uint8Array => {
    if (!isEventStream) return bytes
    const events = readEvents(bytes)
    if (withheld.length === 0 && events.every(({ failed }) => !failed)) return withBareComments(bytes)
    withhold(events.map(shown))
    return takeWithheld()
  }

  const note = (due: Uint8Array): void => {
    const bytes = Buffer.from(due.buffer, due.byteOffset, due.length)
    if (bytes.includes('_succeeded"')) images += dataLines(due).filter(bringsImage).length
    if (bytes.includes('"usage"')) counted = dataLines(due).findLast(hasUsage) ?? counted
    hadData ||= bytes.includes('data:')
    if (!isNamed && bytes.includes('"trans')) isNamed = dataLines(due).some((line) => namedTranscript.test(line))
  }

  /** Read once: it may hold all images of an answer. */
  let rest: { bytes: Uint8Array; events: ReadEvent[] } | undefined
  const eventsOfRest = (): ReadEvent[] => {
    const bytes = trailing()
    if (rest?.bytes !== bytes) rest = { bytes, events: readEvents(bytes) }
    return rest.events
  }
  const failedOfRest = (): FailedEvent[] => eventsOfRest().flatMap(({ failed }) => failed ?? [])
  const imagesFailed = (): number => failedImages + failedOfRest().filter(({ isPartial }) => isPartial).length

  const imagesIn = (lines: string[]): number => images + lines.filter(bringsImage).length

  return {
    push: (chunk) => {
      if (!isEventStream) {
        const due = trailing()
        holdBack(chunk)
        return due
      }
      if (length + withheldLength + chunk.length > mostBuffered) throw new TransportError('too-large', { sent: true })
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
    rest: () => shownEvents(trailing()),
    usage: (read) => {
      if (!isEventStream) return undefined
      const reports = dataLines(trailing()).filter(hasUsage)
      const ofImages = reports.filter(bringsImage)
      const lines = ofImages.length > 1 ? ofImages : [reports.at(-1) ?? counted]
      try {
        return addedUsage(lines.map((line) => (line === '' ? undefined : read(parseJson(line)))))
      } catch {
        return undefined
      }
    },
    images: () => (isEventStream ? imagesIn(dataLines(trailing())) : 0),
    failedImages: () => (isEventStream ? imagesFailed() : 0),
    ended: (asked) => {
      const lines = dataLines(trailing())
      if (lines.length > 0 && !isUncut(lines.at(-1) ?? '')) return false
      const drawn = imagesIn(lines)
      const known = [counted, ...lines]
      // What closes a stream without a place for an image in it closes no drawing.
      if (asked > 0 && !hasPlace && !eventsOfRest().some(hasImagePlace)) return false
      // Neither the event of an image nor the usage in it closes the others.
      if (drawn > 0 && drawn + imagesFailed() < asked)
        return known.some((line) => (closingData.test(line) || hasUsage(line)) && !bringsImage(line))
      return (closing && lines.length > 0) || drawn > 0 || known.some(hasUsage)
    },
    hasSegmentsOnly: () => {
      const bytes = Buffer.from(trailing())
      const lines = dataLines(bytes)
      if (isNamed || lines.some((line) => namedTranscript.test(line))) return false
      const unfinished = bytes.subarray(1 + Math.max(bytes.lastIndexOf('\n'), bytes.lastIndexOf('\r')))
      // A line of text is known to be whole by its line end alone.
      const isComplete = unfinished.length === 0 || dataLines(unfinished).some((line) => tryRecord(line) !== undefined)
      return isComplete && (hadData || lines.length > 0)
    },
    completeRest: () => {
      const bytes = Buffer.from(trailing())
      if (isUncut(dataLines(bytes).at(-1) ?? '')) return shownEvents(Buffer.concat([bytes, Buffer.from('\n\n')]))
      const ends = ['\n\n', '\r\n\r\n', '\r\r'].flatMap((mark) => {
        const at = bytes.lastIndexOf(mark)
        return at < 0 ? [] : [at + mark.length]
      })
      return shownEvents(bytes.subarray(0, Math.max(0, ...ends)))
    },
    failure: () => (isEventStream ? failedOfRest().find(({ isPartial }) => !isPartial)?.failure : undefined),
    failureOfImages: () =>
      isEventStream && imagesIn(dataLines(trailing())) === 0
        ? (firstFailed ?? failedOfRest().find(({ isPartial }) => isPartial))?.failure
        : undefined,
  }
}
