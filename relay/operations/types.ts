import type { CallCore } from '#relay/gateway/call.ts'
import type { PlainOperation, PlainRequest } from '#relay/providers/types.ts'

/** What a caller asks of an operation that is no chat, read as far as routing, screening and billing need it. */
export type Asked = PlainRequest & {
  operation: PlainOperation
  model: string
  stream: boolean
  /** Everything the caller wrote, for screening and counting. */
  texts: string[]
  /** Pictures wanted; 1 elsewhere. */
  count: number
  size: string
  quality: string
}

export type PlainCall = CallCore & { asked: Asked }
