import type { Holding } from '#features/request-bodies/budget.ts'
import type { Held } from '#relay/billing/hold.ts'
import type { CallPrice } from '#relay/billing/price-call.ts'
import type { ReasoningPlace } from '#relay/chat/reasoning.ts'
import type { NativeDialect, Provider, ProviderCall } from '#relay/providers/types.ts'
import type { Attempt, AttemptRecord, Call, RelayServices } from '#relay/request/call.ts'
import type { ChannelRequest } from './channel-body.ts'

/** Everything one attempt needs and everything its bill needs. */
export type AttemptContext = {
  services: RelayServices
  call: Call
  attempt: Attempt
  attempts: AttemptRecord[]
  terms: CallPrice
  provider: Provider
  providerCall: ProviderCall
  /** The request as this channel sends it. */
  sent: ChannelRequest
  /** Its prompt's tokens by the cheap count. */
  promptTokens: number
  /** Set when the upstream speaks the caller's dialect: the body goes out as it came. */
  native: NativeDialect | null
  /** The same, where the answer comes back as received too. */
  listens: NativeDialect | null
  /** What the channel wants done to translated answers. */
  reasoning: ReasoningPlace
  /** Priced by the Claude formula. */
  claude: boolean
  losses: string[]
  /** How many answers the upstream was asked for. */
  answers: number
  /** As in `UpstreamRequest`. */
  searches: number
  sentAt: number
  /** The request went upstream. */
  asked: boolean
  /** Something came back. */
  answered: boolean
  held: Held
  /** Memory for what is fetched to be sent, given back with the end of the attempt. */
  fileMemory?: Holding | undefined
}
