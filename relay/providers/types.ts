import type { JsonField } from '#core/json-weight.ts'
import type { Framing } from '#relay/transport/framing.ts'
import type { Ambient } from '#core/ambient.ts'
import type { ReportedUsage } from '#core/usage.ts'
import type { WireEvent } from '#relay/transport/framing.ts'
import type { Delivered } from '#relay/chat/delivered.ts'
import type { ChatResponse, StreamDecoder, UpstreamFailure } from '#relay/chat/events.ts'
import type { TargetProfile } from '#relay/chat/fit/profile.ts'
import type { AudioPart, ChatRequest, DialectId, FilePart, ImagePart } from '#relay/chat/request.ts'

/** What a provider may know of the channel it is called through. */
export type ProviderChannel = {
  id: number
  type: number
  /** Without trailing slashes; the type's default when the channel has none. */
  baseUrl: string
  /** One credential, already chosen among the channel's keys. */
  key: string
  other: string
  organization: string
  createdAt: Date
}

/** The options that shape upstream requests, by their documented keys. */
export type ProviderOptions = {
  'claude.default_max_tokens': Record<string, number>
  'claude.model_headers_settings': Record<string, Record<string, string[]>>
  'claude.thinking_adapter_enabled': boolean
  'claude.thinking_adapter_budget_tokens_percentage': number
  'gemini.safety_settings': Record<string, string>
  'gemini.version_settings': Record<string, string>
  'gemini.supported_imagine_models': string[]
  'gemini.models_supported_thinking_budget': string[]
  'gemini.thinking_adapter_enabled': boolean
  'gemini.thinking_adapter_budget_tokens_percentage': number
}

export type ProviderCall = {
  channel: ProviderChannel
  /** After virtual mapping, prefix and channel mapping; suffix rules are the provider's own. */
  model: string
  /** As the caller wrote it. */
  originalModel: string
  stream: boolean
  options: ProviderOptions
  ambient: Ambient
  /** Headers of the caller that some upstreams want to see, lower-case names; nothing else of the caller is sent on. */
  callerHeaders: { 'anthropic-version'?: string | undefined; 'anthropic-beta'?: string | undefined }
  /** Query of the caller's own request (Azure reads `api-version`). */
  query: Record<string, string | undefined>
  /** Names of the caller's free-text tools: an upstream without such tools gets them wrapped, and its calls are unwrapped. */
  customTools?: readonly string[] | undefined
  /**
   * Tokens that are held for an answer in one piece, where the caller wrote no limit: one that the provider has to write is
   * not above them.
   */
  largestOwnLimit?: number | undefined
  /** Nothing is set aside for what an answer has beyond the limit of its request. */
  needsLimit?: boolean | undefined
  /** Whether the upstream has refused a proof of reasoning as not its own: the call goes without it. */
  isRefusedProof?: ((proof: string) => boolean) | undefined
  /** The upstream shows this account no summaries of reasoning. */
  withoutSummary?: boolean | undefined
  /** Prompts of callers whose dialect has no word for a vendor's cache are marked for it. */
  marksPrompts?: boolean | undefined
  /** What some upstreams want to know about who calls. */
  site?: { name: string; url: string } | undefined
  /** What the provider's `exchange` gave for the channel's key. */
  token?: string | undefined
}

/** A key that has to be turned into another credential before calls; performed and kept by `relay/upstream-call`. */
export type KeyExchange = {
  /** Says for which credential the answer holds; never shown or logged. */
  cacheKey: string
  /** Made when there is no token yet: a signed claim costs a millisecond. */
  request: () => UpstreamRequest
  /** @throws {UpstreamRefusal} when the key was refused with HTTP 200. */
  read: (json: unknown) => { token: string; ttlSeconds: number }
}

export type UpstreamRequest = {
  method: 'GET' | 'POST' | 'DELETE'
  /** `ws:` or `wss:`: the body is sent as the one message of a socket, and each frame of the answer is a line. */
  url: string
  /** Of a socket: whether a frame ends the answer, should the upstream leave the socket open. */
  isLastFrame?: ((text: string) => boolean) | undefined
  headers: Record<string, string>
  /** A JSON value, or text / bytes that are sent as they are. */
  body?: unknown
  /** The fields of the body go out as those of a form. */
  isForm?: boolean | undefined
  /** What could not be expressed in the upstream's form, by name, for `x-translation-loss`. */
  losses?: string[] | undefined
  /** Searches of the web that the vendor was asked for in words that its answers may say nothing of; they are charged all the same. */
  searches?: number | undefined
  /** The most images that it asks for, where the vendor draws no more at once: of the caller's number no more are charged. */
  mostImages?: number | undefined
}

