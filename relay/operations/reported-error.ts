import type { UpstreamFailure } from '#relay/chat/events.ts'
import { failureOf, isGood, refusalOf, statusOfError } from '#relay/providers/shared/failures.ts'
import { type Json, listOf, recordOf, recordsOf, wordOf } from '#relay/providers/shared/json.ts'

const isBad = (value: unknown): boolean => (typeof value === 'number' || wordOf(value) !== undefined) && !isGood(value)

const messageOf = (body: Json): string | undefined => wordOf(body['message']) ?? wordOf(body['msg'])

const hasEntries = (value: unknown): boolean =>
  wordOf(value) !== undefined || listOf(value).length > 0 || Object.keys(recordOf(value) ?? {}).length > 0

/** The shapes of errors that have no `error`. They say nothing of an answer that brings what was asked for. */
function isRefused(body: Json): boolean {
  const { code, success, status } = body
  return (
    ['errors', 'detail', 'err', 'error_msg', 'error_message'].some((name) => hasEntries(body[name])) ||
    success === false ||
    isBad(body['error_code']) ||
    isBad(recordOf(body['base_resp'])?.['status_code']) ||
    isBad(recordOf(body['header'])?.['code']) ||
    hasEntries(recordOf(body['Response'])?.['Error']) ||
    (isBad(messageOf(body)) && (isBad(code) || (typeof status === 'number' && status >= 400))) ||
    status === 'error'
  )
}

const asFailure = (body: Json): UpstreamFailure => failureOf(statusOfError(recordsOf(body['errors'])[0] ?? body), body)

/** The failure that an answer, an entry of one or an event reports, in any of the shapes that vendors have for it. */
export const errorIn = (body: Json): UpstreamFailure | undefined =>
  refusalOf(body) ?? (isRefused(body) ? asFailure(body) : undefined)

/** The same of an answer that brings nothing: there a message alone is an error too, unless it comes with good news. */
export function errorInEmpty(answer: unknown): UpstreamFailure | undefined {
  const body = recordOf(Array.isArray(answer) ? answer[0] : answer)
  if (!body) return undefined
  const found = errorIn(body)
  if (found) return found
  const isPraised = ['code', 'status', 'success'].some((name) => isGood(body[name]))
  return isBad(messageOf(body)) && !isPraised ? asFailure(body) : undefined
}

/** The failure that an event reports whose name says it already, whatever else it says. */
export const errorOfFailed = (body: Json): UpstreamFailure => errorIn(body) ?? asFailure(body)
