/**
 * Whether the database could not do its part just now: it is away, going down, too slow, full or read-only. The same
 * question may well be answered a moment later. What the database refuses for the question's own sake is not meant.
 */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = 'code' in error ? error.code : undefined
  // What ends the connection is never about the question.
  if ('severity' in error && (error.severity === 'FATAL' || error.severity === 'PANIC')) return true
  return (typeof code === 'string' && unavailableCode.test(code)) || unavailableMessage.test(error.message)
}

/** Classes of SQLSTATE, the few single codes that belong with them, and the system's own names of broken connections. */
const unavailableCode =
  /^(?:08...|53...|57P0.|57014|55P03|40001|40P01|25006|58...|ECONN(?:REFUSED|RESET|ABORTED)|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)$/

/** What the client library says without a code. */
const unavailableMessage =
  /^(?:Connection terminated|Client has encountered a connection error|timeout exceeded when trying to connect|timeout expired|Query read timeout|connect E)/

/** The connection broke, or none could be made: the database may have answered everybody else. */
export const isConnectionLost = (error: unknown): boolean =>
  error instanceof Error &&
  isDatabaseUnavailable(error) &&
  (('severity' in error && error.severity !== 'ERROR') ||
    lostCode.test(codeOf(error)) ||
    lostMessage.test(error.message))

const lostCode = /^(?:08|57P0|E)/
const lostMessage = /^(?:Connection terminated|Client has encountered a connection error)/

const codeOf = (error: Error): string => ('code' in error && typeof error.code === 'string' ? error.code : '')

/** Another transaction holds what this one wants: the fault of a few rows, not of the database. */
export const isLockTimeout = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === '55P03'

/** The caller's text holds a character that no column can: NUL, or half a character. */
export const isUnstorableText = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === unstorableTextCode

export const unstorableTextCode = '22021'

/** Why nothing can be written although the database answers: somebody has to see to it. */
export const whyReadOnly = (error: unknown): 'full' | 'read_only' | undefined => {
  const code = error instanceof Error ? codeOf(error) : ''
  return code === '53100' ? 'full' : code === '25006' ? 'read_only' : undefined
}