/** How far a native answer has come, reported by a listener that watches bytes it does not change. */
export type ListenVerdict =
  /** Send it on at once. */
  | 'forward'
  /** From here on events wait for the settlement. */
  | 'hold'
  /** The answer goes on: what waited may leave, and this event behind it unless the answer is `complete` with it. */
  | 'resume'
  /** Not for this caller (a usage chunk nobody asked for). */
  | 'drop'
  /** The upstream failed inside its stream; `failure` says how. */
  | 'failed'

/**
 * Watches a native stream without changing it. `push` costs a byte search per event, not a parse, unless the event matters.
 * `text` decodes what has been delivered, only when somebody needs it counted.
 */
export type StreamListener = {
  push: (event: WireEvent) => ListenVerdict
  /** Every answer asked for has a finish reason, or the closing event was seen. */
  readonly complete: boolean
  /** More of the answer came when it seemed complete, so that it cannot be relied on what it says of its end. */
  readonly continued: boolean
  /** The upstream ended its stream: those answers that have begun are all there are. */
  close?: () => void
  usage: () => ReportedUsage | undefined
  readonly failure: UpstreamFailure | undefined
  /** Everything the model wrote so far: content, reasoning, tool names and arguments. */
  delivered: () => Delivered
  /** The same while the stream goes on, with about how many tokens that is, rather too many than too few. */
  written: () => Delivered & { tokens: number }
  /** Ids by which the upstream keeps the answer and its items, once it is complete. */
  readonly keeps?: readonly string[] | undefined
}

/** The caller's own body on its way to an upstream that speaks the same dialect. */
export type NativeBody = {
  json: Record<string, unknown>
  bytes: Uint8Array
  /** Where the fields stand in the bytes, as far as that was found out when they were read. */
  fields?: JsonField[] | undefined
}

/** An upstream that speaks a dialect natively: the body goes through as sent, the answer comes back as received. */
export type NativeDialect = {
  /** How the upstream counts a prompt, where that is not the chat call's address with another ending. */
  countTokens?:
    | ((body: NativeBody, call: ProviderCall) => { request: UpstreamRequest; read: (json: unknown) => unknown })
    | undefined
  /** Servers that speak the rest of the vendor's form may lack this path; the call is then translated. */
  mayLack?: ((channel: Pick<ProviderChannel, 'baseUrl'>) => boolean) | undefined
  /** Servers that speak the dialect may refuse tools and fields of its maker's; the call is then translated. */
  mayRefuse?: ((channel: Pick<ProviderChannel, 'baseUrl'>) => boolean) | undefined
  /** Whether the upstream would refuse this call for its tools, or pass over them without a word: it is translated at once. */
  missesTools?: ((body: Record<string, unknown>, call: ProviderCall) => boolean) | undefined
  /** False for a call that the upstream only takes in another form; it is then translated. Absent: always true. */
  accepts?: ((body: Record<string, unknown>, call: ProviderCall) => boolean) | undefined
  request: (body: NativeBody, call: ProviderCall) => UpstreamRequest
  /** Whether changes of tools in mid-conversation are made in the tools themselves, and nothing else is said of them. */
  joinsToolChanges?: ((call: ProviderCall) => boolean) | undefined
  /** `choices`: how many answers are asked for, if not one. */
  listen: (caller: { includeUsage: boolean; choices?: number }) => StreamListener
  /** Whether an event of a stream only opens it: nothing of the answer is in it, nor its end. */
  isOpening: (event: WireEvent) => boolean
  /**
   * Usage, failure and delivered text of a complete answer that is sent on unchanged.
   * @throws {MalformedUpstream} when it is no answer of this dialect.
   */
  inspect: (json: unknown) => {
    usage?: ReportedUsage | undefined
    failure?: UpstreamFailure | undefined
    delivered: () => Delivered
    /** No text, no reasoning, no tool call, no image. */
    empty: boolean
    /** Ids by which the upstream keeps the answer and its items. */
    keeps?: readonly string[] | undefined
  }
  /** A call about an answer that the upstream keeps: `path` follows its id, empty for the answer itself. */
  stored?: ((input: StoredCall, call: ProviderCall) => UpstreamRequest) | undefined
}

/** A call about a batch that the upstream has, or the list of those after it. */
export type BatchCall = { id: string; action: 'read' | 'results' | 'cancel' | 'delete' | 'list' }

export type StoredCall = { method: 'GET' | 'DELETE'; id: string; path: string; query: string }

/** A file before its call: `form` holds it under `file` and who sends it under `user`. */
export type Upload = { part: ImagePart | AudioPart | FilePart; form: FormData }

