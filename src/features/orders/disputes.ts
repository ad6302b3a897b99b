import type { EntityManager } from '@mikro-orm/postgresql'
import { TopUpOrder } from '#db/entities/top-up-order.ts'
import { TopUpOrderEvent } from '#db/entities/top-up-order-event.ts'
import { shownQuota } from '../ledger/shown-quota.ts'
import { type Bilingual, plainNotices } from '../notifications/notice.ts'
import type { NotifyDeps } from './after-credit.ts'
import { creditOrder, type Credited, noteEvent } from './ledger.ts'
import { type Restored, restoreOrder } from './reversal.ts'

const kinds = { open: 'disputed', won: 'dispute_won', lost: 'dispute_lost' } as const

type DisputeState = keyof typeof kinds

export type Dispute = {
  /** The gateway's own number of the dispute; a payment may be disputed several times. */
  id: string
  state: DisputeState
  reason: string
}

/** How far each dispute of an order is: of what was said of it, its end counts. */
function statesOf(events: readonly TopUpOrderEvent[], id: string): Map<string, DisputeState> {
  const states = new Map<string, DisputeState>()
  for (const { kind, detail } of events) {
    // Older events do not name theirs.
    const dispute = String(detail?.['dispute'] ?? id)
    const state = kind === kinds.won ? 'won' : kind === kinds.lost ? 'lost' : 'open'
    if (state !== 'open' || !states.has(dispute)) states.set(dispute, state)
  }
  return states
}

const heldBackKind = 'paid_disputed'

/** A payment is proven whose payer disputes it already: it is credited once every dispute of it is won. */
export async function heldBack(em: EntityManager, order: TopUpOrder, detail: Record<string, string>): Promise<void> {
  if (await proofOf(em, order)) return
  await noteEvent(em, order.id, { kind: heldBackKind, detail })
}

const proofOf = (em: EntityManager, { id }: TopUpOrder): Promise<TopUpOrderEvent | null> =>
  em.findOne(TopUpOrderEvent, { orderId: id, kind: heldBackKind }, { disableIdentityMap: true })

type Outcome = { notice: Bilingual; credited: Credited | null }

/**
 * The payer disputes the payment; `won` closes it in our favour. Once no dispute of a payment is open or lost, its order is paid
 * again: what an administrator has taken back meanwhile is given back, and a payment that was proven meanwhile is credited. The
 * order is locked. Resolves null for what was said before.
 */
export async function applyDispute(
  services: NotifyDeps & { em: EntityManager },
  order: TopUpOrder,
  { id, state, reason }: Dispute,
): Promise<Outcome | null> {
  const { em } = services
  const events = await em.find(
    TopUpOrderEvent,
    { orderId: order.id, kind: { $in: Object.values(kinds) } },
    { orderBy: { id: 'asc' }, disableIdentityMap: true },
  )
  const states = statesOf(events, id)
  const known = states.get(id)
  // Said before, or overtaken by its own end.
  if (known === state || (known !== undefined && known !== 'open')) return null
  states.set(id, state)
  const isOver = [...states.values()].every((each) => each === 'won')
  const status = isOver ? (order.paidAt ? 'paid' : 'pending') : 'disputed'
  if (order.status !== 'refunded') await em.nativeUpdate(TopUpOrder, { id: order.id }, { status })
  await noteEvent(em, order.id, { kind: kinds[state], detail: { reason, dispute: id } })
  const restored = isOver ? await restoreOrder(services, order) : null
  const credited = isOver ? await creditHeldBack(services, order) : null
  return { notice: disputeNotice(services, { tradeNo: order.tradeNo, restored, state, reason }), credited }
}

/** Credits a payment that was proven while its payer disputed it. */
async function creditHeldBack(
  services: NotifyDeps & { em: EntityManager },
  order: TopUpOrder,
): Promise<Credited | null> {
  if (order.paidAt || order.status === 'refunded') return null
  const proof = await proofOf(services.em, order)
  return proof && creditOrder(services, order, { note: { kind: 'paid', detail: proof.detail ?? {} } })
}

type Closing = { tradeNo: string; restored: Restored | null; state: DisputeState; reason: string }

/** What of a reversed order is there again. */
function restoredText(services: NotifyDeps, { quota, plan }: Restored): { zh: string; en: string } {
  const shown = shownQuota(services, quota)
  if (plan) return { zh: `，套餐「${plan}」已恢复`, en: ` The plan “${plan}” goes on.` }
  if (quota > 0) return { zh: `，已恢复额度 ${shown}`, en: ` ${shown} were credited again.` }
  return { zh: '，之前收回的套餐或额度不会恢复，请核对', en: ' What was taken back is not given again; please check.' }
}

function disputeNotice(services: NotifyDeps, { tradeNo, restored, state, reason }: Closing): Bilingual {
  const zh = { open: '被付款人拒付', won: '的拒付已撤销', lost: '的拒付已成立' }[state]
  const en = { open: 'is disputed by its payer', won: 'is disputed no more', lost: 'lost its dispute' }[state]
  const more = restored ? restoredText(services, restored) : { zh: '', en: '' }
  return plainNotices('payment_disputed', {
    zh: { title: '订单拒付', content: `订单 ${tradeNo} ${zh}${reason ? `，原因：${reason}` : ''}${more.zh}。` },
    en: {
      title: 'A payment is disputed',
      content: `Order ${tradeNo} ${en}${reason ? `, reason: ${reason}` : ''}.${more.en}`,
    },
  })
}
