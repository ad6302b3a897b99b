import type { DomainError, Language } from '#core/errors.ts'
import { drawingError } from './dialects/drawing/error.ts'
import { musicError } from './dialects/music/error.ts'
import { callerError, failureOfDomainError } from './attempt/failure.ts'
import { withoutAlias } from './request/authenticate.ts'
import { chatPaths, dialectOfPath, relayBases } from './routes.ts'
import { drawingBases, taskBases } from './tasks/routes.ts'

const isBelow = (path: string, bases: readonly string[]): boolean =>
  bases.some((base) => path === base || path.startsWith(`${base}/`))

/** The body of a refusal of what could not be read as a call, in the form of the path; null for a path of no program. */
export function refusalOfPath(path: string, error: DomainError, language: Language): unknown {
  const refusal = callerError(failureOfDomainError(error), { id: '', language })
  const { status, message, code } = refusal
  if (isBelow(path, drawingBases)) {
    return drawingError({ status, description: message, common: { message, code } }).body
  }
  if (isBelow(path, taskBases)) return musicError({ status, code: error.code, message, isCommon: true }).body
  if (!isBelow(path, [...relayBases, '/rerank', '/dashboard/billing', '/pg'])) return null
  const dialect = chatPaths.find((known) => known.path === withoutAlias(path))?.dialect ?? dialectOfPath(path)
  return dialect.error(refusal).body
}
