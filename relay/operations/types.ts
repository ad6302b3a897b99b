import type { CallCore } from '#relay/request/call.ts'
import type { EmbedAction } from '#relay/dialects/gemini/embed.ts'
import type { OwnForm, PlainOperation, PlainRequest } from '#relay/providers/types.ts'

/** What Google's paths call operations that are no chat. */
type ForeignAction = EmbedAction | 'predict'

/** What a path says of the operation asked for. */
export type PlainRoute = {
  operation: PlainOperation
  /** The caller speaks Google's form, and this is what it calls the operation. */
  action?: ForeignAction | undefined
  model?: string | undefined
}

/** A call that came in another form than OpenAI's. */
export type Foreign = {
  own: OwnForm
  /** The answer in that form. */
  encode: (answer: unknown) => unknown
  losses: string[]
  untranslatable: string | undefined
  /** About what its media come to beside its texts, and the part of that which is sound. */
  media?: { tokens: number; audio: number }
}

/** What a caller asks of an operation that is no chat, read as far as routing, screening and billing need it. */
export type Asked = PlainRequest & {
  operation: PlainOperation
  model: string
  /** What goes upstream where the caller names no model, and the channel has no other name for the one that stands in. */
  usualModel?: string | undefined
  /** Fields that the caller left open and that have a value here all the same. */
  filledIn: readonly string[]
  stream: boolean
  /** Everything the caller wrote, for screening and counting. */
  texts: string[]
  /** What needs no counting: tokens that the caller sent as numbers, images. */
  tokens: number
  /** Images wanted; 1 elsewhere. */
  count: number
  size: string
  quality: string
  foreign?: Foreign | undefined
  /** The length of an uploaded recording, where it can be read. */
  seconds?: number | undefined
}

export type PlainCall = CallCore & { asked: Asked }
