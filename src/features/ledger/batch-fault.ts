import { isDatabaseUnavailable, isLockTimeout } from '#core/database-errors.ts'

/**
 * What a batch that failed failed for: what one of its items says, a row that somebody keeps locked, its size (the statement
 * took too long), or nothing of its own.
 */
export type BatchFault = 'item' | 'lock' | 'slow' | 'all'

const codeOf = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string' ? error.code : ''

/** Classes of SQLSTATE that say that no item can be booked: unsupported, or the schema and its permissions are not ours. */
const schemaFault = /^(?:0A|3D|3F|42)/

export function batchFaultOf(error: unknown): BatchFault {
  const code = codeOf(error)
  if (isLockTimeout(error)) return 'lock'
  if (code === '57014') return 'slow'
  if (isDatabaseUnavailable(error) || !/^[0-9A-Z]{5}$/.test(code) || schemaFault.test(code)) return 'all'
  return 'item'
}

/** The database said that it did nothing, so nothing of this statement can happen later. */
export const isKnownRefusal = (error: unknown): boolean =>
  /^[0-9A-Z]{5}$/.test(codeOf(error)) && (isLockTimeout(error) || !isDatabaseUnavailable(error))
