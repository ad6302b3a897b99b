import type { Ambient } from '#core/ambient.ts'
import type { ChannelOperation } from '#core/channel-types/index.ts'
import type { Standing } from '#core/limits/request-limit.ts'
import type { Usage } from '#core/usage.ts'
import type { WireEvent } from '#relay/transport/framing.ts'
import type { ChatResponse, StreamEncoder, UpstreamFailure } from '#relay/chat/events.ts'
import type { ChatRequest, DialectId } from '#relay/chat/request.ts'

/** An error on its way to the caller, whoever made it. `status` is the HTTP status to answer with. */
export type CallerError = UpstreamFailure & { requestId: string }

export type EncodeContext = {
  /** The model name the caller asked for; answers carry it, never the upstream's. */
  model: string
  includeUsage: boolean
  /** Whether the caller wants to see the reasoning; not every one says so. */
  includeThoughts?: boolean | undefined
  /** Prompt tokens by the cheap count, for dialects whose first event must carry a number. */
  estimatedPromptTokens: number
  ambient: Ambient
  /** Gemini without `alt=sse` streams a JSON array instead of events. */
  asJsonArray?: boolean | undefined
  /** The answer will be kept, under an id of our own. */
  keeps?: boolean | undefined
  /** The body with its conversation, whose tools may be called by other names upstream (responses). */
  sentBody?: Readonly<Record<string, unknown>> | undefined
  /** The caller's own body, for the dialect whose answers repeat parts of the request (responses). */
  callerBody?: Readonly<Record<string, unknown>> | undefined
}

/** What is known of a call whose stream has nothing but its failure in it. */
export type FailedCall = Pick<EncodeContext, 'ambient' | 'callerBody'> & { model?: string | undefined }

/**
 * Ends a stream that went out as received: before its own end, as at a reached output limit, and after it where the upstream
 * closed without the dialect's mark. Watches what passes at the cost of keeping it.
 */
export type Cutter = {
  /** `held`: kept back as part of the end. */
  watch: (event: WireEvent, held: boolean) => void
  /** The closing events; `text` is all that was delivered. */
  end: (given: { usage: Usage; text: string }) => WireEvent[]
  /** The closing events of an answer that failed, where they say more than the dialect's `streamError`. */
  fail?: (error: CallerError) => WireEvent[]
  /** The closing mark of a complete answer, where it has not passed. */
  mark?: () => WireEvent | undefined
}

export type CutContext = Pick<EncodeContext, 'includeUsage' | 'model' | 'ambient'> & { choiceCount: number }

/** A request's body as JSON. */
export type Body = Record<string, unknown>

/** The error codes of refusals that are worded differently in different dialects. */
export type DialectRefusals = {
  /** Of a name that no channel of the group lists, on or off. */
  modelUnlisted: 'relay.no_channel' | 'relay.model_unlisted'
  sensitiveWords: 'relay.sensitive_words' | 'relay.sensitive_words_responses'
  mappingCycle: 'relay.model_mapping_cycle' | 'relay.model_mapping_cycle_responses'
  mappingUnreadable: 'relay.model_mapping_unreadable' | 'relay.model_mapping_unreadable_responses'
  /** Where every upstream is busy; null for what the last of them said of its limit. */
  upstreamBusy: 'relay.upstream_busy' | null
}

