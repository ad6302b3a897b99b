import { type EntityManager, LockMode } from '@mikro-orm/postgresql'
import { DomainError } from '#core/errors.ts'
import { decodeText, encodeValue } from '#core/options/codec.ts'
import { isOptionKey, type OptionKey, optionOf, type OptionValues } from '#core/options/registry/index.ts'
import { isSecretKey } from '#core/options/rules.ts'
import { Option } from '#db/entities/option.ts'
import { changesOf } from '#features/audit/changes.ts'
import { type Act, type AuditDeps, recordActs } from '#features/audit/service.ts'
import type { Deps } from '#features/deps.ts'
import type { Secrets } from '#features/secrets/service.ts'
import type { OptionRow } from './store.ts'

const longestKey = 255
const longestText = 2_000_000

type Storage = { em: EntityManager; secrets: Secrets }

/** Runs a statement that only reads: in a transaction, or on connections that are waited for as long as a call may. */
export type Read = <Row extends object>(statement: string) => Promise<Row[]>

export const readWithin =
  (em: EntityManager): Read =>
  (statement) =>
    em.getConnection().execute(statement, [], 'all', em.getTransactionContext())

/** Every stored option with its secrets readable. A secret that cannot be decrypted is left out and reported. */
export async function loadOptionRows(
  { read, secrets }: { read: Read; secrets: Secrets },
  onUndecryptable?: (key: string, error: unknown) => void,
): Promise<OptionRow[]> {
  const rows = await read<OptionRow>('select key, value from options')
  return rows.flatMap(({ key, value }) => {
    if (!isSecretKey(key) || value === '') return [{ key, value }]
    try {
      return [{ key, value: secrets.decrypt(value) }]
    } catch (error) {
      onUndecryptable?.(key, error)
      return []
    }
  })
}

/** What the columns can hold, for any key. */
export function checkRow({ key, value }: OptionRow): DomainError | undefined {
  if (key.trim() === '') return new DomainError('option.key_required')
  if (key.length > longestKey) return new DomainError('option.too_long', { label: 'key', maximum: longestKey })
  if (value.length > longestText) return new DomainError('option.too_long', { label: key, maximum: longestText })
  if (key.includes('\0') || value.includes('\0'))
    return new DomainError('option.invalid', { label: key, detail: 'NUL' })
  return undefined
}

export type OptionActs = Storage & AuditDeps & Pick<Deps, 'ambient'>

/** What to write, and keys to put back to their defaults; `expected` by key is the text that a change began with. */
type OptionChanges = {
  rows?: readonly OptionRow[]
  removed?: readonly string[]
  expected?: ReadonlyMap<string, string>
}

/**
 * The only writer of options: validated rows and who changed what, in the caller's transaction. Rows go in key order, so writers
 * cannot deadlock. Who compares with `expected`, or writes what was made of what is stored, does so within `withPriceTables`:
 * an option that has no row yet has none to lock.
 * @returns the keys that were left alone because somebody else has changed them since
 */
export async function changeOptionRows(
  deps: OptionActs,
  { rows: given = [], removed = [], expected = new Map() }: OptionChanges,
): Promise<string[]> {
  const keys = [...given.map(({ key }) => key), ...removed].toSorted()
  if (keys.length === 0) return []
  const before = await textsOf(deps, keys)
  const overtaken = new Set(
    given.flatMap(({ key, value }) => {
      const now = canonical(key, before.get(key) ?? defaultText(key))
      return expected.has(key) && now !== expected.get(key) && now !== value ? [key] : []
    }),
  )
  const rows = given.filter(({ key }) => !overtaken.has(key))
  await storeOptionRows(deps, rows, deps.ambient.now())
  if (removed.length > 0) await deps.em.nativeDelete(Option, { key: { $in: [...removed] } })
  const after = new Map<string, string | undefined>(rows.map(({ key, value }) => [key, value]))
  await recordActs(
    deps,
    keys.flatMap((key) =>
      overtaken.has(key)
        ? []
        : (optionAct(key, before.get(key) ?? defaultText(key), after.get(key) ?? defaultText(key)) ?? []),
    ),
  )
  return [...overtaken]
}

/** As the value would be written now: rows may come from another version, or from a hand. */
function canonical(key: string, text: string | undefined): string | undefined {
  if (!isOptionKey(key) || text === undefined) return text
  const read = decodeText(key, text)
  return read.problem ? defaultText(key) : encodeValue(key, read.value)
}

/** The stored texts, their rows held until the transaction ends. */
async function textsOf({ em, secrets }: Storage, keys: readonly string[]): Promise<Map<string, string>> {
  const rows = await em.find(
    Option,
    { key: { $in: [...keys] } },
    { orderBy: { key: 'asc' }, lockMode: LockMode.PESSIMISTIC_WRITE, disableIdentityMap: true },
  )
  return new Map(rows.map(({ key, value }) => [key, isSecretKey(key) ? readSecret(secrets, value) : value]))
}

/** One that cannot be read any more still was another one. */
function readSecret(secrets: Secrets, value: string): string {
  try {
    return value === '' ? '' : secrets.decrypt(value)
  } catch {
    return value
  }
}

export const defaultText = (key: string): string | undefined =>
  isOptionKey(key) ? encodeValue(key, optionOf(key).default as OptionValues[OptionKey]) : undefined

/** Of a secret it shows whether there is one, never which. */
function optionAct(key: string, before: string | undefined, after: string | undefined): Act | undefined {
  if (before === after) return undefined
  const act = {
    action: after === defaultText(key) ? 'options.reset' : 'options.set',
    targetType: 'option',
    targetId: key,
  }
  if (!isSecretKey(key)) return { ...act, ...changesOf({ [key]: before }, { [key]: after }) }
  return { ...act, ...(before ? { before: { [key]: true } } : {}), ...(after ? { after: { [key]: true } } : {}) }
}

async function storeOptionRows({ em, secrets }: Storage, rows: readonly OptionRow[], now: Date): Promise<void> {
  if (rows.length === 0) return
  await em.upsertMany(
    Option,
    rows
      .toSorted((left, right) => (left.key < right.key ? -1 : 1))
      .map(({ key, value }) => ({
        key,
        value: isSecretKey(key) && value !== '' ? secrets.encrypt(value) : value,
        updatedAt: now,
      })),
  )
}

export const findOptionRow = (em: EntityManager, key: string): Promise<{ value: string } | null> =>
  em.findOne(Option, { key })
