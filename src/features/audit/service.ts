import { AuditEntry } from '#db/entities/audit-entry.ts'
import type { Deps } from '../deps.ts'

export type Act = {
  /** The feature and what was done: `users.disable`, `redemptions.create`. */
  action: string
  targetType: string
  targetId: number | string
  targetName?: string
  /** Only the fields that changed, as they were and as they are. A secret is named by `true`, never by its value. */
  before?: Record<string, unknown>
  after?: Record<string, unknown>
  reason?: string
}

/**
 * Writes down who did what. Call it inside the transaction of the act itself (`deps.em` is that transaction's), so that
 * neither stands without the other.
 */
export async function recordAct(deps: Pick<Deps, 'em' | 'actor' | 'client'>, act: Act): Promise<void> {
  await deps.em.insert(AuditEntry, {
    actorId: deps.actor?.id ?? 0,
    actorName: deps.actor?.username ?? '',
    action: act.action,
    targetType: act.targetType,
    targetId: String(act.targetId),
    targetName: act.targetName ?? '',
    before: act.before ?? null,
    after: act.after ?? null,
    reason: act.reason ?? '',
    clientIp: deps.client.ip,
  })
}
