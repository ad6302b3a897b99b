import type { UpstreamFailure } from '#relay/chat/events.ts'
import { readFailure } from '#relay/providers/shared/failures.ts'
import { type Json, listOf, recordOf, tryRecord, wordOf } from '#relay/providers/shared/json.ts'
import { errorIn, errorOfFailed } from './reported-error.ts'

type StreamEvent = {
  /** Nothing where it has none. */
  name: string
  data: string
  /** As it came, with the blank line behind it. */
  bytes: Uint8Array
}

export type FailedEvent = StreamEvent & {
  failure: UpstreamFailure
  /** One of several images failed: the others are still to come. */
  isPartial: boolean
}

/** The line ends may be of any kind, and of both. */
const blankLine = /(?:\r\n|\n|\r(?!\n)){2,}/g

const valueOf = (line: string, field: string): string[] =>
  line.startsWith(`${field}:`) ? [line.slice(field.length + 1).replace(/^ /, '')] : []

function eventOf(bytes: Uint8Array): StreamEvent {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8')
  const lines = text.replace(/^\uFEFF/, '').split(/\r\n|\r|\n/)
  const data = lines.flatMap((line) => valueOf(line, 'data'))
  // Some write an error into the stream as they would have answered with it.
  const written = data.length > 0 ? data : lines.filter((line) => line.startsWith('{'))
  return { name: lines.flatMap((line) => valueOf(line, 'event')).at(-1) ?? '', data: written.join('\n'), bytes }
}

/** One of these stands in every event that has failed: the names that errors have, and what is said by the values of others. */
const failureWords = [
  'rror',
  'RROR',
  'xception',
  'XCEPTION',
  '"err"',
  'fail',
  'code',
  'detail',
  'status',
  'success',
  String.raw`\u`,
]

const mayFail = (text: string): boolean => failureWords.some((word) => text.includes(word))

export type ReadEvent = {
  bytes: Uint8Array
  /** As it came, each of its bytes a character. */
  text: string
  failed: FailedEvent | undefined
}

/**
 * The events of a piece of a stream, the unfinished one at its end among them. Of sound and of text there are thousands: what has no word
 * of a failure in it is looked at no further.
 */
export function readEvents(bytes: Uint8Array): ReadEvent[] {
  // Places in the text are those in the bytes.
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
  const ends = [...all.matchAll(blankLine)].map((found) => found.index + found[0].length)
  const places = ends.at(-1) === bytes.length ? ends : [...ends, bytes.length]
  return places.map((end, index) => {
    const start = places[index - 1] ?? 0
    const text = all.slice(start, end)
    const event = bytes.subarray(start, end)
    return { bytes: event, text, failed: mayFail(text) ? asFailed(eventOf(event)) : undefined }
  })
}

const comments = /^(\xef\xbb\xbf)?:[^\r\n]*/gm

/** Lines of events in which comments say nothing any more: an upstream may write into them what is not for its callers. */
export function withBareComments(lines: Uint8Array): Uint8Array {
  const bytes = Buffer.from(lines.buffer, lines.byteOffset, lines.length)
  const isFirst = /^(\xef\xbb\xbf)?:/.test(bytes.toString('latin1', 0, 4))
  if (!isFirst && !bytes.includes('\n:') && !bytes.includes('\r:')) return lines
  return Buffer.from(bytes.toString('latin1').replaceAll(comments, '$1:'), 'latin1')
}

const failedName = /(^|[._])(error|failed)$/

/** An event beyond this that has an image or audio in it is not read. */
const largestRead = 65_536
const largeContent = /"(b64_json|audio)": ?"[^"]/

/** What an event brings of an operation: an image, audio, a text. */
const eventContents = ['b64_json', 'url', 'audio', 'delta', 'text', 'data']

const holdsContent = (body: Json): boolean =>
  [body, recordOf(body['data']) ?? {}].some((holder) =>
    eventContents.some((name) => wordOf(holder[name]) !== undefined || listOf(holder[name]).length > 0),
  )

/** The event as a failed one, if it says that it is: by its name, or by an error in the place of what was asked for. */
function asFailed(event: StreamEvent): FailedEvent | undefined {
  const { name, data } = event
  const isNamed = failedName.test(name)
  if (data.length > largestRead && !isNamed && largeContent.test(data)) return undefined
  const body = data.trimStart().startsWith('{') ? tryRecord(data) : undefined
  const type = wordOf(body?.['type']) ?? name
  const isFailed = isNamed || failedName.test(type)
  const isPartial = type.endsWith('partial_failed') || name.endsWith('partial_failed')
  if (!body) return isFailed ? { ...event, failure: readFailure(500, data), isPartial } : undefined
  const failure = isFailed ? errorOfFailed(body) : holdsContent(body) ? undefined : errorIn(body)
  return failure && { ...event, failure, isPartial }
}

export const hasData = ({ text }: ReadEvent): boolean => /(^|[\r\n])(data: ?[^\r\n]|\{)/.test(text)

/** Whether an event has a place for an image: a preview counts too. */
export const hasImagePlace = ({ text }: ReadEvent): boolean =>
  /"(b64_json|data|image|images|image_url|url)": ?["[{]/.test(text)
