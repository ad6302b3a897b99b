import { z } from 'zod'
import { pageInput } from '#core/paging.ts'

const word = z.string().max(255)
const id = z.int().min(0).max(2_147_483_647)

/** What an owner may ask of the own log. Absent and empty filter nothing. */
export const ownLogFilters = z.object({
  /** 0: every type. */
  type: z.int().min(0).max(6).default(0),
  tokenName: word.default(''),
  tokenId: id.default(0),
  /** Exact; a `%` stands for anything. */
  modelName: word.default(''),
  group: word.default(''),
  requestId: word.default(''),
  /** Both included. */
  start: z.date().optional(),
  end: z.date().optional(),
})
export type OwnLogFilters = z.infer<typeof ownLogFilters>

/** An administrator's: whose, through which channel. */
export const logFilters = ownLogFilters.extend({
  username: word.default(''),
  userId: id.default(0),
  channelId: id.default(0),
})
export type LogFilters = z.infer<typeof logFilters>

const paging = pageInput.extend({
  /** From the page before, to go on where counting pages would be slow. */
  cursor: z.string().max(500).optional(),
})
export const listOwnLogs = ownLogFilters.extend(paging.shape)
export const listLogs = logFilters.extend(paging.shape)
export type ListLogs = z.infer<typeof paging>

export const searchLogs = z.object({ keyword: z.string().trim().max(255) })
export const logsByKey = z.object({ key: z.string().trim().max(255) })
export const ownLogByRequest = z.object({ requestId: z.string().min(1).max(255) })
export const oneLog = z.union([ownLogByRequest, z.object({ id: z.int().min(1) })])
export type OneLog = z.infer<typeof oneLog>

export const clearLogs = z.object({ before: z.date().optional() })
