import type { RelayServices } from '#relay/request/call.ts'
import type { Call } from '#relay/request/call.ts'
import type { Attempt } from '#relay/request/call.ts'
import type { AttemptRecord } from '#relay/request/call.ts'
import type { CallPrice } from '#relay/billing/price-call.ts'
import type { Provider } from '#relay/providers/types.ts'
import type { ProviderCall } from '#relay/providers/types.ts'
import type { ChannelRequest } from './channel-body.ts'
import type { NativeDialect } from '#relay/providers/types.ts'
import type { ReasoningPlace } from '#relay/chat/reasoning.ts'
import type { Hold } from '#relay/billing/hold.ts'
import type { HoldFacts } from '#relay/billing/hold-plan.ts'
import type { HoldPlan } from '#relay/billing/hold-plan.ts'

/** Everything one try needs and everything its bill needs. */
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
  /** Set when the upstream speaks the caller's dialect: the body goes out as it came. */
  native: NativeDialect | null
  /** The same, where the answer comes back as received too. */
  listens: NativeDialect | null
  /** What the channel wants done to translated answers. */
  reasoning: ReasoningPlace
  /** Priced by the Claude formula. */
  claude: boolean
  losses: string[]
  sentAt: number
  /** The request went upstream. */
  asked: boolean
  held: Held
}

/** What is set aside for a try, and why so much. */
export type Held = { hold: Hold; facts: HoldFacts; plan: HoldPlan }
