import type { EntityManager } from '@mikro-orm/postgresql'
import { DomainError } from '#core/errors.ts'
import { Plan } from '#db/entities/plan.ts'
import { changesOf } from '../audit/changes.ts'
import { recordAct } from '../audit/service.ts'
import type { Services, UserDeps } from '../deps.ts'
import { openCurrencies, paymentsOf } from '../orders/pay.ts'
import { refuseOvertaken } from '../overtaken.ts'
import { inKnownZones } from '../spend-caps/service.ts'
import { keepsPlace, takesPlace } from '../orders/schema.ts'
import type { ById, PlanForm, UpdatePlan } from './schema.ts'
import { type PlanView, type Sales, termsOfPlan, toPlanView } from './view.ts'

/**
 * How many of each were sold, how many of those run, how many were sold to one user, and how many others are about to pay.
 * Somebody who opens several orders counts once.
 */
export async function salesOf(em: EntityManager, userId = 0): Promise<Map<number, Sales>> {
  const rows: { plan_id: number; sold: string; running: string; mine: string; open: string }[] = await em
    .getConnection()
    .execute(
      `select plan_id, sum(sold) as sold, sum(running) as running, sum(mine) as mine, sum(open) as open from (
         select plan_id, count(*) as sold, count(*) filter (where ${takesPlace}) as running,
             count(*) filter (where user_id = ?) as mine, 0 as open
           from subscriptions where status <> 'refunded' group by plan_id
         union all
         select plan_id, 0, 0, 0, count(distinct user_id) from top_up_orders
           where ${keepsPlace} and plan_id is not null and user_id <> ?
           group by plan_id
       ) s group by plan_id`,
      [userId, userId],
      'all',
      em.getTransactionContext(),
    )
  return new Map(
    rows.map(({ plan_id: planId, sold, running, mine, open }) => [
      planId,
      { sold: Number(sold), running: Number(running), mine: Number(mine), open: Number(open) },
    ]),
  )
}

/** Whether anybody could pay for it: what has a price in money alone needs a payment method that takes it. */
const isPayable = (deps: UserDeps, plan: Plan): boolean =>
  plan.price > 0 || Object.keys(plan.moneyPrices).length === 0 || paymentsOf(deps, plan).length > 0

/** In the order of the shop, those that are not on sale too. */
export async function listPlans(deps: UserDeps): Promise<(PlanView & { isPayable: boolean })[]> {
  const { em } = deps
  const plans = await em.find(Plan, {}, { orderBy: { position: 'asc', id: 'asc' }, disableIdentityMap: true })
  const sales = await salesOf(em)
  return plans.map((plan) => ({ ...toPlanView(plan, sales.get(plan.id)), isPayable: isPayable(deps, plan) }))
}

async function viewOf(em: EntityManager, id: number): Promise<PlanView> {
  const plan = await em.findOneOrFail(Plan, { id }, { disableIdentityMap: true })
  return toPlanView(plan, (await salesOf(em)).get(id))
}

/** @throws {DomainError} spend_cap.zone_unknown */
export async function createPlan(deps: UserDeps, form: PlanForm): Promise<PlanView> {
  const input = { ...form, windows: inKnownZones(form.windows, { zones: await deps.database.zones() }) }
  return deps.em.transactional(async (em) => {
    const id = await em.insert(Plan, input)
    await recordAct(
      { ...deps, em },
      {
        action: 'plans.create',
        targetType: 'plan',
        targetId: id,
        targetName: input.name,
        after: input,
      },
    )
    return viewOf(em, id)
  })
}

/** In which currencies a plan may have a price of its own now. */
export const currenciesOf = (deps: UserDeps): string[] => openCurrencies(deps)

/**
 * For those who buy from now on; subscriptions and orders keep their own terms.
 * @throws {DomainError} spend_cap.zone_unknown, input.changed_meanwhile
 */
export async function updatePlan(deps: UserDeps, { id, expected, ...form }: UpdatePlan): Promise<PlanView> {
  const zones = await deps.database.zones()
  return deps.em.transactional(async (em) => {
    const before = await lockPlan(em, id)
    const input = { ...form, windows: inKnownZones(form.windows, { zones, stood: before.windows }) }
    refuseOvertaken(toPlanView(before), input, expected)
    await em.nativeUpdate(Plan, { id }, { ...input, updatedAt: deps.ambient.now() })
    const stood = { ...input, ...before }
    await recordAct(
      { ...deps, em },
      {
        action: 'plans.update',
        targetType: 'plan',
        targetId: id,
        targetName: input.name,
        ...changesOf(
          Object.fromEntries(Object.keys(input).map((name) => [name, stood[name as keyof PlanForm]])),
          input,
        ),
      },
    )
    return viewOf(em, id)
  })
}

/** Whoever has bought it keeps it. */
export function removePlan(deps: UserDeps, { id }: ById): Promise<void> {
  return deps.em.transactional(async (em) => {
    const plan = await lockPlan(em, id)
    await em.nativeDelete(Plan, { id })
    await recordAct(
      { ...deps, em },
      {
        action: 'plans.remove',
        targetType: 'plan',
        targetId: id,
        targetName: plan.name,
        before: { ...termsOfPlan(plan) },
      },
    )
  })
}

/**
 * The plan under its lock: those who buy the last one at the same time come one after another.
 * @throws {DomainError} plan.not_found
 */
export async function lockPlan(em: EntityManager, id: number): Promise<Plan> {
  await em
    .getConnection()
    .execute('select id from plans where id = ? for update', [id], 'all', em.getTransactionContext())
  const plan = await em.findOne(Plan, { id }, { disableIdentityMap: true })
  if (!plan) throw new DomainError('plan.not_found')
  return plan
}

/** Marks subscriptions whose time is over. Calls do not wait for it. */
export async function expireSubscriptions({ database }: Pick<Services, 'database'>): Promise<number> {
  const { rows } = await database.pool.query<{ expired: number }>('select ledger_expire_plans() as expired')
  return rows[0]?.expired ?? 0
}
