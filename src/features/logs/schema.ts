import { z } from 'zod'
import { anyId, anyWord } from '#core/filter-values.ts'
import { instant } from '#core/instant.ts'
import { pageInput, pageSizeUpTo } from '#core/paging.ts'

const word = z.string().max(255)

/** How a request ended. */
const outcomes = ['success', 'interrupted', 'failed'] as const

const milliseconds = z.int().min(0).max(2_147_483_647)
const quota = z.int().min(0)

/** What an owner may ask of the own log. Absent and empty filter nothing. */
const ownLogFilters = z.object({
  /** 0: every type. */
  type: anyId.pipe(z.array(z.int().max(6))),
  tokenName: anyWord,
  tokenId: anyId,
  /** Exact; a `%` stands for anything. */
  modelName: anyWord,
  group: anyWord,
  requestId: word.default(''),
  /** As agents and programs name theirs. */
  session: word.default(''),
  /** The same of an agent that shares a session with others, and of what is worked on. */
  agent: anyWord,
  project: anyWord,
  outcome: z.array(z.enum(outcomes)).default([]),
  /** How long the call took, and what it cost; both ends included. */
  minMs: milliseconds.optional(),
  maxMs: milliseconds.optional(),
  minQuota: quota.optional(),
  maxQuota: quota.optional(),
  /** Both included. */
  start: instant().optional(),
  end: instant().optional(),
})
export type OwnLogFilters = z.infer<typeof ownLogFilters>

/** An administrator's: whose, through which channel. */
export const logFilters = ownLogFilters.extend({
  username: anyWord,
  userId: anyId,
  channelId: anyId,
  channelName: anyWord,
})
export type LogFilters = z.infer<typeof logFilters>

/** Rows show their owner the number of a channel, not its name. */
export const ownLogStat = ownLogFilters.extend({ channelId: anyId })
export type OwnLogStat = z.infer<typeof ownLogStat>

/** By what calls are summed up. */
export const summedBy = ['session', 'agent', 'project'] as const

const by = z.object({ by: z.enum(summedBy) })
export const sumOwnLogs = ownLogFilters.extend(by.shape)
export const sumLogs = logFilters.extend(by.shape)

/** An export asks for much at once, and so do programs that take a page that is not full for the last one. */
export const largestLogPage = 1000

const paging = pageInput.extend({
  pageSize: pageSizeUpTo(largestLogPage),
  /** From the page before, to go on where counting pages would be slow. */
  cursor: z.string().max(500).optional(),
  /** Of the documented paths, which know no cursor: pages go on to the last row. */
  isDocumented: z.boolean().default(false),
  /** Newest first where nothing is said; a cursor goes with that order alone. */
  sort: z.enum(['useTime', 'quota', 'promptTokens', 'completionTokens']).optional(),
  order: z.enum(['asc', 'desc']).default('desc'),
})
export const listOwnLogs = ownLogFilters.extend(paging.shape)
export const listLogs = logFilters.extend(paging.shape)
export type ListLogs = z.infer<typeof paging>

export const searchLogs = z.object({ keyword: z.string().trim().max(255) })
export const logsByKey = z.object({ key: z.string().trim().max(255), page: pageInput.shape.page })
export type LogsByKey = z.infer<typeof logsByKey>
export const ownLogByRequest = z.object({ requestId: z.string().min(1).max(255) })
export const oneLog = z.union([ownLogByRequest, z.object({ id: z.int().min(1) })])
export type OneLog = z.infer<typeof oneLog>

/** What a filter may be set to, by how it begins or what it holds. */
export const suggestOwn = z.object({ field: z.enum(['model', 'token']), text: z.string().trim().max(100) })
export const suggest = z.object({
  field: z.enum(['model', 'token', 'user', 'channel']),
  text: z.string().trim().max(100),
})
export type Suggest = z.infer<typeof suggest>

export const clearLogs = z.object({ before: instant().optional() })
