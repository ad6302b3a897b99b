import type { Request, Response } from 'express'
import { DomainError } from '#core/errors.ts'
import { cheapPromptTokens } from './counting/cheap-count.ts'
import type { CallerDialect } from './dialects/types.ts'
import { admitAddress, admitCall } from './request/admit.ts'
import { attemptAll, type AttemptPlan } from './attempt/attempts.ts'
import type { Call, CallBody, Caller, Incoming, RelayServices } from './request/call.ts'
import type { Held } from './attempt/attempt-context.ts'
import { forward } from './attempt/forward.ts'
import { openHold } from './billing/hold.ts'
import { holdFactsOf } from './billing/hold-facts.ts'
import { keepAlive } from './response/caller-stream.ts'
import { placeOfNamed } from './routing/stored-responses.ts'
import { limit, type LimitedCall } from './request/limit.ts'
import { readBody } from './request/read-body.ts'
import { reportError, statusSent } from './response/report-error.ts'
import { receive } from './request/receive.ts'
import { refuseExtensions, screen } from './request/screen.ts'

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
  let limited: LimitedCall | null = null
  try {
    if (services.stopping()) throw new DomainError('relay.stopping')
    const caller = await route.identify(services, req)
    limited = await limit(services, caller, incoming)
    const call = await admitChat(services, { incoming, route, caller })
    refuseExtensions(services, call)
    screen(services, call)
    const quiet = keepAlive(services, call)
    await attemptWithHold(services, call).finally(quiet)
    await limited.ended(statusSent(incoming))
  } catch (error) {
    await limited?.ended(statusSent(incoming, error))
    reportError(services, incoming, error)
  }
}

type Arrival = { incoming: Incoming; route: ChatRoute; caller: Caller }

/** The checks from the caller's address to the model (docs/reference/admission.md), and the request read. */
export async function admitChat(services: RelayServices, { incoming, route, caller: known }: Arrival): Promise<Call> {
  admitAddress(known, incoming.ip)
  const read = await readBody(services, incoming)
  const { caller, body } = route.prepare?.(services, known, read) ?? { caller: known, body: read }
  const request = route.dialect.parse(body.json, route.path)
  const admitted = admitCall(services, caller, request.model)
  const storedAt = route.dialect.keepsResponses
    ? await placeOfNamed(services, { userId: caller.user.id, body: body.json })
    : undefined
  return {
    ...incoming,
    caller,
    body,
    storedAt,
    request,
    ...admitted,
    stream: request.stream,
    asJsonArray: route.asJsonArray,
    estimate: cheapPromptTokens(request),
  }
}

/** Every attempt sets aside what it needs beyond what the earlier ones had. */
async function attemptWithHold(services: RelayServices, call: Call): Promise<void> {
  const hold = openHold(services, call)
  const holdOf = async (plan: AttemptPlan): Promise<Held> => {
    const facts = holdFactsOf(services, call, plan)
    return { hold, facts, plan: await hold.take(facts) }
  }
  let held: Held | undefined
  try {
    await attemptAll(services, call, {
      hold: {
        get taken() {
          return hold.taken
        },
        take: async (plan) => {
          held = await holdOf(plan)
        },
        finish: hold.finish,
      },
      forward: async (plan) => forward(services, call, { ...plan, held: held ?? (await holdOf(plan)) }),
    })
  } finally {
    hold.close()
  }
}
