import { shouldDisable } from '#core/routing/disable.ts'
import { setTimeout as delay } from 'node:timers/promises'
import { disableAutomatically } from '#features/channels/service/automatic.ts'
import { maskFailure } from '#relay/providers/shared/mask-failure.ts'
import { attemptSecrets } from '#relay/attempt/upstream-channel.ts'
import type { Attempt, CallCore, RelayServices } from '#relay/request/call.ts'
import type { AttemptFailed } from '#relay/attempt/failure.ts'
import { callerWords } from './caller-words.ts'

/**
 * Takes the key of a failed attempt out when the failure shows that the credential is invalid; the last key takes its channel
 * along. Resolves when no node uses it any more, so that the call that found out is answered after that; where the
 * database keeps us waiting, before it. Never for what a caller sent.
 */
export async function disableDeadKey(
  services: RelayServices,
  call: CallCore,
  { attempt, error }: { attempt: Attempt; error: AttemptFailed },
): Promise<void> {
  const { options } = services
  const { status } = error.failure
  // Hidden from callers, the upstream's own words still tell what is wrong with the key.
  const original = { ...error.failure, ...error.failure.original }
  const { type, code, message } = maskFailure(original, attemptSecrets(attempt))
  const fault = {
    status,
    type,
    code,
    message,
    local: error.local || error.connection,
    channelType: attempt.channel.type,
  }
  const rules = {
    AutomaticDisableChannelEnabled: options.get('AutomaticDisableChannelEnabled'),
    AutomaticDisableKeywords: options.get('AutomaticDisableKeywords'),
    autoBan: attempt.channel.autoBan,
    requestText: () => callerWords(call),
  }
  if (!shouldDisable(fault, rules)) return
  await takeOut(services, attempt, message)
}

const longestWaitMs = 1000

/** Takes the key of an attempt out, and its channel with the last one. Never rejects. */
export async function takeOut(services: RelayServices, { channel, key }: Attempt, reason: string): Promise<void> {
  const what = { channelId: channel.id, key: key.value, reason }
  const done = disableAutomatically({ ...services, em: services.database.orm.em.fork() }, what).catch(
    (cause: unknown) => services.log.error({ err: cause }, 'a dead key could not be disabled'),
  )
  await Promise.race([done, delay(longestWaitMs, undefined, { ref: false })])
}
