import { DomainError } from '#core/errors.ts'
import { findConversation } from '#features/stored-responses/local-responses.ts'
import { isObject } from '#relay/chat/json.ts'
import { isInteractionId } from '#relay/dialects/gemini-interactions/ids.ts'
import { read } from '#relay/dialects/gemini-interactions/parse.ts'
import { stepsOf } from '#relay/dialects/gemini-interactions/steps.ts'
import type { CallBody, Incoming, RelayServices } from '#relay/request/call.ts'
import type { EarlierTurns } from './earlier-turns.ts'
import { daysOf, openMemory, withHistory } from './local-responses.ts'

type Json = Record<string, unknown>

/**
 * The body of an interaction with the steps before it, which the gateway keeps itself.
 * @throws {DomainError} relay.stored_item_unknown for an interaction that is not there or not the caller's own,
 * relay.body_too_large, input.no_room, input.address_full
 */
export async function withEarlierSteps(
  services: RelayServices,
  {
    userId,
    body,
    incoming,
  }: { userId: number; body: CallBody; incoming: Pick<Incoming, 'ip' | 'res' | 'callerAborted'> },
): Promise<{ body: CallBody; earlier: EarlierTurns }> {
  const input = stepsOf(body.json['input'], read)
  const previousId = read.text(body.json['previous_interaction_id'], 'previous_interaction_id') || null
  const first = { asked: body.json, previousId: null, chain: [], input }
  if (previousId === null) return { body, earlier: first }
  const deps = { pool: services.database.pool, secrets: services.secrets }
  const { hold } = openMemory(services, incoming)
  const found = isInteractionId(previousId)
    ? await findConversation(deps, { id: previousId, userId, days: daysOf(services), hold })
    : undefined
  if (!found) throw new DomainError('relay.stored_item_unknown')
  const history = found.turns.flatMap(({ input: asked, response }) => [...asked, ...stepsIn(response)])
  const { previous_interaction_id: _, ...rest } = body.json
  const json = { ...rest, input: [...history, ...input] }
  return {
    body: await withHistory(services, { json, items: json.input, hold }),
    earlier: { ...first, previousId, chain: found.ids },
  }
}

const stepsIn = ({ steps }: Json): Json[] => (Array.isArray(steps) ? steps.filter(isObject) : [])
