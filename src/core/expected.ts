import { z } from 'zod'

/**
 * What stood in fields of a record where a change of it began, by their names. Where something else stands there by now the
 * change is refused, so that it puts nothing back unseen. Absent: whatever stands there.
 */
export const expectedFields = z.record(z.string().max(64), z.unknown()).optional()
export type ExpectedFields = z.infer<typeof expectedFields>
