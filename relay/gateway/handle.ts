import type { Request, Response } from 'express'
import { DomainError } from '#core/errors.ts'
import type { UsageFormula } from '#core/pricing/receipt.ts'
import { cheapPromptTokens } from '#relay/counting/cheap-count.ts'
import type { CallerDialect } from '#relay/dialects/types.ts'
import { providerFor } from '#relay/providers/registry.ts'
import { admitAddress, admitGroup, admitModel, admitPin } from './admit.ts'
import type { Attempt, AttemptRecord, Call, CallBody, Caller, Incoming, RelayServices } from './call.ts'
import { AttemptFailed } from './failure.ts'
import { forward } from './forward.ts'
import { limit } from './limit.ts'
import { logFailedAttempt } from './log-failure.ts'
import { priceCall } from './price-call.ts'
import { readBody } from './read-body.ts'
import { reportError } from './report-error.ts'
import { receive } from './receive.ts'
import { reserve } from './reserve.ts'
import { mayTryAgain, pauseBeforeRetry } from './retry.ts'
import { refuseExtensions, screen } from './screen.ts'
import { createSelection } from './select.ts'

export type ChatRoute = {
  dialect: CallerDialect
  /** What the path says, for dialects that keep model and streaming there. */
  path: { model?: string; stream?: boolean }
  asJsonArray: boolean
  identify: (services: RelayServices, req: Request) => Promise<Caller>
  /** What the body itself says of the caller, and the body without it. */
  prepare?: (services: RelayServices, caller: Caller, body: CallBody) => { caller: Caller; body: CallBody }
}

/** One chat call from arrival to its last byte: every step in its order. */
export async function handleChat(
  services: RelayServices,
  route: ChatRoute,
  { req, res }: { req: Request; res: Response },
): Promise<void> {
  const incoming = receive(services, route.dialect, { req, res })
  try {
    if (services.stopping()) throw new DomainError('relay.stopping')
    const caller = await route.identify(services, req)
    const limited = await limit(services, caller)
    const call = await admit(services, { incoming, route, caller })
    refuseExtensions(services, call)
    screen(services, call)
    await attemptAll(services, call)
    if (res.statusCode < 300) await limited.succeeded()
  } catch (error) {
    reportError(services, incoming, error)
  }
}

type Arrival = { incoming: Incoming; route: ChatRoute; caller: Caller }

async function admit(services: RelayServices, { incoming, route, caller: known }: Arrival): Promise<Call> {
  admitAddress(known, incoming.ip)
  const read = await readBody(incoming.req, incoming.res)
  const { caller, body } = route.prepare?.(services, known, read) ?? { caller: known, body: read }
  const request = route.dialect.parse(body.json, route.path)
  const group = admitGroup(services, caller)
  const pinnedChannel = admitPin(services, caller)
  if (!pinnedChannel) admitModel(services, caller, { group, model: request.model })
  return {
    ...incoming,
    caller,
    body,
    request,
    group,
    pinnedChannel,
    asJsonArray: route.asJsonArray,
    estimate: cheapPromptTokens(request),
  }
}

/** Tries channels until one answers. The hold of the first try serves all of them and is given back if none does. */
async function attemptAll(services: RelayServices, call: Call): Promise<void> {
  const selection = createSelection(services, call)
  const attempts: AttemptRecord[] = []
  const held = { id: call.id, userId: call.caller.user.id, tokenId: call.caller.token?.id ?? 0 }
  let reserved = false
  try {
    for (let number = 0; ; number += 1) {
      const attempt = selection.next()
      const terms = termsOf(services, call, attempt)
      await reserve(services, call, terms)
      reserved = true
      const startedAt = performance.now()
      const place = { channelId: attempt.channel.id, key: attempt.key.position, model: attempt.model }
      services.health.started(place)
      try {
        await forward(services, call, { attempt, attempts, terms })
        services.health.succeeded(place)
        return
      } catch (error) {
        if (!(error instanceof AttemptFailed)) throw error
        services.health.failed(place, error)
        attempts.push(recordOf(attempt, error, startedAt))
        logFailedAttempt(services, call, { attempt, attempts, error })
        const failed = { error, attempt, number, selection }
        if (!mayTryAgain(services, call, failed)) throw error
        await pauseBeforeRetry(services, call, failed)
      }
    }
  } catch (error) {
    if (reserved) await services.ledger.release(held)
    throw error
  }
}

function termsOf(services: RelayServices, call: Call, attempt: Attempt) {
  const model = services.options.get('redirect_billing_enabled') ? call.request.model : attempt.upstreamModel
  const claude = call.dialect.id === 'claude' || providerFor(attempt.channel.type).native.claude !== undefined
  const formula: UsageFormula = claude ? 'claude' : 'text'
  return { ...priceCall(services, { model, group: call.group, user: call.caller.user }), formula }
}

const recordOf = (attempt: Attempt, error: AttemptFailed, startedAt: number): AttemptRecord => ({
  channel_id: attempt.channel.id,
  channel_name: attempt.channel.name,
  key_index: attempt.key.position,
  status: error.failure.status,
  reason: error.failure.message.slice(0, 500),
  ms: Math.round(performance.now() - startedAt),
})
