import { DomainError } from '#core/errors.ts'
import { channelStatus } from '#core/statuses.ts'
import { admitAddress, admitCall, admitGroup, admitPin, sessionOf } from '#relay/request/admit.ts'
import { authenticate } from '#relay/request/authenticate.ts'
import type { CallCore, Caller, Incoming, RelayServices } from '#relay/request/call.ts'
import type { Session } from './call.ts'

/** @throws {DomainError} relay.body_invalid */
export function modelInAddress({ req }: Incoming): string {
  const { model } = req.query
  if (typeof model !== 'string' || model === '')
    throw new DomainError('relay.body_invalid', { detail: 'model is required' })
  return model
}

/** The checks before the model is known. */
export function admitUnnamed(services: RelayServices, incoming: Incoming, caller: Caller): void {
  admitAddress(caller, incoming.ip)
  admitGroup(services, caller)
  admitPin(services, caller)
}

/** The checks from the caller's address to the model, of a call that has no body. */
export function admitRealtime(
  services: RelayServices,
  incoming: Incoming,
  { caller, model }: { caller: Caller; model: string },
): CallCore {
  admitAddress(caller, incoming.ip)
  const admitted = admitCall(services, caller, model)
  const body = { bytes: Buffer.alloc(0), json: {} }
  return {
    ...incoming,
    caller,
    ...admitted,
    session: sessionOf({ ...incoming, caller, body }),
    stream: true,
    body,
  }
}

/** Why the next response may not begin, by what has changed since the session did; null while nothing stands against it. */
export async function refusalToGoOn({ services, call, plan }: Session): Promise<DomainError | null> {
  try {
    // A session may last for an hour; a process that was asked to stop cannot wait for it.
    if (services.draining()) throw new DomainError('relay.stopping')
    admitRealtime(services, call, { caller: await authenticate(services, call.req), model: call.model })
    const channel = services.channels.channel(plan.attempt.channel.id)
    if (channel?.status !== channelStatus.enabled) throw new DomainError('relay.channel_disabled')
    return null
  } catch (error) {
    // What cannot be looked up now is no refusal: the reservation has the last word.
    return error instanceof DomainError ? error : null
  }
}
