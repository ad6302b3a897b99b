import type { MeasuredUsage, Usage } from '#core/usage.ts'
import type { Json } from '#relay/providers/shared/json.ts'
import type { ResponseTimes } from './reading.ts'

export type Measured = {
  measured: MeasuredUsage
  times: ResponseTimes
  /** What came before of the same transcription was charged, and with it the price of a call. */
  goesOn?: boolean
}

/** Watches the events of one session, which go through unchanged, for what has to be paid. */
export type Meter = {
  /** An event of the caller's, on its way to the upstream. Returns what says that it was not sent. */
  ask: (event: Json) => () => void
  /** An event of the upstream's, on its way to the caller. True for one that ends a response, or has something paid before its end. */
  receive: (event: Json) => boolean
  /** What an ended response used: as it reports, else as counted here since the last one. */
  takeResponse: (event: Json) => Promise<Measured>
  /** The sound so far was transcribed, and charged so or not: no response has to follow that reads it. */
  noteTranscribed: (isCharged: boolean) => void
  /** What was counted and not paid, when the session is over. An upstream that is left has begun to read for what was asked. */
  takeRest: (isLeft?: boolean) => Promise<Measured[]>
  /** What is under way would come to if it ended now, or the next response, by the cheap count: each reads the conversation. */
  soFar: () => Usage
  /** Nothing more is delivered: of answers only the ends are read, and paid as far as they were delivered. */
  stop: () => void
  readonly stopped: boolean
  /** Responses under way or asked for; those of them that have said nothing yet; those that may have been refused. */
  readonly readers: { all: number; silent: number; doubted: number }
  /**
   * Those that read nobody knows what: all where the upstream reads what was named to it, one that it may begin by itself included;
   * before it has counted anything, those beside a first one.
   */
  readonly unseen: number
  /** The upstream's names of the responses that have begun; empty for one that has none. */
  readonly openIds: string[]
  /** The latest that began was asked for. */
  readonly isOpenAsked: boolean
  /** A response is under way. */
  readonly responding: boolean
  /** The upstream's name of the response that is under way, the latest where they are several; empty where it has none. */
  readonly openId: string
  /** Answers are audio. */
  readonly outputsAudio: boolean
  /** The model that transcribes the input; absent where none does. */
  readonly transcriber: string | undefined
}
