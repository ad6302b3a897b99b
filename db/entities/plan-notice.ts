import { defineEntity, p, type InferEntity } from '@mikro-orm/postgresql'

export type PlanNoticeKind =
  | 'bought'
  | 'renewed'
  | 'ending'
  | 'ended'
  | 'exhausted'
  | 'refunded'
  | 'terminated'
  | 'restored'

/** Something that happened to a subscription and that its user is notified of, once. */
export const PlanNotice = defineEntity({
  name: 'PlanNotice',
  tableName: 'plan_notices',
  uniques: [{ properties: ['subscriptionId', 'kind', 'key'] }],
  indexes: [{ properties: ['sentAt', 'dueAt'] }],
  properties: {
    id: p.integer().primary().autoincrement(),
    subscriptionId: p.integer(),
    kind: p.text().$type<PlanNoticeKind>(),
    /** Distinguishes it from others of its kind: an instant, or a window. */
    key: p.text().default(''),
    /** What its text names beside the subscription. */
    amount: p.bigint('number').nullable(),
    turnsAt: p.datetime().nullable(),
    createdAt: p.datetime().defaultRaw('now()').index(),
    /** Moved on by whoever tries it, so that nobody else does meanwhile. */
    dueAt: p.datetime().defaultRaw('now()'),
    attempts: p.integer().default(0),
    /** When it was handed over, or found to have nobody to be handed to. */
    sentAt: p.datetime().nullable(),
  },
})

export type PlanNotice = InferEntity<typeof PlanNotice>
