import { openAiChat } from '#relay/dialects/openai-chat/index.ts'
import { admitGroup, admitModel, admitModelName, admitPin, groupInUse, sessionOf } from '#relay/request/admit.ts'
import type { CallCore, RelayServices } from '#relay/request/call.ts'
import { limitTask } from '#relay/request/limit.ts'
import type { ReadBody } from '#relay/request/read-body.ts'
import { answerLimited, type Exchange, type Identified } from '../limited-call.ts'

/** A call about tasks, which have no limit per user. */
export const handleTask = (
  services: RelayServices,
  exchange: Exchange,
  steps: Pick<Parameters<typeof answerLimited>[2], 'answer' | 'report'>,
): Promise<void> => answerLimited(services, exchange, { dialect: openAiChat, limit: limitTask, ...steps })

/** The checks from the model's name to the model, for a call whose model is known. `names` are all names of the same model, the usual one first. */
export function admitTask(
  services: RelayServices,
  { incoming, caller }: Identified,
  asked: { body: ReadBody; names: [string, ...string[]] },
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
  const { body } = asked
  const session = sessionOf({ ...incoming, caller, body })
  return { ...incoming, caller, ...chosen, session, stream: false, body, dropped: body.dropped, pinnedChannel }
}
