import type { McpCall, WebSearch } from './hosted/types.ts'
import type { Effort } from '#core/models/parameters.ts'

/**
 * The hub format: what a chat call means, apart from any vendor's wire form. Dialects parse callers' bodies into it and
 * providers write upstream bodies from it. What only one vendor knows stays attached to the part it belongs to
 * (`cacheControl`, `signature`, `vendor`), so that a round trip through the same dialect loses nothing.
 */
export type DialectId = 'openai-chat' | 'openai-responses' | 'claude' | 'gemini'

export type CacheControl = { type: 'ephemeral'; ttl?: '5m' | '1h' | undefined }

export type TextPart = { type: 'text'; text: string; cacheControl?: CacheControl | undefined }

/** Bytes travel as base64 text without a data-URL prefix; an address is left for the provider or `media: 'inline'`. */
export type MediaSource =
  | { kind: 'base64'; mediaType: string; data: string }
  | { kind: 'url'; url: string; mediaType?: string | undefined }
  | { kind: 'file-id'; id: string; mediaType?: string | undefined }

export type ImagePart = {
  type: 'image'
  source: MediaSource
  detail?: 'auto' | 'low' | 'high' | undefined
  cacheControl?: CacheControl | undefined
}
export type AudioPart = { type: 'audio'; source: MediaSource; format?: string | undefined }
export type FilePart = {
  type: 'file'
  source: MediaSource
  filename?: string | undefined
  cacheControl?: CacheControl | undefined
}
export type VendorPart = { type: 'vendor'; dialect: DialectId; value: unknown }

export type ReasoningPart = {
  type: 'reasoning'
  text: string
  /** Proof that the text is the vendor's own; only ever sent back to the dialect that made it. */
  signature?: { dialect: DialectId; value: string } | undefined
  /** Opaque reasoning that only the vendor can read (Anthropic `redacted_thinking`, OpenAI `encrypted_content`). */
  encrypted?: { dialect: DialectId; data: string } | undefined
}
export type ToolCallPart = {
  type: 'tool-call'
  id: string
  name: string
  /** JSON text exactly as the model wrote it; may be empty or unparsable. */
  arguments: string
  /** `custom` tools take free text instead of JSON. */
  kind?: 'function' | 'custom' | undefined
  signature?: { dialect: DialectId; value: string } | undefined
  cacheControl?: CacheControl | undefined
}
export type ToolResultPart = {
  type: 'tool-result'
  callId: string
  /** The tool's name, when the caller's dialect gives it or it was found by `callId`. */
  name?: string | undefined
  content: (TextPart | ImagePart | FilePart)[]
  isError?: boolean | undefined
  cacheControl?: CacheControl | undefined
}
type RefusalPart = { type: 'refusal'; text: string }
/** What the caller's dialect wrote for it, which goes back to the same dialect untouched. */
type Own = { dialect: DialectId; value: Record<string, unknown>[] }
/** A search that an earlier answer ran. */
export type WebSearchPart = { type: 'web-search'; search: WebSearch; own: Own }
/** A call of a remote tool that an earlier answer made. */
export type McpCallPart = { type: 'mcp-call'; call: McpCall; own: Own }

export type UserPart = TextPart | ImagePart | AudioPart | FilePart | ToolResultPart | VendorPart
export type AssistantPart =
  | TextPart
  | ImagePart
  | AudioPart
  | ReasoningPart
  | ToolCallPart
  | RefusalPart
  | WebSearchPart
  | McpCallPart
  | VendorPart

/** Tool results stand in user messages, before the user's own parts. `system` may stand anywhere in the conversation. */
export type Message =
  | { role: 'system'; content: TextPart[] }
  | { role: 'user'; content: UserPart[]; name?: string | undefined }
  | { role: 'assistant'; content: AssistantPart[]; name?: string | undefined }

export type JsonSchema = Record<string, unknown>