export type Uploads = {
  request: (upload: Upload, call: ProviderCall) => UpstreamRequest
  /** @throws {UpstreamRefusal} when the answer says that the file was not taken. */
  read: (json: unknown) => string | undefined
}

export type ChatTranslation = {
  /** What the upstream refuses of names, ids and schemas; the rules of OpenAI's form when absent. */
  profile?: ((call: ProviderCall) => TargetProfile) | undefined
  /** @throws {DomainError} `unsupported.…` for what the upstream cannot express and the rules forbid to drop. */
  request: (request: ChatRequest, call: ProviderCall) => UpstreamRequest
  /** @throws {UpstreamRefusal} when a 2xx body reports a failure; @throws {MalformedUpstream}. */
  response: (json: unknown, call: ProviderCall) => ChatResponse
  stream: (call: ProviderCall) => StreamDecoder
  /** Whether the model answers such a call in one piece only: to a caller who wants a stream it is played back as one. */
  answersUnstreamed?: ((request: ChatRequest, model: string) => boolean) | undefined
  /** What comes behind a reason to finish takes it back: some hosts write one into every chunk. */
  resumes?: boolean | undefined
  /** `inline`: images and files given as addresses must be fetched and handed in as base64 before `request`. */
  media?: 'inline' | 'as-given' | undefined
  /** For upstreams that take files only as such: bytes are sent first, and the call names them by the id `read` gives. */
  uploads?: Uploads | undefined
  /** The upstream keeps conversations of messages, so that a call may go on from an earlier one without repeating it. */
  keepsThreads?: boolean | undefined
  /** The most images that one message may hold. */
  mostImages?: ((call: ProviderCall) => number | undefined) | undefined
  /** With `inline`: parts whose address the upstream reads itself, so that it stays. */
  keepsAddress?: ((part: ImagePart | AudioPart | FilePart) => boolean) | undefined
}

/** Operations that are no chat: one request, one answer, no hub format between them. */
export const plainOperations = [
  'embeddings',
  'moderations',
  'images',
  'image-edits',
  'speech',
  'transcriptions',
  'translations',
  'rerank',
] as const
export type PlainOperation = (typeof plainOperations)[number]

/** A body in another caller's form than OpenAI's, as it came, and which operation of that form it is. */
export type OwnForm = { dialect: 'gemini'; action: string; json: Record<string, unknown> }

export type SupportedFields = { json: Record<string, unknown>; names: string[] }

/** A caller's operation: JSON, or a form whose text fields stand in `json` too. */
export type PlainRequest = {
  json: Record<string, unknown>
  form: FormData | null
  /** The form's file: made where the upstream reads no forms, for it takes memory. */
  readFile?: (() => Promise<Uint8Array | undefined>) | undefined
  file?: Uint8Array | undefined
  /** The form's images as `data:` addresses, in their order: made where the upstream reads no forms, for they take memory. */
  readImages?: (() => Promise<string[]>) | undefined
  images?: string[] | undefined
}

export type PlainTranslation = {
  request: (asked: PlainRequest, call: ProviderCall) => UpstreamRequest
  /** It reads the file of a form as bytes. */
  readsFile?: boolean | undefined
  /** It reads images of forms as addresses. */
  readsImages?: boolean | undefined
  /** For an upstream that speaks the caller's own form: the body goes through, the answer comes back as received. */
  native?: Partial<Record<OwnForm['dialect'], (own: OwnForm, call: ProviderCall) => UpstreamRequest>> | undefined
  /** False for a model that the upstream takes in another form only. Absent: always true. */
  takesNative?: ((call: ProviderCall) => boolean) | undefined
  /** Fields of another form that this upstream has a place for, as `request` reads them, by the names they are lost under. */
  supports?: Partial<Record<OwnForm['dialect'], (own: OwnForm) => SupportedFields>> | undefined
  /** The most texts one call may embed, of all models or of the one called; more are sent in several and put together again. */
  mostInputs?: number | ((call: ProviderCall, asked: PlainRequest) => number | undefined) | undefined
  /** The most images that the model draws at once, where its answer alone says it; see `UpstreamRequest`. */
  mostImages?: ((json: unknown) => number | undefined) | undefined
  /**
   * Of an answer that only names a task: the call that asks for it, and how long to wait before. Nothing once it is done.
   * @throws {UpstreamRefusal} when the task failed.
   */
  next?: ((json: unknown, call: ProviderCall) => { request: UpstreamRequest; afterMs: number } | undefined) | undefined
  /** A whole JSON answer in the caller's form; absent: it goes out as received. */
  response?: ((json: unknown, asked: PlainRequest) => unknown) | undefined
  /** What an answer in bytes is in the caller's form, where callers of this operation read JSON. */
  fromBytes?: ((bytes: Uint8Array, asked: PlainRequest) => unknown) | undefined
  /** The audio inside a JSON answer, which callers get as bytes. */
  audio?: ((json: unknown, asked: PlainRequest) => { contentType: string; bytes: Uint8Array }) | undefined
  /** @throws {UpstreamRefusal} when a 2xx body reports a failure. */
  usage: (json: unknown) => ReportedUsage | undefined
}

