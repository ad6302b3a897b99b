import { parseJson } from '#core/exact-json.ts'
import { maskJson, maskSecrets } from '#core/masking/mask-secrets.ts'
import { hidesFailures } from '#core/options/hides-failures.ts'
import { type Json, recordOf, tryRecord, wordOf } from '#relay/providers/shared/json.ts'
import { isPlainName, shownError } from '#relay/attempt/shape-failure.ts'
import { attemptSecrets } from '#relay/attempt/upstream-channel.ts'
import type { UpstreamFailure } from '#relay/chat/events.ts'
import { deepestList, errorNames, errorOfEntry, filteredReason, listing } from './empty-answer.ts'
import { errorIn } from './reported-error.ts'
import { formatSseEvent } from '#relay/transport/sse.ts'
import type { Try } from './send.ts'
import type { FailedEvent } from './stream-events.ts'

/** The error that stands in the place of the upstream's words where those are hidden. */
function hiddenError(current: Try, failure: UpstreamFailure): unknown {
  const { services, call, attempt, providerCall } = current
  const shown = shownError(services, { place: attempt, token: providerCall.token, reader: call }, failure)
  return recordOf(call.dialect.error(shown).body)?.['error']
}

/**
 * A failed event as its caller may read it: without the secrets of the channel, or, where upstreams' words are hidden, with what stands in
 * their place. What has no secret in it stays as it came.
 */
export function shownEvent(current: Try, event: FailedEvent): Uint8Array {
  const secrets = attemptSecrets(current.attempt, current.providerCall)
  const body = tryRecord(event.data)
  if (hidesFailures(current.services)) {
    const type = wordOf(body?.['type']) ?? ''
    const index = body?.['image_index']
    const fields = {
      ...(isPlainName(type) ? { type } : {}),
      ...(typeof index === 'number' ? { image_index: index } : {}),
      error: hiddenError(current, event.failure),
    }
    const name = isPlainName(event.name) ? event.name : undefined
    return Buffer.from(formatSseEvent({ event: name, data: JSON.stringify(fields) }))
  }
  // Written anew a secret has no escapes in it by which it would be missed.
  const plain = body ? JSON.stringify(parseJson(event.data)) : event.data
  const masked = body ? maskJson(plain, secrets) : maskSecrets(plain, secrets)
  const text = Buffer.from(event.bytes).toString('utf8')
  if (masked === plain && maskSecrets(text, secrets) === text) return event.bytes
  const name = event.name === '' ? undefined : maskSecrets(event.name, secrets)
  return Buffer.from(formatSseEvent({ event: name, data: masked }))
}

/** What an entry of a list may bring, which is no word about a failure. */
const entryNames = new Set([
  'b64_json',
  'bytesBase64Encoded',
  'embedding',
  'index',
  'mimeType',
  'object',
  'revised_prompt',
  'size',
  'url',
])

/** Of vectors and scores there are thousands. */
const isOther = (row: Json): boolean =>
  row['error'] === undefined && (row['embedding'] !== undefined || row['relevance_score'] !== undefined)

function shownRow(current: Try, row: unknown): unknown {
  const record = recordOf(row)
  if (!record || isOther(record)) return row
  const failure = errorOfEntry(record) ?? errorIn(record)
  if (!failure) return row
  const content = Object.entries(record).filter(([name]) => entryNames.has(name))
  if (hidesFailures(current.services)) return { ...Object.fromEntries(content), ...hiddenRow(current, record, failure) }
  const others = Object.entries(record).filter(([name]) => !entryNames.has(name))
  const plain = JSON.stringify(Object.fromEntries(others))
  const masked = maskJson(plain, attemptSecrets(current.attempt, current.providerCall))
  return masked === plain ? row : { ...Object.fromEntries(content), ...recordOf(parseJson(masked)) }
}

/** In the place in which its caller looks for it. */
function hiddenRow(current: Try, record: Json, failure: UpstreamFailure): Json {
  const error = hiddenError(current, failure)
  return record[filteredReason] === undefined ? { error } : { [filteredReason]: recordOf(error)?.['message'] }
}

function shownLists(current: Try, value: unknown, depth: number): unknown {
  if (Array.isArray(value)) {
    const rows = value.map((row: unknown) => shownRow(current, row))
    return rows.every((row, index) => row === value[index]) ? value : rows
  }
  const record = depth > 0 ? recordOf(value) : undefined
  if (!record) return value
  const fields = Object.entries(record).map(
    ([name, inner]) => [name, errorNames.has(name) ? inner : shownLists(current, inner, depth - 1)] as const,
  )
  return fields.every(([name, inner]) => inner === record[name]) ? value : Object.fromEntries(fields)
}

/** Entries of an answer beside which others came may say that they failed: their errors are shown as any other of an upstream. */
export const withShownErrors = (current: Try, answer: unknown): unknown =>
  listing.has(current.call.asked.operation) ? shownLists(current, answer, deepestList) : answer
