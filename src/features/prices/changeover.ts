import type { EntityManager } from '@mikro-orm/postgresql'
import { encodeValue } from '#core/options/codec.ts'
import { snapshotOf } from '#core/options/snapshot.ts'
import { priceTablesOf } from '#core/pricing/price-of.ts'
import {
  type PriceChange as Change,
  priceChange,
  priceTableKeys,
  withPriceChange,
} from '#core/pricing/price-changes.ts'
import { advisoryLock } from '#db/advisory-locks.ts'
import { PriceChange } from '#db/entities/price-change.ts'
import { recordAct } from '#features/audit/service.ts'
import type { Deps } from '#features/deps.ts'
import { changeOptionRows, loadOptionRows, type Read, readWithin } from '#features/options/rows.ts'
import type { LoadedRows, OptionRow } from '#features/options/store.ts'

const changedKeys = [...priceTableKeys, 'GroupRatio'] as const

type Storage = Pick<Deps, 'em' | 'secrets'>
type Pending = { id: number; effectiveAt: Date; change: Change; due: boolean }

/** Pending changes in the order in which they come into force; the database's clock says which are due. */
async function pendingChanges(read: Read, lock: '' | 'for update'): Promise<Pending[]> {
  const rows = await read<{ id: number; effective_at: string; change: unknown; due: boolean }>(
    `select id, extract(epoch from effective_at) * 1000 as effective_at, change, effective_at <= clock_timestamp() as due
       from price_changes where status = 'pending' order by price_changes.effective_at, id ${lock}`,
  )
  return rows.map((row) => ({
    id: row.id,
    effectiveAt: new Date(Number(row.effective_at)),
    change: priceChange.parse(typeof row.change === 'string' ? JSON.parse(row.change) : row.change),
    due: row.due,
  }))
}

/** The rows as they are after changes; only the tables that a change touches get another text. */
function patched(rows: readonly OptionRow[], changes: readonly Change[]): OptionRow[] {
  if (changes.length === 0) return [...rows]
  const before = snapshotOf(rows)
  let tables = { ...priceTablesOf(before), GroupRatio: before.get('GroupRatio') }
  for (const change of changes) tables = withPriceChange(tables, change)
  const texts = new Map(rows.map(({ key, value }) => [key, value]))
  for (const key of changedKeys) {
    const text = encodeValue(key, { ...tables[key] })
    if (text !== before.texts.get(key)) texts.set(key, text)
  }
  return [...texts].map(([key, value]) => ({ key, value }))
}

/**
 * The options as they stand with what is in force, and as they will stand from the next instant on. The changes are read
 * before the rows: one that is written into the rows meanwhile is made twice, which is the same as once.
 */
export async function loadRows(
  { read, secrets }: { read: Read } & Pick<Storage, 'secrets'>,
  onUndecryptable?: (key: string, error: unknown) => void,
): Promise<LoadedRows> {
  const pending = await pendingChanges(read, '')
  const stored = await loadOptionRows({ read, secrets }, onUndecryptable)
  const rows = patched(
    stored,
    pending.filter(({ due }) => due).map(({ change }) => change),
  )
  const first = pending.find(({ due }) => !due)
  if (!first) return { rows, next: nextOf(pending, rows) }
  const together = pending.filter(({ due, effectiveAt }) => !due && effectiveAt <= first.effectiveAt)
  return {
    rows,
    next: {
      at: first.effectiveAt,
      rows: patched(
        rows,
        together.map(({ change }) => change),
      ),
    },
  }
}

/** What is in force and not stored yet, because the node that was to store it stopped: whoever reads it sees to it. */
const nextOf = (pending: readonly Pending[], rows: OptionRow[]): LoadedRows['next'] => {
  const last = pending.at(-1)
  return last ? { at: last.effectiveAt, rows } : null
}

/** Lets one writer of options after another, and writes what is in force into them first, so that it overtakes nothing. */
export async function withPriceTables<Result>(
  deps: Storage & Pick<Deps, 'ambient'>,
  act: (em: EntityManager) => Promise<Result>,
): Promise<Result> {
  return deps.em.transactional(async (em) => {
    await em
      .getConnection()
      .execute('select pg_advisory_xact_lock(?)', [advisoryLock.priceTables], 'all', em.getTransactionContext())
    await storeDue({ ...deps, em })
    return act(em)
  })
}

/** Writes what has come into force into the options. Every node tries at the instant; the first one does it. */
export async function applyDuePriceChanges(deps: Storage & Pick<Deps, 'ambient'>): Promise<void> {
  const pending = await pendingChanges(readWithin(deps.em), '')
  if (pending.some(({ due }) => due)) await withPriceTables(deps, async () => {})
}

async function storeDue({ em, secrets, ambient }: Storage & Pick<Deps, 'ambient'>): Promise<void> {
  const read = readWithin(em)
  const due = (await pendingChanges(read, 'for update')).filter((change) => change.due)
  if (due.length === 0) return
  const stored = await loadOptionRows({ read, secrets })
  const before = new Map(stored.map(({ key, value }) => [key, value]))
  const rows = patched(
    stored,
    due.map(({ change }) => change),
  ).filter(({ key, value }) => before.get(key) !== value)
  const nobody = { em, actor: null, client: { ip: '' } }
  await changeOptionRows({ ...nobody, secrets, ambient }, { rows })
  const now = ambient.now()
  await em.nativeUpdate(PriceChange, { id: { $in: due.map(({ id }) => id) } }, { status: 'applied', endedAt: now })
  for (const { id, change } of due) {
    await recordAct(nobody, {
      action: 'prices.apply',
      targetType: 'price_change',
      targetId: id,
      after: { ...change },
    })
  }
}
