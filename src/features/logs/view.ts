import { expandOther } from '#core/log-other.ts'
import { roles } from '#core/roles.ts'
import { logType } from '#core/statuses.ts'
import type { LogOther } from '#db/entities/log.ts'

/** A row of the log as the database gives it, with the name of its channel. */
export type LogRow = {
  id: string
  created_at: Date
  user_id: number
  type: number
  content: string
  username: string
  token_name: string
  token_id: number
  model_name: string
  quota: string
  prompt_tokens: number
  completion_tokens: number
  use_time_ms: number
  is_stream: boolean
  channel_id: number
  channel_name: string | null
  group: string
  client_ip: string
  request_id: string
  other: LogOther | null
  cost: string | null
}

/**
 * Which channels a call went through is the operator's business; so is what a channel failed with, and the system prompt of a
 * channel, which a row may have that does not say that it is the caller's own.
 */
function otherForUsers(row: LogRow, other: LogOther): LogOther {
  const { admin_info: _, own_system_prompt: isOwn, ...rest } = other
  const shown = isOwn === true ? rest : withoutSystemPrompt(rest)
  if (row.type !== logType.error) return shown
  const { channel_id: _id, channel_name: _name, channel_type: _type, ...failure } = shown
  return failure
}

/** Of a call that nobody said anything else in, it is the input as well. */
function withoutSystemPrompt(other: LogOther): LogOther {
  const { system_prompt: _, ...shown } = other
  const { role } = Object(other['input_content']) as { role?: unknown }
  return role === 'system' ? { ...shown, input_content: '' } : shown
}

/** `number` stands for the id where the reader is an ordinary user, who has no use for how many rows there are. */
export function toLogView(row: LogRow, viewer: { role: number; number: number }) {
  const isAdmin = viewer.role >= roles.admin
  const other = row.other && expandOther(row.other, row.model_name)
  return {
    id: isAdmin ? Number(row.id) : viewer.number,
    createdAt: row.created_at,
    userId: row.user_id,
    type: row.type,
    content: row.content,
    username: row.username,
    tokenName: row.token_name,
    tokenId: row.token_id,
    modelName: row.model_name,
    quota: Number(row.quota),
    promptTokens: row.prompt_tokens,
    completionTokens: row.completion_tokens,
    useTimeMs: row.use_time_ms,
    isStream: row.is_stream,
    channelId: row.channel_id,
    channelName: isAdmin ? (row.channel_name ?? '') : '',
    group: row.group,
    clientIp: row.client_ip,
    requestId: row.request_id,
    other: isAdmin ? other : other && otherForUsers(row, other),
    /** Billionths of a dollar that the operator paid; only administrators see it. */
    ...(isAdmin ? { cost: row.cost === null ? null : Number(row.cost) } : {}),
  }
}

export type LogView = ReturnType<typeof toLogView>
