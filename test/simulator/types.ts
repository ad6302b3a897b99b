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
  /** The vendor's models are served by a cloud, which knows less of the dialect. */
  isHosted?: boolean | undefined
  /** Seconds since 1970. */
  now: number
  nextId: (prefix: string) => string
  /** Answers that the vendor keeps, by id. */
  stored: Map<string, Json>
  /** Drawings and pieces of music that are worked on, by id. */
  tasks: Map<string, SimulatedTask>
}

/** A task that is worked on over time. Every question after it brings it on. */
export type SimulatedTask = {
  id: string
  action: string
  prompt: string
  /** How it is to go, as its submission or the address ordered. */
  directives: Directives
  /** How often it was asked after. */
  asked: number
  submittedAt: number
  /** What a test wants reported in place of the course of things. */
  override?: Json
}

export type StreamEvent = { event?: string | undefined; data: string }

/** How a stream is written that is no server-sent events: frames of bytes, lines of JSON. */
export type Framing = { contentType: string; frame: (event: StreamEvent) => string | Buffer }

export type Reply =
  | { type: 'json'; status: number; body: unknown; headers?: Record<string, string> | undefined }
  | { type: 'bytes'; contentType: string; body: Buffer }
  /** `array`: the events' data are the items of one JSON array. */
  | { type: 'stream'; events: StreamEvent[]; array?: boolean | undefined; framing?: Framing | undefined }

/** A request as it came, for vendors that want it signed. */
export type Arrival = {
  method: string
  /** As on the wire, with directives and query. */
  url: string
  headers: IncomingHttpHeaders
  bytes: Buffer
}

/** How a vendor is asked and how it refuses. */
export type Vendor = {
  id: string
  keyOf: (call: Pick<Call, 'headers' | 'query'>) => string | undefined
  missingKey: Failure
  badKey: Failure
  /** @throws {Refusal} for a request whose signature or token is not right. */
  verify?: ((arrival: Arrival) => void) | undefined
  /** Asked without a body. */
  bodiless?: boolean | undefined
  /** `status`: for vendors whose failures come as successes. */
  error: (failure: Failure) => {
    status?: number | undefined
    body: unknown
    headers?: Record<string, string> | undefined
  }
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
