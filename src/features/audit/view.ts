/** An entry as the database gives it. */
export type EntryRow = {
  id: string
  actor_id: number
  actor_name: string
  action: string
  target_type: string
  target_id: string
  target_name: string
  before: Record<string, unknown> | null
  after: Record<string, unknown> | null
  reason: string
  client_ip: string
  created_at: Date
}

export const toEntryView = (row: EntryRow) => ({
  id: Number(row.id),
  actorId: row.actor_id,
  actorName: row.actor_name,
  action: row.action,
  targetType: row.target_type,
  targetId: row.target_id,
  targetName: row.target_name,
  before: row.before,
  after: row.after,
  reason: row.reason,
  clientIp: row.client_ip,
  createdAt: row.created_at,
})

export type EntryView = ReturnType<typeof toEntryView>
