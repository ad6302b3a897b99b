import { DomainError } from '#core/errors.ts'
import { PriceChange } from '#db/entities/price-change.ts'
import { User } from '#db/entities/user.ts'
import { recordAct } from '#features/audit/service.ts'
import type { UserDeps } from '#features/deps.ts'
import { withPriceTables } from './changeover.ts'
import type { OneChange, Schedule } from './schema.ts'

const mostShown = 50

/** What is to come, soonest first, then what has been, latest first. */
export async function listPriceChanges(deps: UserDeps) {
  const options = { disableIdentityMap: true, limit: mostShown }
  const pending = await deps.em.find(
    PriceChange,
    { status: 'pending' },
    { ...options, orderBy: { effectiveAt: 'asc', id: 'asc' } },
  )
  const ended = await deps.em.find(
    PriceChange,
    { status: { $ne: 'pending' } },
    { ...options, orderBy: { endedAt: 'desc', id: 'desc' } },
  )
  const changes = [...pending, ...ended]
  const people = await deps.em.find(
    User,
    { id: { $in: changes.map(({ createdBy }) => createdBy) } },
    { disableIdentityMap: true },
  )
  const names = new Map(people.map(({ id, username }) => [id, username]))
  return changes.map((change) => ({
    id: change.id,
    effectiveAt: change.effectiveAt,
    status: change.status as 'pending' | 'applied' | 'cancelled',
    change: change.change,
    note: change.note,
    createdBy: names.get(change.createdBy) ?? '',
    createdAt: change.createdAt,
    endedAt: change.endedAt ?? null,
  }))
}

/**
 * From an instant on that is still to come: nobody is charged by a price after the fact.
 * @throws {DomainError} prices.instant_past
 */
export async function schedulePriceChange(deps: UserDeps, input: Schedule): Promise<{ id: number }> {
  if (input.effectiveAt <= deps.ambient.now()) throw new DomainError('prices.instant_past')
  const created = await deps.em.transactional(async (em) => {
    const id = await em.insert(PriceChange, {
      effectiveAt: input.effectiveAt,
      change: input.change,
      note: input.note,
      createdBy: deps.actor.id,
    })
    await recordAct(
      { ...deps, em },
      {
        action: 'prices.schedule',
        targetType: 'price_change',
        targetId: id,
        after: { effectiveAt: input.effectiveAt.toISOString(), ...input.change },
      },
    )
    return { id }
  })
  await deps.options.reload()
  return created
}

/** What has come into force cannot be called back, only changed again. @throws {DomainError} prices.change_ended */
export async function cancelPriceChange(deps: UserDeps, { id }: OneChange): Promise<void> {
  await withPriceTables(deps, async (em) => {
    const cancelled = await em.nativeUpdate(
      PriceChange,
      { id, status: 'pending' },
      { status: 'cancelled', endedAt: deps.ambient.now() },
    )
    if (cancelled === 0) throw new DomainError('prices.change_ended')
    await recordAct({ ...deps, em }, { action: 'prices.cancel', targetType: 'price_change', targetId: id })
  })
  await deps.options.reload()
}
