import { parseJson } from '#core/exact-json.ts'
import type { UpstreamFailure } from '#relay/chat/events.ts'
import { isEmptyValue } from '#relay/chat/json.ts'
import { type Json, listOf, recordOf, wordOf } from './json.ts'

const longestMessage = 4000

const defaultsOf = (status: number): UpstreamFailure => ({
  status,
  type: 'upstream_error',
  code: 'bad_response_status_code',
  message: `upstream status ${status}`,
  param: String(status),
})

const codeOf = (value: unknown): string | number | null | undefined =>
  typeof value === 'string' || typeof value === 'number' ? value : undefined

const cut = (message: string): string => (message.length > longestMessage ? message.slice(0, longestMessage) : message)

/** The first message of an error body that keeps none under `error.message`. */
function looseMessage(body: Json): string | undefined {
  const nested = (...path: string[]): unknown =>
    path.reduce<unknown>((value, name) => recordOf(value)?.[name], body as unknown)
  const found = [
    body['message'],
    body['msg'],
    body['err'],
    body['error_msg'],
    body['error'],
    nested('header', 'message'),
    nested('response', 'error', 'message'),
    nested('Response', 'Error', 'Message'),
    body['detail'],
    nested('message', 'detail'),
    recordOf(listOf(nested('message', 'detail'))[0])?.['msg'],
    recordOf(listOf(body['errors'])[0])?.['message'],
    listOf(body['errors'])[0],
    body['errors'],
    recordOf(listOf(body['detail'])[0])?.['msg'],
    nested('base_resp', 'status_msg'),
  ]
  for (const candidate of found) {
    const message = wordOf(candidate)
    if (message !== undefined) return message
  }
  return undefined
}

/**
 * Kimi's coding plan refuses the next call of a busy key so, with 403 and `permission_error`, as if the key were of no use:
 * https://github.com/Wei-Shaw/sub2api/issues/6955.
 */
const saysKeyIsBusy = /concurrent request limit/i

/** What a failed answer says, from its JSON; an answer in a list counts by its first entry. */
export function failureOf(status: number, json: unknown): UpstreamFailure {
  const failure = readFields(status, json)
  const isBusy = failure.status === 403 && saysKeyIsBusy.test(failure.message)
  return isBusy ? { ...failure, status: 429, type: 'rate_limit_error' } : failure
}

function readFields(status: number, json: unknown): UpstreamFailure {
  const failure = defaultsOf(status)
  const body = recordOf(Array.isArray(json) ? json[0] : json)
  if (!body) return failure
  const error = recordOf(body['error'])
  const message = wordOf(error?.['message'])
  if (error && message !== undefined) {
    return {
      status,
      type: wordOf(error['type']) ?? wordOf(error['status']) ?? failure.type,
      code: codeOf(error['code']) ?? null,
      message: cut(message),
      param: wordOf(error['param']) ?? null,
    }
  }
  const loose = looseMessage(body)
  const code = codeOf(body['code']) ?? codeOf(body['error_code']) ?? codeOf(error?.['code'])
  return {
    ...failure,
    message: cut(loose ?? failure.message),
    ...(loose !== undefined && code !== undefined && code !== '' ? { code } : {}),
    type: wordOf(error?.['type']) ?? failure.type,
  }
}

/** An error reply as text. Anything but JSON, such as a login page, is not shown to callers. */
export function readFailure(status: number, body: string): UpstreamFailure {
  try {
    return failureOf(status, parseJson(body))
  } catch {
    return defaultsOf(status)
  }
}

