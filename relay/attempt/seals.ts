import type { ChatRequest, DialectId } from '#relay/chat/request.ts'
import type { Maker } from '#relay/chat/seals/envelope.ts'
import { openSeals, sealLoss, withoutProofs } from '#relay/chat/seals/open-seals.ts'
import { type Sealing, sealingDecoder, sealResponse } from '#relay/chat/seals/seal-answer.ts'
import { isPricedAsClaude } from '#relay/providers/registry.ts'
import type { Provider } from '#relay/providers/types.ts'
import type { AttemptContext } from './attempt-context.ts'

type Place = Pick<AttemptContext, 'services' | 'attempt' | 'provider'>

/**
 * Who makes a proof of the dialect at this place. Anthropic's hold for every model and on every cloud, Google's for the model
 * at its host; what OpenAI encrypts is read for no other account, which a key stands for.
 */
function makerAt({ services, attempt, provider }: Place, dialect: DialectId): Maker {
  const { channel, key, upstreamModel } = attempt
  const shared: Partial<Record<DialectId, Maker>> = {
    ...(isPricedAsClaude(channel.type, upstreamModel) ? { claude: { dialect: 'claude' } } : {}),
    ...(provider.native.gemini ? { gemini: { dialect: 'gemini', model: upstreamModel, account: provider.id } } : {}),
  }
  const account = () => services.secrets.hmac(`${channel.id} ${key.value}`).slice(0, 16)
  return shared[dialect] ?? { dialect, model: upstreamModel, account: account() }
}

/** The request as this upstream may read it, with the names of proofs that are not its own. */
export function withOpenSeals(context: AttemptContext): { request: ChatRequest; losses: string[] } {
  const { request } = context.sent
  const reads = (maker: Maker): boolean => {
    const own = makerAt(context, maker.dialect)
    return own.model === maker.model && own.account === maker.account
  }
  const opened = openSeals(request, { sealer: context.services.secrets, reads })
  const left = withoutProofs(opened.request, context.providerCall.isRefusedProof)
  return left === opened.request ? opened : { request: left, losses: [...opened.losses, sealLoss] }
}

/** The same upstream, whose proofs of reasoning come as the caller's dialect can carry them. */
export function sealingProvider(context: AttemptContext, provider: Provider): Provider {
  const { call, services, sent } = context
  const caller = call.dialect.sealsReasoningAs
  if (caller === undefined) return provider
  const sealing: Sealing = {
    sealer: services.secrets,
    caller,
    makerOf: (dialect) => makerAt(context, dialect),
    expectsReasoning: sent.request.reasoning !== undefined,
    onLoss: () => {
      if (!context.losses.includes(sealLoss)) context.losses = [...context.losses, sealLoss]
    },
  }
  const { chat } = provider
  return {
    ...provider,
    chat: {
      ...chat,
      response: (json, providerCall) => sealResponse(chat.response(json, providerCall), sealing),
      stream: (providerCall) => sealingDecoder(chat.stream(providerCall), sealing),
    },
  }
}
