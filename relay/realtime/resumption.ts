import { DomainError } from '#core/errors.ts'
import { rememberAnswers } from '#features/stored-responses/service.ts'
import { providerFor } from '#relay/providers/registry.ts'
import { type Json, recordOf, wordOf } from '#relay/providers/shared/json.ts'
import type { CallCore, RelayServices } from '#relay/request/call.ts'
import type { StoredAt } from '#relay/routing/stored-at.ts'
import { placeOfAnswer, placeStoredAt } from '#relay/routing/stored-responses.ts'
import type { Session } from './call.ts'

/**
 * Where the conversation is kept that a session is to go on with; nothing where it names none.
 * @throws {DomainError} relay.stored_item_unknown for one that no session of this user has begun at a vendor that keeps them.
 */
export async function placeOfConversation(services: RelayServices, call: CallCore): Promise<StoredAt | undefined> {
  const { conversation_id: id } = call.req.query
  if (id === undefined) return undefined
  const userId = call.caller.user.id
  const storedAt = typeof id === 'string' ? await placeOfAnswer(services, { userId, id }) : undefined
  const place = storedAt && placeStoredAt(services, storedAt)
  if (!place || !providerFor(place.channel.type).realtime?.resumes) throw new DomainError('relay.stored_item_unknown')
  return storedAt
}

/** Whether an event of the upstream names a conversation that can be gone on with later. */
export const beginsConversation = ({ translation }: Session, event: Json): boolean =>
  event['type'] === 'conversation.created' && translation.resumes === true

/** Remembers whose conversation the upstream has begun, before its caller can name it. A failure costs the caller only that. */
export async function rememberConversation({ services, call, plan }: Session, event: Json): Promise<void> {
  const id = wordOf(recordOf(event['conversation'])?.['id'])
  if (id === undefined) return
  const { channel, key } = plan.attempt
  const place = { channelId: channel.id, keyHmac: services.secrets.hmac(key.value), model: call.model }
  await rememberAnswers(services.database.pool, { ids: [id], userId: call.caller.user.id, ...place }).catch(
    (cause: unknown) => {
      services.log.warn({ err: cause, requestId: call.id }, 'a conversation could not be remembered')
    },
  )
}
