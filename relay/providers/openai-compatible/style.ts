import type { Citation, UpstreamFailure } from '#relay/chat/events.ts'
import type { TargetProfile } from '#relay/chat/fit/profile.ts'
import type { ChatRequest, WebSearchTool } from '#relay/chat/request.ts'
import type { ReportedUsage } from '#core/usage.ts'
import type {
  NativeDialect,
  PlainOperation,
  PlainTranslation,
  ProviderCall,
  ProviderChannel,
  RealtimeCaller,
} from '../types.ts'
import type { Json } from '../shared/json.ts'

/** What of a call decides whether the chat form will do. */
export type ResponsesReason = { model: string; tools: boolean; search: boolean; effort: string | undefined }

/**
 * Where a vendor's form of the OpenAI chat call differs from the original. Everything is optional: a vendor that follows the
 * original is an id, a label and its numbers.
 */
export type OpenAiStyle = {
  id: string
  label: string
  telemetryName?: string | undefined
  channelTypes: number[]
  /** Path before `/chat/completions`; `/v1` when absent. A base address that ends in a version takes its place. */
  version?: string | undefined
  /** The whole address, for vendors whose path is not the version and the operation. */
  url?: ((call: ProviderCall) => string) | undefined
  /** The credential's headers; `Authorization: Bearer` when absent. */
  headers?: ((channel: ProviderChannel) => Record<string, string>) | undefined
  /** Headers that name the caller of a chat, beside the credential's. */
  chatHeaders?: ((call: ProviderCall) => Record<string, string>) | undefined
  /** Whether streams may be asked for usage; the list of channel types says it when absent. */
  streamUsage?: boolean | undefined
  /** How earlier reasoning goes back: as text, as signed details, or not at all. */
  carriesReasoning?: 'content' | 'details' | undefined
  /** Cache markers on content parts are understood. */
  carriesCacheControl?: boolean | undefined
  /** Whether the upstream has free-text tools and lists of allowed tools, which few but the original know. */
  extendedTools?: ((channel: ProviderChannel) => boolean) | undefined
  /** Images may be asked for among the modalities, whatever the model is called. */
  draws?: boolean | undefined
  /** Where the vendor refuses other names and ids than the original. */
  profile?: TargetProfile | undefined
  /** What the vendor calls the field for the caller's end user; `user` when absent. */
  userField?: string | undefined
  /** `top_k` is understood. */
  takesTopK?: boolean | undefined
  /** Message content must be plain text wherever no image is involved. */
  plainText?: boolean | undefined
  /** Images must come as bytes. */
  inlineImages?: boolean | undefined
  /**
   * The vendor's own form of the thinking setting; without it only model families known to reason are sent the effort. Returns
   * names of what had to become something else.
   */
  reasoning?: ((body: Json, request: ChatRequest) => string[] | void) | undefined
  /**
   * Last changes to the body of both a translated and a native call. `body` is a shallow copy: fields are replaced, never
   * changed inside. Returns names of what had to be left out.
   */
  adjust?: ((body: Json, call: ProviderCall) => string[] | void) | undefined
  /** Sets which sites a search keeps to or from; what is set is no loss any more. */
  searchDomains?: ((tool: WebSearchTool, losses: Set<string>) => Json) | undefined
  /** Has no word for a search of its own and passes over those of others, so that none is charged for them. */
  ignoresSearches?: boolean | undefined
  usage?: ((usage: Json) => ReportedUsage) | undefined
  /** Sources that stand outside the message. */
  citations?: ((answer: Json) => Citation[]) | undefined
  /** A failure inside a 2xx body, beside the usual `error`; every such body or chunk contains `mark`. */
  refusal?: { mark: string; read: (answer: Json) => UpstreamFailure | undefined } | undefined
  error?: ((failure: UpstreamFailure, body: string) => UpstreamFailure) | undefined
  /** The address of the model list; the version and `/models` when absent. */
  modelsUrl?: ((channel: ProviderChannel) => string) | undefined
  /** Where the vendor completes plain prompts; without it they are put to its chat models. */
  completionsUrl?: ((call: ProviderCall) => string) | undefined
  /** Where the vendor speaks the responses form too. */
  responsesUrl?: ((call: ProviderCall) => string) | undefined
  /** Servers below other addresses than the vendor's own may speak the chat form alone. */
  mayLackResponses?: NativeDialect['mayLack']
  /** Servers below these addresses know fewer tools and fields of the responses form than its maker. */
  partialResponses?: NativeDialect['mayRefuse']
  /** The vendor compacts conversations of the responses form itself. */
  compacts?: boolean | undefined
  /** Where the vendor opens realtime sockets, as an address of http or https. */
  realtimeUrl?: ((call: ProviderCall, caller: RealtimeCaller) => string) | undefined
  /** `billsUnread` of its realtime sessions. */
  realtimeBillsUnread?: boolean | undefined
  /** It has no realtime sessions that only transcribe. */
  realtimeNeverTranscribes?: boolean | undefined
  /** `resumes` of its realtime sessions. */
  realtimeResumes?: boolean | undefined
  /** Sockets take the credential's headers alone, however the caller came. */
  keyInHeaderOnly?: boolean | undefined
  /** The models it does so for, where that is not all of them. */
  responsesModels?: RegExp | undefined
  /** Where the vendor speaks the messages dialect too, for the models it does so for. */
  messagesUrl?: ((call: ProviderCall) => string) | undefined
  /** The same as `adjust`, of a body of that dialect. */
  adjustMessages?: ((body: Json) => string[]) | undefined
  /** Endings of names that stand for settings of ours, which only a translated call can express. */
  ownSuffix?: RegExp | undefined
  /** Calls that the vendor takes in the responses form only. */
  needsResponses?: ((call: ProviderCall, asks: ResponsesReason) => boolean) | undefined
  /** Lists of tokens can be embedded, as only the original's servers can. */
  takesTokens?: boolean | undefined
  /** Operations beside chat that are asked for or answered in another way than the original's. */
  plain?: Partial<Record<PlainOperation, Partial<PlainTranslation>>> | undefined
  /** The upstream reads or writes so differently from the original that bodies cannot go through untouched. */
  translatesAlways?: boolean | undefined
}
