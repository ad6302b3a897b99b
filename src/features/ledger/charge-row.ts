import type { AttemptCost } from '#core/pricing/attempt-costs.ts'
import type { LogOther } from '#db/entities/log.ts'

/** What is known of a call that ends without a charge, so that what its attempts cost is booked where it belongs. */
export type UnchargedCosts = { modelName: string; group: string; costs: AttemptCost[] }

/** A call that is over: what it costs and the log row that says so. `id` is the hold's, which is the request's. */
export type ChargeRow = {
  id: string
  userId: number
  /** 0: none. */
  tokenId: number
  channelId: number
  /** Internal units, never negative. */
  quota: number
  /** Raises the request counters; false for an answer without any usage. */
  counted: boolean
  /** Consumption is logged (`LogConsumeEnabled`). */
  log: boolean
  content: string
  username: string
  tokenName: string
  modelName: string
  promptTokens: number
  completionTokens: number
  cachedTokens: number
  useTimeMs: number
  /** Null when no first token was seen. */
  firstTokenMs: number | null
  isStream: boolean
  group: string
  clientIp: string
  other: LogOther
  /** What the charged try cost the operator, in billionths of a dollar; null or absent where nobody knows. */
  cost?: number | null
  /** What the attempts before it cost. */
  costs?: AttemptCost[] | null
}

export type ReserveRequest = {
  id: string
  userId: number
  tokenId: number
  amount: number
  /** The names of the model, a line each, for spend caps and plans of some models; where it is absent caps count the charge only. */
  model?: string
  /** What it pays for outlives this process: it is set aside in the database, never in a lease. See `Ledger.handOver`. */
  lasting?: boolean | undefined
}

/** The charge of one part of a call that goes on, and what to set aside for its next part. */
export type Renewal = {
  row: ChargeRow
  next: ReserveRequest
  /** So much of what was set aside stays so for the next part, whatever the verdict is; at most what the charge leaves of it. */
  remaining?: number | undefined
}

export type ReserveVerdict =
  | 'ok'
  | 'user_missing'
  | 'token_missing'
  | 'user_insufficient'
  | 'token_insufficient'
  | 'token_exhausted'
  | 'cap_reached'
  | 'plan_spent'

/** The spend cap, or the window of a subscription, that refuses a reservation. */
export type ReachedCap = {
  id: number
  scope: 'user' | 'token' | 'subscription'
  /** Of the subscription. */
  name?: string
  period: 'rolling' | 'day' | 'week' | 'month'
  /** Of a rolling window. */
  seconds: number
  zone: string
  models: string[]
  amount: number
  left: number
  /** When enough comes free for this reservation, in Unix seconds and from now. */
  turnsAt: number
  inSeconds: number
}

export type ReserveResult = {
  verdict: ReserveVerdict
  /** Before this reservation. */
  userQuota: number
  /** What balance and subscription together leave for this call; before this reservation. */
  payable: number
  /** Before this reservation; null for an unlimited token or none. */
  tokenQuota: number | null
  /** What the tightest spend cap leaves; null without one. */
  capLeft: number | null
  /** The cap that refused. */
  cap: ReachedCap | null
}
