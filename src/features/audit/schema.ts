import { z } from 'zod'
import { instant } from '#core/instant.ts'
import { largestPageSize } from '#core/page-sizes.ts'

const word = z
  .string()
  .trim()
  .max(200)
  .regex(/^[^\0]*$/)
const entryId = z.int().min(1).max(Number.MAX_SAFE_INTEGER)

/** Absent and empty filter nothing. */
export const listEntries = z.object({
  /** 0: whoever. */
  actorId: z.int().min(0).max(2_147_483_647).default(0),
  action: word.default(''),
  targetType: word.default(''),
  targetId: word.default(''),
  /** Part of the name of who acted or of what was acted on, or of the reason; or the target's id. */
  keyword: word.default(''),
  /** Both included. */
  start: instant().optional(),
  end: instant().optional(),
  /** Entries older than this one, or newer than that one; neither gives the newest. */
  before: entryId.optional(),
  after: entryId.optional(),
  pageSize: z.int().min(1).max(largestPageSize).default(20),
})
export type ListEntries = z.infer<typeof listEntries>

export const byEntryId = z.object({ id: entryId })