/** `toolChange`: of tools that are not offered in the end, or of how they came to be. */
export type NativeOnlyPart = TextPart & { toolChange?: true | undefined }

export type FunctionTool = {
  type: 'function'
  name: string
  description?: string | undefined
  parameters?: JsonSchema | undefined
  strict?: boolean | undefined
  cacheControl?: CacheControl | undefined
}
export type CustomTool = {
  type: 'custom'
  name: string
  description?: string | undefined
  /** With the fields of a grammar directly in it. */
  format?: unknown
}
/** A tool that the vendor runs itself (web search, code execution …), known only to its own dialect. */
type VendorTool = { type: 'vendor'; dialect: DialectId; value: unknown }
/** Web search every dialect has a form of. */
export type WebSearchTool = {
  type: 'web-search'
  contextSize?: 'low' | 'medium' | 'high' | undefined
  maxUses?: number | undefined
  /** Only results of these sites, or none of those; a host stands for those below it too. */
  allowedDomains?: string[] | undefined
  blockedDomains?: string[] | undefined
  userLocation?:
    | {
        city?: string | undefined
        country?: string | undefined
        region?: string | undefined
        timezone?: string | undefined
      }
    | undefined
}
export type Tool = FunctionTool | CustomTool | VendorTool | WebSearchTool

export type ToolChoice =
  | { type: 'auto' | 'none' | 'required' }
  | { type: 'tool'; name: string }
  | { type: 'allowed'; mode: 'auto' | 'required'; names: string[] }

/** What the caller wants of the model's thinking. Absent: the model's own default. */
export type ReasoningInput = {
  mode?: 'enabled' | 'adaptive' | 'disabled' | undefined
  effort?: Effort | undefined
  /** Tokens; -1 lets the model decide (Gemini). */
  budgetTokens?: number | undefined
  /** The caller wants to see the reasoning. */
  includeThoughts?: boolean | undefined
}

export type ResponseFormat =
  | { type: 'text' }
  | { type: 'json' }
  | {
      type: 'json-schema'
      name: string
      schema: JsonSchema
      strict?: boolean | undefined
      description?: string | undefined
      /** The upstream cannot be held to this schema, only asked to keep it. */
      instructed?: boolean | undefined
    }

export type ChatRequest = {
  /** As the caller wrote it. The name sent upstream is in `ProviderCall.model`. */
  model: string
  messages: Message[]
  tools: Tool[]
  toolChoice?: ToolChoice | undefined
  parallelToolCalls?: boolean | undefined
  maxTokens?: number | undefined
  temperature?: number | undefined
  topP?: number | undefined
  topK?: number | undefined
  stop: string[]
  seed?: number | undefined
  /** Number of answers wanted, 1 when absent. */
  choiceCount?: number | undefined
  frequencyPenalty?: number | undefined
  presencePenalty?: number | undefined
  logprobs?: boolean | undefined
  topLogprobs?: number | undefined
  responseFormat?: ResponseFormat | undefined
  reasoning?: ReasoningInput | undefined
  /** An id of the caller's own end user. */
  user?: string | undefined
  serviceTier?: string | undefined
  modalities?: string[] | undefined
  /** Legacy completions: several prompts or prompts of token numbers, which no conversation can say. */
  plainPrompts?: { count: number; tokens: number } | undefined
  audio?: { voice?: string | undefined; format?: string | undefined } | undefined
  stream: boolean
  /** OpenAI callers get a usage chunk only when they ask; the other dialects always do. */
  includeUsage: boolean
  /** Top-level fields of the caller's dialect that have no place above; carried to an upstream of the same dialect. */
  extra: { dialect: DialectId; fields: Record<string, unknown> }
  /** What prompts say in the caller's own form alone: it is read, and paid for, where the body goes out in that form. */
  nativeOnly?: NativeOnlyPart[] | undefined
  /** Names of fields that the hub format cannot express and that parsing therefore left out. */
  losses: string[]
}