/** Words of vendors' error types and codes that say which status an error inside a 2xx answer would have had. */
const statusWords: readonly [RegExp, number][] = [
  [/invalid_api_key|authentication|unauthori|UNAUTHENTICATED|invalid_token/i, 401],
  [/insufficient_(quota|balance|credits)|billing|payment|arrearage/i, 402],
  [/permission|forbidden|PERMISSION_DENIED/i, 403],
  [/(?<!image_file_)not_found/i, 404],
  [/too_large/i, 413],
  [/rate_?limit|too_many|throttl|RESOURCE_EXHAUSTED/i, 429],
  [/overloaded|unavailable|slow_down/i, 503],
  [/timeout|DEADLINE_EXCEEDED/i, 504],
  [
    /invalid_request|invalid_param|INVALID_ARGUMENT|content_filter|context_length|bad_request|user_error|moderation_blocked/i,
    400,
  ],
  // What is wrong with a prompt or an image, or forbidden in it, by the codes of OpenAI's failed responses.
  [
    /invalid_(prompt|image|base64)|_policy(_violation)?\b|data_residency|image_(parse|too_small|file_not_found)|unsupported_image|empty_image|failed_to_download/i,
    400,
  ],
]

/** The HTTP status an error has that came without one: its own number, else what its words say, else 500. */
export function statusOfError(error: Json): number {
  for (const name of ['status', 'code', 'status_code', 'http_code']) {
    const number = Number(error[name])
    if (Number.isInteger(number) && number >= 400 && number <= 599) return number
  }
  const words = `${wordOf(error['type']) ?? ''} ${wordOf(error['code']) ?? ''} ${wordOf(error['status']) ?? ''}`
  return statusWords.find(([pattern]) => pattern.test(words))?.[1] ?? 500
}

/** What an error says that an answer, an event or a result has. */
export const failureOfError = (error: Json): UpstreamFailure => failureOf(statusOfError(error), { error })

/** All that may stand in a body that is an error and nothing else. */
const errorFields: ReadonlySet<string> = new Set(
  [
    'object type __type title success code error_code param instance path timestamp request_id requestId trace_id',
    'status status_code statusCode statusText http_code message msg error_msg detail details error errors messages',
  ].flatMap((names) => names.split(' ')),
)

/** Codes, states and messages with which vendors say that all went well. */
const goodCode = /^(0+|2\d\d|20+|ok|true|success\w*|succeeded|completed)$/i

export const isGood = (code: unknown): boolean =>
  ['string', 'number', 'boolean'].includes(typeof code) && goodCode.test(String(code))

const isBad = (status: unknown): boolean => Number(status) >= 400 || /^(error|fail)/i.test(wordOf(status) ?? '')

/**
 * An error that does not name itself so: what went wrong, and nothing of an answer beside it. Its fields alone say little, for
 * answers have a `message`, a `code` or a `detail` too.
 */
function bareRefusal(body: Json): UpstreamFailure | undefined {
  const message = body['message'] ?? body['msg'] ?? body['error_msg']
  const { detail, errors } = body
  if (isEmptyValue(message) && isEmptyValue(detail) && isEmptyValue(errors)) return undefined
  if (!Object.entries(body).every(([name, value]) => errorFields.has(name) || isEmptyValue(value))) return undefined
  const { object, success, status } = body
  const code = body['code'] ?? body['error_code']
  if (success === true || (isGood(message) && isEmptyValue(errors))) return undefined
  const isError =
    object === 'error' ||
    success === false ||
    !isEmptyValue(errors) ||
    (!isEmptyValue(code) && !isGood(code)) ||
    [status, body['status_code'], body['statusCode'], body['http_code']].some(isBad) ||
    [body['type'], body['__type']].some((type) => /(error|exception)$/i.test(wordOf(type) ?? '')) ||
    (isEmptyValue(message) && isEmptyValue(status) && isEmptyValue(code))
  return isError ? failureOf(statusOfError(recordOf(listOf(errors)[0]) ?? body), body) : undefined
}

/** The failure a 2xx body or a stream event reports, if it does: in a truthy `error`, or as all that it has. */
export function refusalOf(body: Json): UpstreamFailure | undefined {
  const error = body['error']
  if (error === undefined || error === null || error === false || error === '') return bareRefusal(body)
  const record = recordOf(error)
  if (record && Object.keys(record).length === 0) return undefined
  return failureOf(statusOfError(record ?? body), body)
}
