import type { Request, Response } from 'express'
import { DomainError } from '#core/errors.ts'
import { openAiChat } from '#relay/dialects/openai-chat/index.ts'
import {
  admitAddress,
  admitGroup,
  admitModel,
  admitModelName,
  admitPin,
  groupInUse,
  sessionOf,
} from '#relay/request/admit.ts'
import { authenticate } from '#relay/request/authenticate.ts'
import type { CallBody, CallCore, Caller, Incoming, RelayServices } from '#relay/request/call.ts'
import { type LimitedCall, limitTask } from '#relay/request/limit.ts'
import { receive } from '#relay/request/receive.ts'
import { statusSent } from '#relay/response/report-error.ts'

export type Exchange = { req: Request; res: Response }

export type Identified = { incoming: Incoming; caller: Caller }

type TaskHandler = {
  run: (identified: Identified) => Promise<void>
  /** Reports to the caller what went wrong, in the form of its route. */
  report: (incoming: Incoming, error: unknown) => void
}

/** The checks of key, owner, the token's limit and address around whatever a job's route does. Jobs have no limit per user. */
export async function handleTask(services: RelayServices, exchange: Exchange, handler: TaskHandler): Promise<void> {
  const incoming = receive(services, openAiChat, exchange)
  let limited: LimitedCall | null = null
  try {
    if (services.stopping()) throw new DomainError('relay.stopping')
    const caller = await authenticate(services, exchange.req)
    limited = await limitTask(services, caller, incoming)
    admitAddress(caller, incoming.ip)
    await handler.run({ incoming, caller })
    await limited.ended(statusSent(incoming))
  } catch (error) {
    await limited?.ended(statusSent(incoming, error))
    handler.report(incoming, error)
  }
}

/** The checks from the model's name to the model, for a call whose model is known. `names` are all names of the same model, the usual one first. */
export function admitTask(
  services: RelayServices,
  { incoming, caller }: Identified,
  asked: { body: CallBody; names: [string, ...string[]] },
): CallCore {
  for (const name of asked.names) admitModelName(name)
  const wanted = admitGroup(services, caller)
  const pinnedChannel = admitPin(services, caller)
  const served = asked.names
    .map((model) => ({ model, group: groupInUse(services, caller, { group: wanted, model, pinnedChannel }) }))
    .find(({ model, group }) => services.channels.tiers(group, model).length > 0)
  const [model] = asked.names
  const chosen = served ?? { model, group: groupInUse(services, caller, { group: wanted, model, pinnedChannel }) }
  const limits = caller.token?.modelLimits
  if (!pinnedChannel)
    admitModel(services, caller, { ...chosen, model: asked.names.find((name) => limits?.has(name)) ?? model })
  const session = sessionOf({ ...incoming, caller, body: asked.body })
  return { ...incoming, caller, ...chosen, session, stream: false, body: asked.body, pinnedChannel }
}
