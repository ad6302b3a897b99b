import type { EntityManager } from '@mikro-orm/postgresql'
import { moneyWithCurrency } from '#core/payment/money.ts'
import type { GatewayEvent } from '#db/entities/early-payment-event.ts'
import { TopUpOrder } from '#db/entities/top-up-order.ts'
import { TopUpOrderEvent } from '#db/entities/top-up-order-event.ts'
import { shownQuota } from '../ledger/shown-quota.ts'
import { type Bilingual, plainNotices } from '../notifications/notice.ts'
import type { NotifyDeps } from './after-credit.ts'
import { creditOrder, type Credited, noteEvent } from './ledger.ts'
import { type Restored, restoreOrder } from './reversal.ts'

const kinds = { open: 'disputed', won: 'dispute_won', lost: 'dispute_lost' } as const

/** What a gateway says of a dispute, under its own number of it: a payment may be disputed several times. */
export type Dispute = Omit<Extract<GatewayEvent, { kind: 'dispute' }>, 'kind'>

type Standing = { state: Dispute['state']; minor: number }

/** How far each dispute of an order is, and over how much: of what was said of it, its end counts. */
function standingsOf(order: TopUpOrder, events: readonly TopUpOrderEvent[], id: string): Map<string, Standing> {
  const standings = new Map<string, Standing>()
  for (const { kind, detail } of events) {
    // Older events do not name theirs, nor their money.
    const dispute = String(detail?.['dispute'] ?? id)
    const minor = Number(detail?.['minor'] ?? order.moneyMinor)
    const state = kind === kinds.won ? 'won' : kind === kinds.lost ? 'lost' : 'open'
    if (state !== 'open' || !standings.has(dispute)) standings.set(dispute, { state, minor })
  }
  return standings
}

/** In the smallest unit of the order's currency. A bank that counts in another one disputes all of it. */
const disputedOf = ({ moneyMinor, currency }: TopUpOrder, money: Dispute['money']): number =>
  money && money.currency === currency ? Math.min(money.minor, moneyMinor) : moneyMinor

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
 * The payer disputes the payment, or a part of it; `won` closes it in our favour, and what an administrator has taken back for
 * it is given back: of credit at once, while a plan has no parts and waits for the end of all. Once no dispute of a payment is
 * open or lost, its order is paid again, and a payment that was proven meanwhile is credited. The order is locked. Resolves null
 * for what was said before.
 */
export async function applyDispute(
  services: NotifyDeps & { em: EntityManager },
  order: TopUpOrder,
  { id, state, reason, money }: Dispute,
): Promise<Outcome | null> {
  const { em } = services
  const events = await em.find(
    TopUpOrderEvent,
    { orderId: order.id, kind: { $in: Object.values(kinds) } },
    { orderBy: { id: 'asc' }, disableIdentityMap: true },
  )
  const standings = standingsOf(order, events, id)
  const known = standings.get(id)?.state
  // Said before, or overtaken by its own end.
  if (known === state || (known !== undefined && known !== 'open')) return null
  const minor = disputedOf(order, money)
  standings.set(id, { state, minor })
  const lasting = [...standings.values()].filter((each) => each.state !== 'won')
  const isOver = lasting.length === 0
  if (order.status !== 'refunded') order.status = isOver ? (order.paidAt ? 'paid' : 'pending') : 'disputed'
  order.disputedMinor = lasting.reduce((sum, each) => sum + each.minor, 0)
  const { status, disputedMinor } = order
  await em.nativeUpdate(TopUpOrder, { id: order.id }, { status, disputedMinor })
  const text = moneyWithCurrency(minor, order.currency)
  await noteEvent(em, order.id, { kind: kinds[state], detail: { reason, dispute: id, minor, money: text } })
  const isDecided = lasting.every((each) => each.state === 'lost')
  const gives = order.plan ? isDecided : state === 'won'
  const restored = gives ? await restoreOrder(services, order) : null
  const credited = isOver ? await creditHeldBack(services, order) : null
  const part = minor < order.moneyMinor ? text : ''
  const isHeldBack = !order.paidAt && status === 'disputed'
  const more = restored
    ? restoredText(services, restored)
    : isHeldBack
      ? heldBackText[isDecided ? 'forGood' : 'yet']
      : { zh: '', en: '' }
  return { notice: disputeNotice({ tradeNo: order.tradeNo, more, state, reason, part }), credited }
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

type Closing = {
  tradeNo: string
  /** What comes of it. */
  more: { zh: string; en: string }
  state: Dispute['state']
  reason: string
  /** With its currency, where it is not all. */
  part: string
}

/** What of a reversed order is there again. */
function restoredText(services: NotifyDeps, { quota, plan }: Restored): { zh: string; en: string } {
  const shown = shownQuota(services, quota)
  if (plan) return { zh: `，套餐「${plan}」已恢复`, en: ` The plan “${plan}” goes on.` }
  if (quota > 0) return { zh: `，已恢复额度 ${shown}`, en: ` ${shown} were credited again.` }
  return { zh: '，之前收回的套餐或额度不会恢复，请核对', en: ' What was taken back is not given again; please check.' }
}

/** Of a payment that was disputed before it was credited. A part of its money may be here for good, and somebody has to decide. */
const heldBackText = {
  yet: { zh: '，订单尚未入账', en: ' Nothing is credited for it yet.' },
  forGood: { zh: '，订单未入账，请核对', en: ' Nothing was credited for it; please check.' },
}

function disputeNotice({ tradeNo, more, state, reason, part }: Closing): Bilingual {
  const zh = { open: '被付款人拒付', won: '的拒付已撤销', lost: '的拒付已成立' }[state]
  const en = { open: 'is disputed by its payer', won: 'is disputed no more', lost: 'lost its dispute' }[state]
  return plainNotices('payment_disputed', {
    zh: {
      title: '订单拒付',
      content: `订单 ${tradeNo} ${zh}${part ? `（其中 ${part}）` : ''}${reason ? `，原因：${reason}` : ''}${more.zh}。`,
    },
    en: {
      title: 'A payment is disputed',
      content: `Order ${tradeNo} ${en}${part ? ` (${part} of it)` : ''}${reason ? `, reason: ${reason}` : ''}.${more.en}`,
    },
  })
}
