import { t, fill, translatedError } from '../i18n/t.ts'

/** What a refused call carries over tRPC. */
type RefusalData = {
  httpStatus?: number
  domainCode?: string
  params?: Readonly<Record<string, string | number>>
  fields?: Readonly<Record<string, string>>
  requestId?: string
}

function dataOf(error: unknown): RefusalData | undefined {
  if (typeof error !== 'object' || error === null) return undefined
  if ('data' in error && typeof error.data === 'object' && error.data !== null) return error.data as RefusalData
  return 'cause' in error ? dataOf(error.cause) : undefined
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

export const isUnauthenticated = (error: unknown): boolean => dataOf(error)?.httpStatus === 401

/** The name of the refusal in the error catalogue, for code that treats one of them apart. */
export const refusalCode = (error: unknown): string | undefined => dataOf(error)?.domainCode

export const requestIdOf = (error: unknown): string | undefined => dataOf(error)?.requestId || undefined

/** Fields the server refused, by their names in the form. */
export const refusedFields = (error: unknown): Readonly<Record<string, string>> => dataOf(error)?.fields ?? {}

const passing = new Set([502, 503, 504])

/** An answer that is not the product's own: of its limit, which says nothing, or of what stands in front of it. */
export function unreadAnswer(httpStatus: number): Error {
  const message =
    httpStatus === 429
      ? t('请求次数过多，请稍后再试！')
      : passing.has(httpStatus)
        ? t('无法连接到服务器')
        : httpStatus >= 500
          ? t('服务器内部错误，请联系管理员！（HTTP {status}）', { status: httpStatus })
          : `HTTP ${httpStatus}`
  return Object.assign(new Error(message), { data: { httpStatus } satisfies RefusalData })
}

/** Only what may be different next time is asked again by itself. */
export function mayRetry(error: unknown): boolean {
  const status = dataOf(error)?.httpStatus
  return status === undefined || passing.has(status)
}

/** `fetch` throws the same kind of error as a mistake in the page does; only its words tell them apart. */
const isOfNetwork = (error: unknown): boolean =>
  error instanceof TypeError && /fetch|network|load failed/i.test(error.message)

export const isUnreachable = (error: unknown): boolean =>
  isOfNetwork(error) || (error instanceof Error && isOfNetwork(error.cause))

/** Failures of the call itself; a refusal says by itself what it is about. */
const ofTheCall = new Set<string | undefined>(['rate_limited', 'internal', undefined])

/** What happened, in the reader's language. */
export function errorText(error: unknown): string {
  const data = dataOf(error)
  if (data === undefined) return isUnreachable(error) ? t('无法连接到服务器') : messageOf(error)
  const english = data.domainCode === undefined ? undefined : translatedError(data.domainCode)
  const message = english === undefined ? messageOf(error) : fill(english, data.params)
  return ofTheCall.has(data.domainCode) ? t('错误：{message}', { message }) : message
}
