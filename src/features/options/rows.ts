import type { EntityManager } from '@mikro-orm/postgresql'
import { DomainError } from '#core/errors.ts'
import { isSecretKey } from '#core/options/rules.ts'
import { Option } from '#db/entities/option.ts'
import type { Secrets } from '#features/secrets/service.ts'
import type { OptionRow } from './store.ts'

const longestKey = 255
const longestText = 2_000_000

type Storage = { em: EntityManager; secrets: Secrets }

/** Every stored option with its secrets readable. A secret that cannot be decrypted is left out and reported. */
export async function loadOptionRows(
  { em, secrets }: Storage,
  onUndecryptable?: (key: string, error: unknown) => void,
): Promise<OptionRow[]> {
  const rows = await em.find(Option, {})
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

/** Writes judged rows; part of the caller's transaction if there is one. Rows go in key order, so writers cannot deadlock. */
export async function storeOptionRows({ em, secrets }: Storage, rows: readonly OptionRow[], now: Date): Promise<void> {
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

export const removeOptionRows = async (em: EntityManager, keys: readonly string[]): Promise<void> => {
  await em.nativeDelete(Option, { key: { $in: [...keys] } })
}

export const findOptionRow = (em: EntityManager, key: string): Promise<{ value: string } | null> =>
  em.findOne(Option, { key })
