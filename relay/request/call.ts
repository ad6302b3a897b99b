import type { Request, Response } from 'express'
import type { InFlight } from '#core/in-flight.ts'
import type { JsonField } from '#core/json-weight.ts'
import type { Language, Problem } from '#core/errors.ts'
import type { ChatRequest } from '#relay/chat/request.ts'
import type { CallerDialect } from '#relay/dialects/types.ts'
import type { UnseenInput } from '#relay/counting/unseen-input.ts'
import type { CheapPromptCount } from '#relay/counting/cheap-count.ts'
import type { Services } from '#features/deps.ts'
import type { Holding } from '#features/request-bodies/budget.ts'
import type { ChannelRow, ChannelTable } from '#relay/routing/channel-table.ts'
import type { MediaFetcher } from '#relay/transport/media.ts'
import type { createTokenCache, TokenRow } from './token-cache.ts'
import type { createUserCache, UserRow } from './user-cache.ts'
import type { RetryBudget } from '#core/routing/retry-budget.ts'
import type { Metrics } from '#features/metrics/service.ts'
import type { FailureLog } from '#relay/attempt/failure-log.ts'
import type { RefusedProofs } from '#relay/chat/seals/refused-proofs.ts'
import type { RefusedForms } from '#relay/routing/known-refusals.ts'
import type { CircuitBreaker } from '#relay/routing/circuit-breaker.ts'
import type { Holds } from '#relay/billing/open-holds.ts'
import type { EarlierTurns } from '#relay/routing/earlier-turns.ts'
import type { StoredAt } from '#relay/routing/stored-at.ts'
import type { TokenCounter } from '#relay/billing/token-counter.ts'
import type { Screener } from './screener.ts'
import type { Tracing } from '#relay/tracing/tracing.ts'

/** What the relay keeps in memory beside the process's services. */
export type RelayServices = Services & {
  tokens: ReturnType<typeof createTokenCache>
  users: ReturnType<typeof createUserCache>
  channels: ChannelTable
  /** For addresses that callers aim: images and files to inline. */
  media: MediaFetcher
  /** Counts tokens away from the traffic. */
  counter: TokenCounter
  /** Looks long texts through for sensitive words, away from the traffic. */
  screener: Screener
  circuitBreaker: CircuitBreaker
  /** What retries may add to the load of an outage. */
  retryBudget: RetryBudget
  /** Rows of attempts that failed. */
  failureLog: FailureLog
  /** Logs why a call failed that nobody foresaw to fail. */
  reportUnexpected: (error: unknown, requestId: string) => void
  holds: Holds
  metrics: Metrics
  /** Spans of calls; null where no exporter is configured. */
  tracing: Tracing | null
  /** Position of the next key of each channel. */
  keyCursor: Map<number, number>
  refusedProofs: RefusedProofs
  refusedForms: RefusedForms
  /** The process was asked to stop: it serves who comes, and wants nobody sent to it any more. */
  draining: () => boolean
  /** Whether calls should be sent here. */
  ready: () => Promise<boolean>
  /** The process is going down: no new calls. */
  stopping: () => boolean
  /** What halts each call under way, for when the process may wait no longer. */
  underWay: InFlight<AbortController>
}

/** One caller's request from arrival to its last byte. */
export type Incoming = {
  /** Always ours: request id, hold id, log row. */
  id: string
  req: Request
  res: Response
  dialect: CallerDialect
  receivedAt: Date
  /** `performance.now()` at arrival. */
  startedAt: number
  /** Aborts when the caller hangs up. */
  callerAborted: AbortController
  /** Aborts what is done upstream: the caller has gone, or the process may wait no longer. */
  upstreamAbort: AbortController
  /** Set while an upstream is asked that alone knows what a caller who hangs up owes: whether it is read on until it says so. */
  hangUp: { readsOn?: (() => boolean) | undefined }
  /** The call is not under way any more. */
  leave: () => void
  ip: string
  /** Of the refusals that the gateway itself makes. */
  language: Language
}

/** The caller is known. `token` is null in the playground. */
export type Caller = {
  token: TokenRow | null
  user: UserRow
  /** Name of the token in the log. */
  tokenName: string
  pinnedChannelId: number | null
  /** Of the token; "" is the user's own. */
  group: string
}

export type CallBody = {
  bytes: Buffer
  json: Record<string, unknown>
  /** Where the fields stand in the bytes, where that is known. */
  fields?: JsonField[] | undefined
  /** Names and types of a form's files, whose bytes stand elsewhere. */
  fileWords?: readonly string[] | undefined
  /** What is held of the memory for bodies, for those who make more of it. */
  holding?: Pick<Holding, 'raise' | 'bytes' | 'beside'> | undefined
}

/** What a path says of the chat calls that come to it. */
export type ChatRoute = {
  dialect: CallerDialect
  /** For dialects that keep model and streaming there. */
  path: { model?: string; stream?: boolean }
  asJsonArray: boolean
  identify: (services: RelayServices, req: Request) => Promise<Caller>
  /** What the body itself says of the caller, and the body without it. */
  prepare?: (services: RelayServices, caller: Caller, body: CallBody) => { caller: Caller; body: CallBody }
}

/** Under which names a caller sums up its calls. */
export type CallSession = { session?: string; agent?: string; parent_agent?: string; project?: string }

/** An admitted call of any kind: who asks for which model in which group. */
export type CallCore = Incoming & {
  caller: Caller
  /** As the caller wrote it. */
  model: string
  stream: boolean
  body: CallBody
  /** Names of what the caller sent and no upstream is sent, whichever it is, as `lossNames` writes them. */
  dropped?: readonly string[] | undefined
  group: string
  pinnedChannel: ChannelRow | null
  session: CallSession
  /** Where what the call names is kept. */
  storedAt?: StoredAt | undefined
  /** Upstreams limit such calls apart from others of the model: neither says anything of the other's health. */
  limitedApart?: 'batches' | undefined
  /** What of it the gateway keeps itself, and has put into the body. */
  earlier?: EarlierTurns | undefined
}

/** An admitted chat call. */
export type Call = CallCore & {
  request: ChatRequest
  /** A Gemini caller without `alt=sse` reads a JSON array. */
  asJsonArray: boolean
  /** By the cheap count, for the reservation and for dialects whose first event carries a number. */
  estimate: CheapPromptCount
  /** The upstream reads what the call names and does not bring along, and alone knows how much that is. */
  unseen?: UnseenInput | undefined
}

/** One attempt on one channel. */
export type Attempt = {
  channel: ChannelRow
  key: { position: number; value: string }
  /** The name the channel's table knows: without prefix, after virtual mapping. */
  model: string
  /** After the channel's own mapping too. */
  upstreamModel: string
  mapped: boolean
}

/** The result of an attempt, for the log and the chain of chips in the console. */
export type AttemptRecord = {
  channel_id: number
  channel_name: string
  key_index: number
  status: number
  reason: string
  /** What the words of `reason` that are ours say, for readers of the other language. */
  refusal?: Problem
  ms: number
  /** What a failed attempt cost the operator, in billionths of a dollar, where its upstream reported usage. */
  cost?: number
}
