import type { WireEvent } from '#relay/transport/framing.ts'
import type { Problem } from '#core/errors.ts'
import type { ReportedUsage } from '#core/usage.ts'
import type { ContextOverflow } from './context-overflow.ts'
import type { McpCall, WebSearch } from './hosted/types.ts'
import type { DialectId } from './request.ts'

export type FinishReason = 'stop' | 'length' | 'tool-calls' | 'content-filter'

export type Citation = {
  url: string
  title?: string | undefined
  citedText?: string | undefined
  /** Offsets in UTF-16 units in the text of the complete answer, all its parts of text one behind the other. */
  startIndex?: number | undefined
  endIndex?: number | undefined
}

/** What an upstream said went wrong; `status` is an HTTP status, also for errors inside a stream. */
export type UpstreamFailure = {
  status: number
  type: string
  code: string | number | null
  message: string
  param?: string | null | undefined
  /** How long the upstream asked to wait, where its body says so. */
  retryAfterSeconds?: number | undefined
  /** What the upstream really said, where it is hidden from callers. */
  original?: { type: string; code: string | number | null; message: string } | undefined
  /** How the upstream refused, where a channel maps the status or the field that it named is hidden from callers. */
  received?: { status: number; param?: string | null | undefined } | undefined
  /** The prompt does not fit: each dialect has its own words for that, which its clients look for. */
  overflow?: ContextOverflow | undefined
  /** What Anthropic's errors tell programs beside their message. */
  details?: Record<string, unknown> | undefined
  /** Of a refusal of our own: what `message` says, for callers who read the other language. */
  refusal?: Problem | undefined
}

/**
 * One step of a streamed answer. Order: `start` first; deltas of one part are contiguous unless the upstream interleaves
 * tool calls; `finish` (of a choice) and `usage` (cumulative) near the end, of which the last one counts; `error` ends the stream.
 * `choice` is 0 when absent. `index` numbers the tool calls of a choice from 0.
 */
export type ChatEvent =
  | { type: 'start'; id: string; model: string }
  | { type: 'text-delta'; text: string; choice?: number | undefined }
  | {
      type: 'reasoning-delta'
      text: string
      /** The vendor that refuses these words back unless they are the very ones that its signature behind them proves. */
      signer?: DialectId | undefined
      choice?: number | undefined
    }
  | { type: 'reasoning-signature'; dialect: DialectId; value: string; choice?: number | undefined }
  | { type: 'reasoning-encrypted'; dialect: DialectId; data: string; choice?: number | undefined }
  | {
      type: 'tool-call-start'
      index: number
      id: string
      name: string
      kind?: 'function' | 'custom' | undefined
      signature?: { dialect: DialectId; value: string } | undefined
      choice?: number | undefined
    }
  | { type: 'tool-call-delta'; index: number; arguments: string; choice?: number | undefined }
  | { type: 'tool-call-end'; index: number; choice?: number | undefined }
  | { type: 'image'; mediaType: string; data: string; choice?: number | undefined }
  | {
      type: 'audio-delta'
      data: string
      transcript?: string | undefined
      /** Of the data; samples without a head (`pcm16`) where absent. */
      format?: string | undefined
      /** Samples a second, where the upstream says it. */
      rate?: number | undefined
      choice?: number | undefined
    }
  | { type: 'refusal-delta'; text: string; choice?: number | undefined }
  | { type: 'citation'; citation: Citation; choice?: number | undefined }
  /** Both come whole, once they are done. */
  | { type: 'web-search'; search: WebSearch; choice?: number | undefined }
  | { type: 'mcp-call'; call: McpCall; choice?: number | undefined }
  /** Log probabilities of the text that came before, in the form of chat completions. */
  | { type: 'logprobs'; tokens: unknown[]; choice?: number | undefined }
  | { type: 'usage'; usage: ReportedUsage }
  | {
      type: 'finish'
      reason: FinishReason
      /** The sequence that stopped the model, where the vendor reports it. */
      stopSequence?: string | null | undefined
      choice?: number | undefined
    }
  /** `requestId`: of the call, for its caller; upstreams' events have none. */
  | { type: 'error'; error: UpstreamFailure; requestId?: string | undefined }

export type ResponsePart =
  | { type: 'text'; text: string; citations?: Citation[] | undefined }
  | {
      type: 'reasoning'
      text: string
      signature?: { dialect: DialectId; value: string } | undefined
      encrypted?: { dialect: DialectId; data: string } | undefined
    }
  | {
      type: 'tool-call'
      id: string
      name: string
      arguments: string
      kind?: 'function' | 'custom' | undefined
      signature?: { dialect: DialectId; value: string } | undefined
    }
  | { type: 'image'; mediaType: string; data: string }
  /** `rate`: samples a second, of audio that does not say it itself. */
  | { type: 'audio'; data: string; format: string; transcript: string; rate?: number | undefined }
  | { type: 'refusal'; text: string }
  | { type: 'web-search'; search: WebSearch }
  | { type: 'mcp-call'; call: McpCall }

export type ChatChoice = {
  parts: ResponsePart[]
  finish: FinishReason
  stopSequence?: string | null | undefined
  /** Of all its text, in the form of chat completions. */
  logprobs?: unknown[] | undefined
}

/** A complete answer. `choices` holds at least one entry unless the upstream gave none. */
export type ChatResponse = { id: string; model: string; choices: ChatChoice[]; usage?: ReportedUsage | undefined }

/**
 * How far an answer has come: `ending`, where its reason to finish has come and parts of it are open still, though none that lacks
 * something; `ended`, where none is; `closed`, where nothing may come behind its end.
 */
export type Standing = 'open' | 'ending' | 'ended' | 'closed'

/** Upstream events → hub events. Keeps state, does no I/O. Malformed data throws `MalformedUpstream`. */
export type StreamDecoder = {
  push: (event: WireEvent) => ChatEvent[]
  /** The upstream closed. Emits what was still open; it does not invent a `finish` for a cut stream. */
  end: () => ChatEvent[]
  /** Of a decoder that keeps the end of its answer for as long as it may be taken back. */
  standing?: (() => Standing) | undefined
}

/**
 * Hub events → the caller's wire text. `push` returns text that may leave at once ("" when nothing is due); closing events
 * (finish, usage, end marker) are kept for `close`, which the gateway calls after the settlement.
 */
export type StreamEncoder = {
  push: (event: ChatEvent) => string
  close: () => string
}

/** Upstream bytes that do not follow their own format. */
export class MalformedUpstream extends Error {
  override name = 'MalformedUpstream'
}
