import { isDeepStrictEqual } from 'node:util'
import { DomainError } from '#core/errors.ts'
import type { ExpectedFields } from '#core/expected.ts'

type Fields = Readonly<Record<string, unknown>>

/**
 * Called while the record is locked. What stands there already as it is wanted was overtaken by nobody: it may be the same
 * change, sent again because its answer was lost.
 * @throws {DomainError} input.changed_meanwhile
 */
export function refuseOvertaken(now: Fields, wanted: Fields, expected: ExpectedFields = {}): void {
  const isOvertaken = Object.entries(expected).some(
    ([name, value]) => !isDeepStrictEqual(now[name], value) && !isDeepStrictEqual(now[name], wanted[name]),
  )
  if (isOvertaken) throw new DomainError('input.changed_meanwhile')
}
