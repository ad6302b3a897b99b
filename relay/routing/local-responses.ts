import { DomainError } from '#core/errors.ts'
import { networkOf } from '#features/client-address/service.ts'
import type { Holding } from '#features/request-bodies/budget.ts'
import { askToComeAgain } from '#features/request-bodies/read-body.ts'
import {
  findConversation,
  findItems,
  findTurn,
  type HoldMemory,
  keepResponse,
  type StoredTurn,
} from '#features/stored-responses/local-responses.ts'
import { addItems, findConversationItems } from '#features/stored-responses/conversations.ts'
import { InvalidRequest } from '#relay/chat/invalid-request.ts'
import { isObject } from '#relay/chat/json.ts'
import { isInteractionId } from '#relay/dialects/gemini-interactions/ids.ts'
import { asConversationItem } from '#relay/dialects/openai-responses/conversation-items.ts'
import type { CallBody, CallCore, Incoming, RelayServices } from '#relay/request/call.ts'
import type { EarlierTurns } from './earlier-turns.ts'
import { isReference, itemsOf } from './stored-responses.ts'

type Json = Record<string, unknown>

export const daysOf = ({ options }: RelayServices): number => options.get('global.stored_responses_days')
/** How much of one user is stored. */
export const mostBytesOf = ({ options }: RelayServices): number =>
  options.get('global.stored_responses_megabytes') * 1024 * 1024

/** Answers of this call are kept: its caller did not say no, and the operator does not. */
export const keepsAnswer = (services: RelayServices, { dialect, earlier, body }: KeepingCall): boolean =>
  (dialect.keepsResponses || dialect.keepsInteractions === true) &&
  dialect.isNeverStored !== true &&
  (earlier?.asked ?? body.json)['store'] !== false &&
  daysOf(services) > 0

type KeepingCall = Pick<CallCore, 'dialect' | 'body' | 'earlier'>

const asItems = (input: unknown): Json[] =>
  typeof input === 'string'
    ? [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: input }] }]
    : itemsOf(input)

/** An item on its way to an upstream that does not know its id. */
const withoutId = ({ id: _id, status: _status, ...item }: Json): Json => item

/** Reasoning that nobody can prove any more is no part of a conversation that goes on. */
const isReadable = (item: Json): boolean =>
  item['type'] !== 'reasoning' || typeof item['encrypted_content'] === 'string'

/** The conversation that a call names. */
function conversationOf({ conversation }: Json): string | undefined {
  const id = isObject(conversation) ? conversation['id'] : conversation
  return typeof id === 'string' && id !== '' ? id : undefined
}

const historyOf = (turns: readonly StoredTurn[]): Json[] =>
  turns.flatMap(({ input, response }) => [...input, ...itemsOf(response['output'])]).map(withoutId)

type Arrived = Pick<Incoming, 'ip' | 'res' | 'callerAborted'>

/** Memory for what a call makes the process read beside its body, until the response is over. */
export function openMemory(
  { bodies }: RelayServices,
  { ip, res, callerAborted }: Arrived,
): { holding: Holding; hold: HoldMemory } {
  const holding = bodies.budget.open(networkOf(ip))
  if (callerAborted.signal.aborted) holding.release()
  else res.once('close', holding.release)
  const hold: HoldMemory = (bytes) =>
    holding.raise(bytes)?.catch((error: unknown) => {
      askToComeAgain(error, res)
      throw error
    })
  return { holding, hold }
}

const sizeOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

/** Of the JSON of a body with these items, each of which is written once to be measured, however often it stands there. */
function bodySize({ input: _input, ...frame }: Json, items: readonly Json[]): number {
  const sizes = new Map<Json, number>()
  let total = sizeOf(frame)
  for (const item of items) {
    const size = sizes.get(item) ?? sizeOf(item)
    sizes.set(item, size)
    total += size + 1
  }
  return total
}

/** The body as bytes, beside the text and the value that it is made from. */
const copies = 3

/**
 * A body with what it refers to in the place of the references, where the gateway keeps that: any upstream can take it up.
 * What it does not know stays as it is, for an upstream may.
 * @throws {DomainError} relay.body_too_large, input.no_room, input.address_full
 */
