import type { UpstreamFailure } from '#relay/chat/events.ts'
import { readFailure } from '#relay/providers/shared/failures.ts'
import { type Json, listOf, recordOf, tryRecord, wordOf } from '#relay/providers/shared/json.ts'
import { errorIn, errorOfFailed } from './reported-error.ts'

export type StreamEvent = {
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

/** The events of a piece of a stream, the unfinished one at its end among them. */
export function eventsIn(bytes: Uint8Array): StreamEvent[] {
  // Each character is one byte here, so that places in the text are those in the bytes.
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
  const ends = [...text.matchAll(blankLine)].map((found) => found.index + found[0].length)
  const all = ends.at(-1) === bytes.length ? ends : [...ends, bytes.length]
  return all.map((end, index) => eventOf(bytes.subarray(all[index - 1] ?? 0, end)))
}

const failedName = /(^|[._])(error|failed)$/

/** An event beyond this that has an image or audio in it is not read. */
const largestRead = 65_536
const largeContent = /"(b64_json|audio)": ?"[^"]/

/** What an event brings of an operation: an image, audio, a text. */
const contentNames = ['b64_json', 'url', 'audio', 'delta', 'text', 'data']

const holdsContent = (body: Json): boolean =>
  [body, recordOf(body['data']) ?? {}].some((holder) =>
    contentNames.some((name) => wordOf(holder[name]) !== undefined || listOf(holder[name]).length > 0),
  )

/** The event as a failed one, if it says that it is: by its name, or by an error in the place of what was asked for. */
export function asFailed(event: StreamEvent): FailedEvent | undefined {
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

/** Whether an event has a place for an image: a preview counts too. */
export const hasImagePlace = ({ data }: StreamEvent): boolean =>
  /"(b64_json|data|image|images|image_url|url)": ?["[{]/.test(data)
