import { AuditEntry } from '#db/entities/audit-entry.ts'
import type { Actor, Deps } from '../deps.ts'

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

export type AuditDeps = Pick<Deps, 'em'> & {
  actor: Pick<Actor, 'id' | 'username'> | null
  client: Pick<Deps['client'], 'ip'>
}

/**
 * Writes down who did what. Call it inside the transaction of the act itself (`deps.em` is that transaction's), so that
 * neither stands without the other.
 */
export const recordAct = (deps: AuditDeps, act: Act): Promise<void> => recordActs(deps, [act])

/** One entry for each thing that an act on many changed, so that each is found by its own name. */
export async function recordActs({ em, actor, client }: AuditDeps, acts: readonly Act[]): Promise<void> {
  if (acts.length === 0) return
  await em.insertMany(
    AuditEntry,
    acts.map((act) => ({
      actorId: actor?.id ?? 0,
      actorName: actor?.username ?? '',
      action: act.action,
      targetType: act.targetType,
      targetId: String(act.targetId),
      targetName: act.targetName ?? '',
      before: act.before ?? null,
      after: act.after ?? null,
      reason: act.reason ?? '',
      clientIp: client.ip,
    })),
  )
}
