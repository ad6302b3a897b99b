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
    ([name, value]) => !isSame(now[name], value) && !isSame(now[name], wanted[name]),
  )
  if (isOvertaken) throw new DomainError('input.changed_meanwhile')
}

/** Rows that belong to a record, as its spend caps, stand in the order in which they were made, not in that of a save. */
const isSame = (left: unknown, right: unknown): boolean =>
  isDeepStrictEqual(left, right) ||
  (areRows(left) &&
    areRows(right) &&
    left.length === right.length &&
    left.every((row) => right.some((other) => isDeepStrictEqual(row, other))))

const areRows = (value: unknown): value is object[] =>
  Array.isArray(value) && value.every((row) => typeof row === 'object' && row !== null)
