import type { StoredAt } from './stored-at.ts'
import { DomainError } from '#core/errors.ts'
import { hasTools, normaliseUsage, type ReportedUsage, totalTokens, type Usage } from '#core/usage.ts'
import {
  type StoredPlace,
  findAnswers,
  recountConversation,
  rememberAnswers,
} from '#features/stored-responses/service.ts'
import type { CallerDialect } from '#relay/dialects/types.ts'
import { containersIn, heldIn, isHeld } from '#relay/providers/shared/held-objects.ts'
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
 * The ids by which a responses call refers to what an upstream keeps. `named`: an earlier answer, a conversation, items by reference.
 * `echoed`: ids of items that the call itself repeats, which upstreams may look up as well, whoever made
 * them, and the containers that such items ran in, which upstreams go on with.
 */
function namedAnswers(body: Json): Pick<Names, 'named' | 'echoed' | 'previousId' | 'conversationId'> {
  const { previous_response_id: previous, conversation, input } = body
  const [previousId] = wordOf(previous)
  const items = itemsOf(input)
  const repeated = items.filter((item) => !isReference(item))
  const conversations = [...wordOf(conversation), ...idOf(conversation)]
  return {
    previousId,
    conversationId: conversations[0],
    named: [...wordOf(previous), ...conversations, ...items.filter(isReference).flatMap(idOf)],
    echoed: [...repeated.flatMap(idOf), ...containersIn(repeated)],
  }
}

/** What a call names of what upstreams keep, and the error of what is not its caller's. */
type Names = {
  previousId?: string | undefined
  conversationId?: string | undefined
  named: string[]
  echoed: string[]
  held: string[]
  unknown: 'stored_item_unknown' | 'thread_unknown'
}

async function placeOf(services: RelayServices, userId: number, names: Names): Promise<StoredAt | undefined> {
  const { previousId, conversationId, named, echoed, held, unknown } = names
  const ids = [...named, ...echoed, ...held]
  if (ids.length === 0) return undefined
  const found = await findAnswers(services.database.pool, ids)
  const own = new Map(found.filter((answer) => answer.userId === userId).map((answer) => [answer.id, answer]))
  // What nobody is known to have made may be the operator's.
  const places = [...named.map((id) => own.get(id)), ...held.flatMap((id) => own.get(id) ?? [])]
  const [first = own.values().next().value] = places
  const isApart = (place: StoredPlace | undefined): boolean =>
    place === undefined || place.channelId !== first?.channelId || place.keyHmac !== first.keyHmac
  if (previousId !== undefined && !own.has(previousId))
    throw new DomainError('relay.previous_response_unknown', { id: previousId.slice(0, 100) })
  if (own.size < found.length || places.some(isApart)) throw new DomainError(`relay.${unknown}`)
  // Each is the whole of what is read, an item no more than what it stands in: of several the longest.
  const conversationTokens = named.reduce((most, id) => Math.max(most, own.get(id)?.conversationTokens ?? 0), 0)
  return first && { ...first, only: places.length > 0, conversationTokens, conversationId }
}

/**
 * Where an earlier answer is kept.
 * @throws {DomainError} relay.stored_item_unknown when it is not the caller's own, or was made too long ago.
 */
export const placeOfAnswer = (
  services: RelayServices,
  { userId, id }: { userId: number; id: string },
): Promise<StoredAt | undefined> =>
  placeOf(services, userId, { named: [id], echoed: [], held: [], unknown: 'stored_item_unknown' })

/**
 * Where a call has to go because of what it names that only one place has: an earlier answer, a thread, a container, a file.
 * @throws {DomainError} relay.stored_item_unknown when something named is not the caller's own, was made too long ago, or is
 * kept in different places, or when something repeated is another's; relay.previous_response_unknown and relay.thread_unknown
 * where it is the response or the thread that the call continues.
 */
export function placeOfCall(
  services: RelayServices,
  { userId, dialect, body }: { userId: number; dialect: CallerDialect; body: Json },
): Promise<StoredAt | undefined> {
  if (dialect.keepsResponses)
    return placeOf(services, userId, { ...namedAnswers(body), held: heldIn(body), unknown: 'stored_item_unknown' })
  const continued = dialect.threadOf?.(body)?.continues
  const unknown = continued === undefined ? 'stored_item_unknown' : 'thread_unknown'
  const named = wordOf(continued)
  return placeOf(services, userId, { named, echoed: [], held: heldIn(body), unknown })
}

