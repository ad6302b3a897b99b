import type { StoredAt } from './stored-at.ts'
import { DomainError } from '#core/errors.ts'
import { type StoredPlace, findAnswers, rememberAnswers } from '#features/stored-responses/service.ts'
import type { Attempt, CallCore, RelayServices } from '#relay/request/call.ts'

type Json = Record<string, unknown>

const wordOf = (value: unknown): string[] => (typeof value === 'string' && value !== '' ? [value] : [])
const idOf = (value: unknown): string[] =>
  typeof value === 'object' && value !== null && 'id' in value ? wordOf(value.id) : []

export const itemsOf = (input: unknown): Json[] =>
  Array.isArray(input) ? input.filter((item): item is Json => typeof item === 'object' && item !== null) : []

/** An item that is nothing but the id of a stored one; its type may be left out. */
export const isReference = (item: Json): boolean =>
  item['type'] === 'item_reference' ||
  ((item['type'] ?? null) === null && item['role'] === undefined && item['content'] === undefined)

/**
 * The ids by which a responses call refers to what an upstream keeps. `named`: an earlier answer, a conversation, items by
 * reference. `echoed`: ids of items that the call itself repeats, which upstreams may look up as well, whoever made them.
 */
function namedAnswers(body: Json): { named: string[]; echoed: string[] } {
  const { previous_response_id: previous, conversation, input } = body
  const items = itemsOf(input)
  return {
    named: [
      ...wordOf(previous),
      ...wordOf(conversation),
      ...idOf(conversation),
      ...items.filter(isReference).flatMap(idOf),
    ],
    echoed: items.filter((item) => !isReference(item)).flatMap(idOf),
  }
}

/**
 * @throws {DomainError} relay.stored_item_unknown when something named is not the caller's own, was made too long ago, or is
 * kept in different places; or when something repeated is another's.
 */
export async function placeOfNamed(
  services: RelayServices,
  { userId, body }: { userId: number; body: Json },
): Promise<StoredAt | undefined> {
  const { named, echoed } = namedAnswers(body)
  if (named.length + echoed.length === 0) return undefined
  const found = await findAnswers(services.database.pool, [...named, ...echoed])
  const own = new Map(found.filter((answer) => answer.userId === userId).map((answer) => [answer.id, answer]))
  const places = named.map((id) => own.get(id))
  const [first = own.values().next().value] = places
  const isApart = (place: StoredPlace | undefined): boolean =>
    place === undefined || place.channelId !== first?.channelId || place.keyHmac !== first.keyHmac
  if (own.size < found.length || places.some(isApart)) throw new DomainError('relay.stored_item_unknown')
  return first && { channelId: first.channelId, keyHmac: first.keyHmac, only: named.length > 0 }
}

/**
 * Where the answer is kept that a thread goes on from.
 * @throws {DomainError} relay.thread_unknown when it is not the caller's own.
 */
export async function placeOfThread(
  services: RelayServices,
  { userId, thread }: { userId: number; thread: { continues: string | undefined } | undefined },
): Promise<StoredAt | undefined> {
  if (thread?.continues === undefined) return undefined
  const [found] = await findAnswers(services.database.pool, [thread.continues])
  if (found?.userId !== userId) throw new DomainError('relay.thread_unknown')
  return { channelId: found.channelId, keyHmac: found.keyHmac, only: true }
}

/** Remembers what the upstream said it keeps, before its caller can name it. A failure costs the caller only that. */
export async function rememberStored(
  services: RelayServices,
  call: CallCore,
  { attempt, ids }: { attempt: Attempt; ids: readonly string[] | undefined },
): Promise<void> {
  if (ids === undefined || ids.length === 0) return
  if (!call.dialect.keepsResponses && !call.dialect.threadOf?.(call.body.json)) return
  const keyHmac = services.secrets.hmac(attempt.key.value)
  const made = { ids, userId: call.caller.user.id, channelId: attempt.channel.id, keyHmac }
  await rememberAnswers(services.database.pool, made).catch((cause: unknown) =>
    services.log.warn({ err: cause, requestId: call.id }, 'a stored answer could not be remembered'),
  )
}
