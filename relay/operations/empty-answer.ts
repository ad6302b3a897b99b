import type { UpstreamFailure } from '#relay/chat/events.ts'
import { type PlainOperation, UpstreamRefusal } from '#relay/providers/types.ts'
import { recordOf, wordOf } from '#relay/providers/shared/json.ts'
import { errorIn, errorInEmpty } from './reported-error.ts'
import { holdsImage, imageNames, imagesIn } from './images.ts'
import { malformed } from './send.ts'

/** Operations whose answers are lists: of images, vectors, verdicts. */
export const listing: ReadonlySet<string> = new Set(['embeddings', 'moderations', 'images', 'image-edits', 'rerank'])

/** What stands under these names is said of an answer, and is none. */
export const errorNames: ReadonlySet<string> = new Set([
  'detail',
  'details',
  'error',
  'errors',
  'message',
  'messages',
  'warnings',
])

/** The fields in which vendors put a text or something packed as text that was asked for. */
const contentNames: Partial<Record<PlainOperation, RegExp>> = {
  images: imageNames,
  'image-edits': imageNames,
  speech: /^(audio\w*|b64_\w+|content|data|output|speech|url)$/i,
  transcriptions: /^(content|output|text|transcript\w*)$/i,
  translations: /^(content|output|text|transcript\w*)$/i,
}

const isImage = (entry: unknown): boolean => holdsImage(recordOf(entry) ?? {})

/** Google's word for why an image is not there. */
export const filteredReason = 'raiFilteredReason'

/** What an entry of a list says went wrong with it, while the others may have come. */
export function errorOfEntry(entry: unknown): UpstreamFailure | undefined {
  const row = recordOf(entry)
  if (!row || holdsImage(row)) return undefined
  const held = wordOf(row[filteredReason])
  return held === undefined ? errorIn(row) : errorIn({ error: { message: held, code: 'content_filter' } })
}

/** Every entry of the answer's lists. Vendors name them differently, and some put them into an object of their own. */
function entriesOf(value: unknown, depth: number): unknown[] {
  if (Array.isArray(value)) return value
  const record = depth > 0 ? recordOf(value) : undefined
  return Object.entries(record ?? {}).flatMap(([name, inner]) =>
    errorNames.has(name) ? [] : entriesOf(inner, depth - 1),
  )
}

export const deepestList = 2
const deepestText = 3

const holdsText = (value: unknown, names: RegExp, depth: number): boolean =>
  Object.entries(recordOf(value) ?? {}).some(
    ([name, inner]) =>
      (names.test(name) && wordOf(inner) !== undefined) ||
      (depth > 1 && !errorNames.has(name) && holdsText(inner, names, depth - 1)),
  )

/** Whether an answer brings anything of what was asked for; entries that failed are nothing. */
function holdsContent(operation: PlainOperation, answer: unknown): boolean {
  const names = contentNames[operation]
  return (
    entriesOf(answer, deepestList).some((entry) => !errorOfEntry(entry)) ||
    (names !== undefined && holdsText(answer, names, deepestText))
  )
}

/** Whether an upstream said 200 and gave nothing of what was asked for: such an answer is none, and is not charged. */
export const isEmptyAnswer = (operation: PlainOperation, answer: unknown): boolean =>
  (listing.has(operation) || operation === 'speech') && !holdsContent(operation, answer)

/** What an answer that brings nothing says instead, of itself or of its first entry. An empty transcript says nothing: it is of silence. */
export function failureOfEmpty(operation: PlainOperation, answer: unknown): UpstreamFailure | undefined {
  if (holdsContent(operation, answer)) return undefined
  const entries = entriesOf(answer, deepestList)
  return errorInEmpty(answer) ?? entries.map(errorOfEntry).find((failure) => failure !== undefined)
}

/** The images of an answer, and how many others say in it, as it came, that they failed. */
export function drawnIn(answer: unknown, json: unknown): { images: number; failed: number } {
  const entries = entriesOf(json, deepestList)
  const failed = entries.filter((entry) => errorOfEntry(entry) !== undefined).length
  const images = imagesIn(answer)
  // In its caller's own form it is counted by what came beside those.
  return { images: failed === 0 ? images : Math.max(images, entries.filter(isImage).length), failed }
}

/**
 * Every one of the answers, each beside what it is in OpenAI's form, brings something of what was asked for, unless only its usage says whether
 * it does.
 * @throws {UpstreamRefusal} what one says instead; {AttemptFailed} where it says nothing.
 */
export function checkAnswers(operation: PlainOperation, answers: readonly { json: unknown; given: unknown }[]): void {
  // Without an image nothing was drawn, and without a part of the vectors the others would stand in the wrong places.
  const mustHold = operation === 'images' || operation === 'image-edits' || answers.length > 1
  for (const { json, given } of answers) {
    if (holdsContent(operation, given)) continue
    const failure = failureOfEmpty(operation, json)
    if (failure) throw new UpstreamRefusal(failure)
    if (mustHold) throw malformed()
  }
}