/** @throws {DomainError} relay.stored_item_unknown where a container or a file that a call names is another's. */
export async function refuseOthers(
  services: RelayServices,
  { userId, held }: { userId: number; held: string[] },
): Promise<void> {
  const found = held.length === 0 ? [] : await findAnswers(services.database.pool, held)
  if (found.some((answer) => answer.userId !== userId)) throw new DomainError('relay.stored_item_unknown')
}

const mostTokens = 1e9

/** What an upstream keeps of an answer, and how much its model reads at most. */
type StoredItems = { ids: readonly string[]; most: () => number }

/** Whether it used tools of its own, and read the conversation anew after each. Some are charged by nothing but what they read. */
const hasRounds = (usage: Usage, ids: readonly string[]): boolean =>
  hasTools(usage) || ids.some((id) => /^(mcp|ws)_/.test(id))

/**
 * Of the conversation up to an answer: what was read for it, and what it says itself. Compacted, the latter is all that is left. The
 * rounds of an answer are reported as their sum, of which none read more than the model can.
 */
function conversationAfter({ dialect }: CallCore, { ids, most }: StoredItems, usage: Usage): number {
  const tokens = dialect.isNeverStored ? usage.completionTokens : totalTokens(usage)
  return Math.min(tokens, hasRounds(usage, ids) ? most() : mostTokens)
}

/**
 * Remembers what the upstream said it keeps, before its caller can name it, and what the conversation has come to that the call adds to,
 * however the call ended. A failure costs the caller only that. Resolves with what of it no call had brought; nothing where that is not
 * known.
 */
export async function rememberStored(
  services: RelayServices,
  call: CallCore,
  { attempt, items, usage }: { attempt: Attempt; items: StoredItems; usage: Usage },
): Promise<string[] | undefined> {
  const ids = call.dialect.isNeverStored ? items.ids : [...items.ids, ...wordOf(call.storedAt?.conversationId)]
  if (ids.length === 0) return undefined
  const isNamed = call.dialect.keepsResponses || call.dialect.threadOf?.(call.body.json) !== undefined
  // Answers of messages are named by threads alone, what their code has made by any call.
  const named = isNamed ? ids : ids.filter(isHeld)
  if (named.length === 0) return undefined
  const keyHmac = services.secrets.hmac(attempt.key.value)
  const made = {
    ids: named,
    userId: call.caller.user.id,
    channelId: attempt.channel.id,
    keyHmac,
    model: call.model,
    conversationTokens: conversationAfter(call, items, usage),
  }
  return rememberAnswers(services.database.pool, made).catch((cause: unknown) => {
    services.log.warn({ err: cause, requestId: call.id }, 'a stored answer could not be remembered')
    return undefined
  })
}

/** Notes what the upstream counts of a conversation where it is read again, if that is news. A failure costs the estimate alone. */
export async function recountStored(
  services: RelayServices,
  call: CallCore,
  {
    id,
    storedAt,
    items,
    usage,
  }: { id: string; storedAt: StoredAt; items: StoredItems; usage: ReportedUsage | undefined },
): Promise<void> {
  const { usage: counted, reported } = normaliseUsage(usage ?? {})
  const tokens = conversationAfter(call, items, counted)
  if (!reported || tokens === storedAt.conversationTokens) return
  await recountConversation(services.database.pool, { id, userId: call.caller.user.id, tokens }).catch(
    (cause: unknown) => {
      services.log.warn({ err: cause, requestId: call.id }, 'what a stored answer came to could not be remembered')
    },
  )
}

/** The channel and key that what is stored upstream was made with, enabled or not; undefined where either was removed. */
export function placeStoredAt(
  { channels, secrets }: RelayServices,
  { channelId, keyHmac }: Pick<StoredPlace, 'channelId' | 'keyHmac'>,
): Pick<Attempt, 'channel' | 'key'> | undefined {
  const channel = channels.channel(channelId)
  const key = channel?.keys.find(({ value }) => secrets.hmac(value) === keyHmac)
  return channel && key && { channel, key }
}
