import type { IncomingHttpHeaders } from 'node:http'
import type { Answer } from './answer.ts'
import type { Directives } from './directives.ts'
import type { Failure, Json, Prompt } from './prompt.ts'

export type Call = {
  method: string
  /** Without directive prefix and query. */
  path: string
  query: URLSearchParams
  headers: IncomingHttpHeaders
  body: Json
  directives: Directives
  /** Seconds since 1970. */
  now: number
  nextId: (prefix: string) => string
  /** Answers that the vendor keeps, by id. */
  stored: Map<string, Json>
}

export type StreamEvent = { event?: string | undefined; data: string }

export type Reply =
  | { type: 'json'; status: number; body: unknown; headers?: Record<string, string> | undefined }
  | { type: 'bytes'; contentType: string; body: Buffer }
  /** `array`: the events' data are the items of one JSON array. */
  | { type: 'stream'; events: StreamEvent[]; array?: boolean | undefined }

/** How a vendor is asked and how it refuses. */
export type Vendor = {
  id: 'openai' | 'anthropic' | 'gemini'
  keyOf: (call: Pick<Call, 'headers' | 'query'>) => string | undefined
  missingKey: Failure
  badKey: Failure
  error: (failure: Failure) => { body: unknown; headers?: Record<string, string> | undefined }
  /** Closing words of a stream that failed. */
  streamError: (failure: Failure) => StreamEvent
}

export type ChatOperation = {
  type: 'chat'
  read: (call: Call) => Prompt
  write: (prompt: Prompt, answer: Answer, call: Call) => Reply
}
export type PlainOperation = { type: 'plain'; reply: (call: Call) => Reply }
export type Operation = ChatOperation | PlainOperation

export const json = (body: unknown, status = 200): Reply => ({ type: 'json', status, body })
