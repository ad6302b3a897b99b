import {
  findConversation,
  findItems,
  findTurn,
  keepResponse,
  type StoredTurn,
} from '#features/stored-responses/local-responses.ts'
import { isObject } from '#relay/chat/json.ts'
import type { CallBody, CallCore, RelayServices } from '#relay/request/call.ts'
import type { EarlierTurns } from './earlier-turns.ts'
import { isReference, itemsOf } from './stored-responses.ts'

type Json = Record<string, unknown>

const daysOf = ({ options }: RelayServices): number => options.get('global.stored_responses_days')

/** Answers of this call are kept: its caller did not say no, and the operator does not. */
export const keepsAnswer = (services: RelayServices, { dialect, earlier, body }: KeepingCall): boolean =>
  dialect.keepsResponses && (earlier?.asked ?? body.json)['store'] !== false && daysOf(services) > 0

type KeepingCall = Pick<CallCore, 'dialect' | 'body' | 'earlier'>

const asItems = (input: unknown): Json[] =>
  typeof input === 'string'
    ? [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: input }] }]
    : itemsOf(input)

/** An item on its way to an upstream that has never heard of its id. */
const withoutId = ({ id: _id, status: _status, ...item }: Json): Json => item

const historyOf = (turns: readonly StoredTurn[]): Json[] =>
  turns.flatMap(({ input, response }) => [...input, ...itemsOf(response['output'])]).map(withoutId)

/**
 * A body with what it refers to in the place of the references, where the gateway keeps that: any upstream can take it up.
 * What it does not know stays as it is, for an upstream may.
 */
export async function withEarlierTurns(
  services: RelayServices,
  { userId, body }: { userId: number; body: CallBody },
): Promise<{ body: CallBody; earlier?: EarlierTurns }> {
  const days = daysOf(services)
  const { previous_response_id: previousId, input } = body.json
  const ids = itemsOf(input).flatMap((item) =>
    isReference(item) && typeof item['id'] === 'string' ? [item['id']] : [],
  )
  const hasPrevious = typeof previousId === 'string' && previousId !== ''
  if (days === 0 || (!hasPrevious && ids.length === 0)) return { body }
  const deps = { pool: services.database.pool, secrets: services.secrets }
  const before = hasPrevious ? await findConversation(deps, { id: previousId, userId, days }) : undefined
  const known = ids.length > 0 ? await findItems(deps, { ids, userId, days }) : new Map<string, Json>()
  if (!before && known.size === 0) return { body }
  const own = asItems(input).map((item) => {
    const found = isReference(item) ? known.get(String(item['id'])) : undefined
    return found ? withoutId(found) : item
  })
  const { previous_response_id: _previous, ...rest } = body.json
  const json = {
    ...(before ? rest : body.json),
    input: before ? [...historyOf(before.turns), ...own] : own,
  }
  const earlier = {
    asked: body.json,
    previousId: before ? (previousId as string) : null,
    chain: before?.ids ?? [],
    input: own,
  }
  return { body: { json, bytes: Buffer.from(JSON.stringify(json)) }, earlier }
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
        mostBytes: services.options.get('global.stored_responses_megabytes') * 1024 * 1024,
      },
    )
  } catch (cause) {
    services.log.warn({ err: cause, requestId: call.id }, 'an answer could not be kept')
    return false
  }
}

/** What a caller reads of a kept answer: the response, or what it was asked, history included. */
export async function readStored(
  services: RelayServices,
  { id, userId, path }: { id: string; userId: number; path: string },
): Promise<Json | Json[] | undefined> {
  const deps = { pool: services.database.pool, secrets: services.secrets }
  const owned = { id, userId, days: daysOf(services) }
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
