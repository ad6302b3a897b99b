import type { EntityManager } from '@mikro-orm/postgresql'
import superjson from 'superjson'
import { DomainError } from '#core/errors.ts'
import { IdempotencyKey } from '#db/entities/idempotency-key.ts'
import type { Secrets } from '../secrets/service.ts'

export type IdempotentAsk = {
  userId: number
  /** The procedure that is asked. */
  path: string
  /** What the client calls this request. */
  key: string
  input: unknown
  /** What stands before the act and asks somebody elsewhere: no transaction waits for it, and no repetition that has its reply already. */
  admit?: () => Promise<void>
}

/** The last of those who wait for their turn, by what they ask. Only the first of a process waits at the database. */
const turns = new Map<string, Promise<unknown>>()

function inTurn<Result>(id: string, act: () => Promise<Result>): Promise<Result> {
  const turn = (turns.get(id) ?? Promise.resolve()).then(act, act)
  turns.set(id, turn)
  const leave = () => {
    if (turns.get(id) === turn) turns.delete(id)
  }
  turn.then(leave, leave)
  return turn
}

type Scope = { em: EntityManager; secrets: Secrets }

/**
 * Does an act once for each key of a user: the act and its reply stand or fall in one transaction, so that a repetition, at
 * once or after a crash, gets the reply of the first. The same key with another input is refused.
 * @throws {DomainError} idempotency.key_invalid, idempotency.key_reused
 */
export function actOnce<Result>(
  { em, secrets }: Scope,
  { userId, path, key, input, admit }: IdempotentAsk,
  act: (em: EntityManager) => Promise<Result>,
): Promise<Result> {
  if (key.length > 255 || !/^[\x21-\x7e]+$/.test(key)) throw new DomainError('idempotency.key_invalid')
  const requestHash = secrets.hmac(superjson.stringify(input))
  const once = async (inner: EntityManager): Promise<Result> => {
    // Whoever asks at the same time waits here for the end of the first.
    const made: unknown[] = await inner
      .getConnection()
      .execute(
        'insert into idempotency_keys (user_id, path, key, request_hash) values (?, ?, ?, ?) on conflict do nothing returning key',
        [userId, path, key, requestHash],
        'all',
        inner.getTransactionContext(),
      )
    if (made.length === 0) {
      const known = await inner.findOneOrFail(IdempotencyKey, { userId, path, key }, { disableIdentityMap: true })
      if (known.requestHash !== requestHash) throw new DomainError('idempotency.key_reused')
      return superjson.parse<Result>(secrets.decrypt(known.replyEncrypted))
    }
    const result = await act(inner)
    const replyEncrypted = secrets.encrypt(superjson.stringify(result))
    await inner.nativeUpdate(IdempotencyKey, { userId, path, key }, { replyEncrypted })
    return result
  }
  return inTurn(`${userId} ${path} ${key}`, async () => {
    if (admit && (await em.count(IdempotencyKey, { userId, path, key })) === 0) await admit()
    return em.transactional(once)
  })
}

/**
 * As `actOnce`, for an act that goes on at a service elsewhere, which takes repetitions itself: a transaction that waited for it
 * would keep its connection and its locks from everybody else. What could not be finished is begun anew by the next repetition.
 * @throws {DomainError} idempotency.key_invalid, idempotency.key_reused
 */
export const beginOnce = <Begun, Result>(
  scope: Scope,
  ask: IdempotentAsk,
  { begin, finish }: { begin: (em: EntityManager) => Promise<Begun>; finish: (begun: Begun) => Promise<Result> },
): Promise<Result> =>
  inTurn(`whole ${ask.userId} ${ask.path} ${ask.key}`, async () => {
    const begun = await actOnce(scope, ask, begin)
    try {
      return await finish(begun)
    } catch (error) {
      await scope.em.nativeDelete(IdempotencyKey, { userId: ask.userId, path: ask.path, key: ask.key })
      throw error
    }
  })
