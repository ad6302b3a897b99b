import { parseJson } from '#core/exact-json.ts'
import { AuditEntry } from '#db/entities/audit-entry.ts'
import { storableJson } from '#core/storable-json.ts'
import { storableText } from '#core/storable-text.ts'
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

/** An act on what somebody cut in the middle of a character is no reason to refuse it. */
const storable = (fields: Act['before']): Record<string, unknown> | null =>
  fields ? (parseJson(storableJson(JSON.stringify(fields))) as Record<string, unknown>) : null

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
      targetName: storableText(act.targetName ?? ''),
      before: storable(act.before),
      after: storable(act.after),
      reason: storableText(act.reason ?? ''),
      clientIp: client.ip,
    })),
  )
}
