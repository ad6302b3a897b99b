import { shouldDisable } from '#core/routing/disable.ts'
import { disableAutomatically } from '#features/channels/service/automatic.ts'
import { maskFailure } from '#relay/upstream/mask-failure.ts'
import { attemptSecrets } from './attempt-secrets.ts'
import type { Attempt, CallCore, RelayServices } from './call.ts'
import type { AttemptFailed } from './failure.ts'

/**
 * Takes the key of a failed attempt out when the failure tells that the credential is dead; the last key takes its channel
 * along. Runs beside the reply. Never for what a caller sent.
 */
export function disableDeadKey(
  services: RelayServices,
  call: CallCore,
  { attempt, error }: { attempt: Attempt; error: AttemptFailed },
): void {
  const { options } = services
  const { status } = error.failure
  // Hidden from callers, the upstream's own words still tell what is wrong with the key.
  const said = { ...error.failure, ...error.failure.said }
  const { type, code, message } = maskFailure(said, attemptSecrets(attempt))
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
    requestText: () => call.body.bytes.toString('utf8'),
  }
  if (!shouldDisable(fault, rules)) return
  const what = { channelId: attempt.channel.id, key: attempt.key.value, reason: message }
  disableAutomatically({ ...services, em: services.database.orm.em.fork() }, what).catch((cause: unknown) =>
    services.log.error({ err: cause }, 'a dead key could not be disabled'),
  )
}
