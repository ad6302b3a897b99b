import { type EntityManager, type FilterQuery, LockMode } from '@mikro-orm/postgresql'
import { splitKeys } from '#core/channel-types/split-keys.ts'
import { checkKeys } from '#core/channel-types/check-keys.ts'
import { DomainError, toDomainError } from '#core/errors.ts'
import { Channel } from '#db/entities/channel.ts'
import { ChannelKey } from '#db/entities/channel-key.ts'
import type { Deps } from '#features/deps.ts'
import type { Secrets } from '#features/secrets/service.ts'

/** @throws {DomainError} channel.not_found */
export async function findChannel({ em }: Pick<Deps, 'em'>, id: number): Promise<Channel> {
  const channel = await em.findOne(Channel, { id }, { disableIdentityMap: true })
  if (!channel) throw new DomainError('channel.not_found')
  return channel
}

/** Whoever changes channels or their index holds their rows, taken in the order of ids so that two writers never wait in a circle. */
export const lockChannels = (em: EntityManager, where: FilterQuery<Channel>): Promise<Channel[]> =>
  em.find(Channel, where, {
    orderBy: { id: 'asc' },
    lockMode: LockMode.PESSIMISTIC_WRITE,
    disableIdentityMap: true,
  })

/** A transaction holds no more rows than this: calls and other operators wait for one portion, not for all. */
const portionSize = 200

/**
 * Works on every channel of the condition, portion by portion, each in a transaction of its own that holds its rows. What
 * does not fit the condition any more when its turn comes is left alone. Returns how many there were.
 */
export async function inPortions(
  { em }: Pick<Deps, 'em'>,
  where: FilterQuery<Channel>,
  work: (tx: EntityManager, channels: Channel[]) => Promise<void>,
): Promise<{ count: number }> {
  const found = await em.find(Channel, where, { fields: ['id'], orderBy: { id: 'asc' }, disableIdentityMap: true })
  let count = 0
  for (let start = 0; start < found.length; start += portionSize) {
    const ids = found.slice(start, start + portionSize).map(({ id }) => id)
    count += await em.transactional(async (tx) => {
      const channels = await lockChannels(tx, { $and: [where, { id: ids }] })
      if (channels.length > 0) await work(tx, channels)
      return channels.length
    })
  }
  return { count }
}

/** @throws {DomainError} channel.not_found */
export async function lockChannel(em: EntityManager, id: number): Promise<Channel> {
  const [channel] = await lockChannels(em, { id: [id] })
  if (!channel) throw new DomainError('channel.not_found')
  return channel
}

/** Runs one statement in the transaction of `em`. Parameters are written into it, so lists go in as `in (?)`. */
export const execute = <Row>(em: EntityManager, sql: string, values: unknown[]): Promise<Row[]> =>
  em.getConnection().execute<Row[]>(sql, values, 'all', em.getTransactionContext())

/**
 * The credentials in a key field.
 * @throws {DomainError} for what the type cannot use.
 */
export function readKeys(type: number, text: string): string[] {
  const keys = splitKeys(type, text)
  const problem = checkKeys(type, keys)
  if (problem) throw toDomainError(problem)
  return keys
}

export const keyColumns = (secrets: Secrets, keys: readonly string[]) => {
  const text = keys.join(',')
  return { keyEncrypted: secrets.encrypt(text), keyHmac: secrets.hmac(text) }
}

/** Puts the states of new credentials in place; one that stays keeps its state wherever it stands now. */
export async function replaceKeyStates(
  em: EntityManager,
  { secrets }: Pick<Deps, 'secrets'>,
  channel: { id: number; keys: readonly string[] },
): Promise<void> {
  const known = await em.find(ChannelKey, { channelId: channel.id }, { disableIdentityMap: true })
  const stateOf = new Map(known.map((key) => [key.keyHmac, key]))
  await em.nativeDelete(ChannelKey, { channelId: channel.id })
  await em.insertMany(
    ChannelKey,
    channel.keys.map((key, position) => {
      const keyHmac = secrets.hmac(key)
      const { status = 1, statusReason = '', statusAt = null } = stateOf.get(keyHmac) ?? {}
      return { channelId: channel.id, position, keyHmac, status, statusReason, statusAt }
    }),
  )
}