/** A socket to open, and how the upstream learns who calls. */
export type SocketRequest = {
  /** `ws:` or `wss:`. */
  url: string
  headers: Record<string, string>
  /** Sub-protocols to offer, in their order; none: the header is left out. */
  protocols: string[]
}

/** How a realtime caller came: its upstream is asked in the same way. */
export type RealtimeCaller = {
  /** With sub-protocols, as browsers have to. */
  byProtocols: boolean
  /** In the beta form of the events. */
  beta: boolean
  /** For a session that only transcribes: no address names its model, which comes with its first update. */
  transcribes: boolean
}

export type RealtimeTranslation = {
  request: (call: ProviderCall, caller: RealtimeCaller) => SocketRequest
  /** Of a `response.done` event's `response.usage`. */
  usage: (usage: unknown) => ReportedUsage | undefined
  /** The vendor bills what it is sent, sound by its length, although no response reads it. */
  billsUnread?: boolean | undefined
  /** The vendor has sessions that only transcribe, and opens them for `intent=transcription`. */
  transcribes?: boolean | undefined
  /** The vendor keeps what sessions say, and goes on with it for whoever names it by `conversation_id` in the address. */
  resumes?: boolean | undefined
}

/** Headers of an answer, lower-case names. */
export type ReplyHeaders = Readonly<Record<string, string | string[] | undefined>>

export type Provider = {
  id: string
  label: string
  /** What OpenTelemetry's conventions call it, where that is not its id. */
  telemetryName?: string | undefined
  /** Numbers of channel-types.json that this provider serves. */
  channelTypes: number[]
  /** How streams are cut into events; `contentType` is what such an answer is announced as. */
  framing: Framing
  /** For keys that must be exchanged first; nothing for a key that is used as it is. */
  exchange?: ((channel: ProviderChannel, ambient: Ambient) => KeyExchange | undefined) | undefined
  /** The last step before sending, over the body as it goes out: for credentials that depend on it. */
  sign?: ((request: UpstreamRequest, call: Pick<ProviderCall, 'channel' | 'ambient'>) => UpstreamRequest) | undefined
  /**
   * Takes out of a body what its model refuses, after an operator's override has added to it; gives headers that change
   * with it.
   */
  afterOverride?:
    | ((body: Record<string, unknown>, call: ProviderCall) => Record<string, string> | undefined)
    | undefined
  chat: ChatTranslation
  /** Answers of these models are charged by the Claude formula. */
  pricedAsClaude?: ((model: string) => boolean) | undefined
  /** The operations beside chat that this upstream has. */
  plain?: Partial<Record<PlainOperation, PlainTranslation>> | undefined
  /** Sessions over a socket, whose frames go through unchanged. */
  realtime?: RealtimeTranslation | undefined
  native: Partial<Record<DialectId | 'openai-completions' | 'openai-compaction', NativeDialect>>
  /** Batches of messages in Claude's form, which its vendor alone works off. */
  batches?:
    | {
        create: (body: Uint8Array, call: ProviderCall) => UpstreamRequest
        about: (input: BatchCall, channel: ProviderChannel) => UpstreamRequest
      }
    | undefined
  /** An error reply (status not 2xx) → what went wrong, in one shape whatever the vendor calls it. */
  error: (status: number, body: string, headers?: ReplyHeaders) => UpstreamFailure
  /** The model-list call. */
  models: {
    /** `token` is what `exchange` gave, for providers that have one. */
    request: (channel: ProviderChannel, token?: string) => UpstreamRequest
    read: (json: unknown) => string[]
  }
}

/** A 2xx answer that is a failure all the same. */
export class UpstreamRefusal extends Error {
  override name = 'UpstreamRefusal'
  readonly failure: UpstreamFailure
  /** What a complete answer reports beside it. */
  readonly usage: ReportedUsage | undefined
  constructor(failure: UpstreamFailure, usage?: ReportedUsage) {
    super(failure.message)
    this.failure = failure
    this.usage = usage
  }
}