export async function withEarlierTurns(
  services: RelayServices,
  { userId, body, incoming }: { userId: number; body: CallBody; incoming: Arrived },
): Promise<{ body: CallBody; earlier?: EarlierTurns }> {
  const days = daysOf(services)
  const { previous_response_id: previousId, input } = body.json
  const conversationId = conversationOf(body.json)
  const ids = itemsOf(input).flatMap((item) =>
    isReference(item) && typeof item['id'] === 'string' ? [item['id']] : [],
  )
  const hasPrevious = typeof previousId === 'string' && previousId !== '' && !isInteractionId(previousId)
  if (hasPrevious && conversationId !== undefined)
    throw new InvalidRequest('invalid_responses_request', 'previous_response_id and conversation exclude each other')
  if (days === 0 || (!hasPrevious && conversationId === undefined && ids.length === 0)) return { body }
  const deps = { pool: services.database.pool, secrets: services.secrets }
  const { hold } = openMemory(services, incoming)
  const before = hasPrevious ? await findConversation(deps, { id: previousId, userId, days, hold }) : undefined
  const known = ids.length > 0 ? await plainItems(services, { ids, userId, incoming }) : new Map<string, Json>()
  const conversation =
    conversationId === undefined
      ? undefined
      : await findConversationItems(deps, { id: conversationId, userId, days, hold })
  if (!before && !conversation && known.size === 0) return { body }
  const own = asItems(input).map((item) => (isReference(item) ? known.get(String(item['id'])) : undefined) ?? item)
  const history = before ? historyOf(before.turns) : (conversation?.items ?? []).filter(isReadable).map(withoutId)
  const items = [...history, ...own]
  const json: Json = { ...body.json, input: items }
  if (before) delete json['previous_response_id']
  if (conversation) delete json['conversation']
  const earlier = {
    asked: body.json,
    previousId: before ? (previousId as string) : null,
    chain: before?.ids ?? [],
    ...(conversation ? { conversationId } : {}),
    input: own,
  }
  return { body: await withHistory(services, { json, items, hold }), earlier }
}

/**
 * A body whose input is these items.
 * @throws {DomainError} relay.body_too_large, input.no_room, input.address_full
 */
export async function withHistory(
  services: RelayServices,
  { json, items, hold }: { json: Json; items: readonly Json[]; hold: HoldMemory },
): Promise<CallBody> {
  const size = bodySize(json, items)
  if (size > services.bodies.limits.largest) throw new DomainError('relay.body_too_large')
  await hold(copies * size)
  return { json, bytes: Buffer.from(JSON.stringify(json)) }
}

type Named = { ids: readonly string[]; userId: number; incoming: Arrived }

/** Kept items by their ids, without these. The turns that they stand in are let go of again. */
async function plainItems(services: RelayServices, { ids, userId, incoming }: Named): Promise<Map<string, Json>> {
  const { holding, hold } = openMemory(services, incoming)
  try {
    const deps = { pool: services.database.pool, secrets: services.secrets }
    const found = await findItems(deps, { ids, userId, days: daysOf(services), hold })
    return new Map([...found].map(([id, item]) => [id, withoutId(item)]))
  } finally {
    holding.release()
  }
}

/** Keeps a call's answer, before its caller can name it. @returns whether it is kept. */
export async function keepAnswer(services: RelayServices, call: CallCore, response: Json): Promise<boolean> {
  const { id } = response
  if (typeof id !== 'string') return false
  const itemIds = itemsOf(response['output']).flatMap((item) => (typeof item['id'] === 'string' ? [item['id']] : []))
  try {
    return await keepResponse(
      { pool: services.database.pool, secrets: services.secrets },
      {
        id,
        userId: call.caller.user.id,
        previousId: call.earlier?.previousId ?? null,
        chain: call.earlier?.chain ?? [],
        itemIds,
        turn: { input: call.earlier?.input ?? asItems(call.body.json['input']), response },
        mostBytes: mostBytesOf(services),
      },
    )
  } catch (cause) {
    services.log.warn({ err: cause, requestId: call.id }, 'an answer could not be kept')
    return false
  }
}

/** Adds a turn to the conversation that its call named. @returns whether it was. */
export async function keepTurn(services: RelayServices, call: CallCore, response: Json): Promise<boolean> {
  const { conversationId, input = [] } = call.earlier ?? {}
  if (conversationId === undefined) return false
  const items = [...input, ...itemsOf(response['output'])].map((item) => asConversationItem(item, services.ambient))
  try {
    const added = await addItems(
      { pool: services.database.pool, secrets: services.secrets },
      {
        id: conversationId,
        userId: call.caller.user.id,
        days: daysOf(services),
        items,
        mostBytes: mostBytesOf(services),
      },
    )
    return added === 'added'
  } catch (cause) {
    services.log.warn({ err: cause, requestId: call.id }, 'a turn could not be added to its conversation')
    return false
  }
}

/**
 * What a caller reads of a stored answer: the response, or what it was asked, history included.
 * @throws {DomainError} input.no_room, input.address_full
 */
export async function readStored(
  services: RelayServices,
  { id, userId, path, incoming }: { id: string; userId: number; path: string; incoming: Arrived },
): Promise<Json | Json[] | undefined> {
  const deps = { pool: services.database.pool, secrets: services.secrets }
  const { hold } = openMemory(services, incoming)
  const owned = { id, userId, days: daysOf(services), hold }
  if (path === '') return (await findTurn(deps, owned))?.response
  const found = await findConversation(deps, owned)
  if (!found) return undefined
  const last = found.turns.length - 1
  return found.turns
    .flatMap(({ input, response }, turn) => [...input, ...(turn === last ? [] : itemsOf(response['output']))])
    .map((item, index) => ({
      ...(isObject(item) && item['type'] === undefined ? { type: 'message' } : {}),
      id: `item_${id.replace(/^resp_/, '')}_${index}`,
      ...item,
    }))
}