/** A caller's language: how it is read, how it is answered, how errors look in it. Pure. */
export type ChatDialect = {
  id: DialectId
  /**
   * A body that came in the form of another dialect as one of this, the names of what is left out, and how its caller is answered. Nothing for
   * bodies of this dialect, which all but a few are.
   * @throws {InvalidRequest}
   */
  fromOtherForm?: ((body: Body) => { body: Body; losses: string[]; dialect: ChatDialect } | undefined) | undefined
  /**
   * The body as JSON → hub request. Reads leniently what it carries on, checks strictly what it uses.
   * @throws {InvalidRequest} with the documented message when the body cannot be a request of this dialect.
   */
  parse: (body: unknown, path: { model?: string | undefined; stream?: boolean | undefined }) => ChatRequest
  /** Hub answer → JSON value of the reply body. */
  encode: (response: ChatResponse, context: EncodeContext) => unknown
  stream: (context: EncodeContext) => StreamEncoder
  /** A complete answer as the text of a stream, where that is another than one event for each of its parts. */
  replay?: ((response: ChatResponse, context: EncodeContext) => string) | undefined
  /** `content-type` of a streamed reply. */
  streamContentType: (context: Pick<EncodeContext, 'asJsonArray'>) => string
  error: (error: CallerError) => { status: number; body: unknown }
  /** An error after the first byte, as wire text. */
  streamError: (error: CallerError, call: FailedCall) => string
  /** Agents that read in a stream alone that their conversation is too long, by the headers of their calls. */
  readsOverflowInStream?: ((headers: Readonly<Record<string, unknown>>) => boolean) | undefined
  cutter: (context: CutContext) => Cutter
  /** Where an unstreamed answer names its model, by keys from the top; and an event of a streamed one, where it does. */
  modelPlace: { unstreamed: readonly string[]; event: (event: WireEvent) => readonly string[] | undefined } | null
  /** Where its answers repeat the instructions of the request. */
  instructionsPlace?: { unstreamed: readonly string[]; event: readonly string[] } | undefined
  /** Each event of a stream has its type as its name too. */
  namesEvents?: boolean | undefined
  /** Keep-alive text while waiting. */
  ping: string
  /** Clients of the dialect take comments for errors. */
  refusesComments?: boolean | undefined
  /** The name by which providers declare that they speak it themselves; null for one that none of them can. */
  native: DialectId | 'openai-completions' | 'openai-compaction' | null
  /** Offered also by channels that list this operation and no chat. */
  operation?: ChannelOperation | undefined
  /** Its calls may name an earlier answer to go on from: which one, where upstreams keep it. */
  threadOf?: ((body: Body) => { continues: string | undefined } | undefined) | undefined
  /** Upstreams keep its answers, and later calls name them. */
  keepsResponses: boolean
  /** Its answers are kept by the gateway, as interactions that later calls name. */
  keepsInteractions?: boolean | undefined
  /** Its own answers are kept nowhere, whatever they go on from. */
  isNeverStored?: boolean | undefined
  /** Whatever is asked for, it has no place for further answers. */
  hasOneAnswer?: boolean | undefined
  /** Its answers have an agreed place for reasoning. */
  hasReasoningPlace: boolean
  /**
   * Its callers send reasoning back with a field they need not understand, in which proofs of other vendors travel; the
   * others send it as it was.
   */
  sealsReasoningAs?: 'claude' | 'openai-responses' | 'gemini' | undefined
  /** Its callers ask for summaries of reasoning themselves. */
  asksForSummaries?: boolean | undefined
  /** Its calls are priced by the formula of Claude, whoever answers them. */
  pricedAsClaude: boolean
  /** What browser extensions call, so that operators may block them. */
  servesExtensions: boolean
  refusals: DialectRefusals
  /** A further header that carries the request's id. */
  requestIdHeader?: string | undefined
  /** How much of a rate limit is left, in the headers that the vendor uses. */
  rateLimitHeaders: (standing: Standing, now: Date) => Record<string, string>
  /** A body with the channel's system prompt: `before` the caller's own, or instead of it. */
  withSystemPrompt: (body: Body, given: { prompt: string; before: boolean }) => Body
  /** A body with another output limit. */
  withOutputLimit: (body: Body, limit: number) => Body
  /** The closing events of a stream with the usage that its caller asked for and the upstream left out. */
  withUsage?: ((closing: string, usage: Usage) => string) | undefined
  /** What a call that counts tokens may leave out, and a chat call may not. */
  countingDefaults?: Body | undefined
}

/** Calls from before there were chats, and calls beside them: few upstreams speak them, so their ids are none of `DialectId`. */
export type LegacyDialect = Omit<ChatDialect, 'id' | 'withSystemPrompt'> & {
  id: 'openai-completions' | 'openai-edits' | 'openai-compaction' | 'gemini-interactions'
  /** Null for calls that are no chats: a channel's system prompt is not for them. */
  withSystemPrompt: ChatDialect['withSystemPrompt'] | null
}

/** Whatever language a chat call came in. */
export type CallerDialect = ChatDialect | LegacyDialect
