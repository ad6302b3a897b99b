import type { ReportedUsage } from '#core/usage.ts'

/** What of an answer has reached the caller. */
export type Delivered = { text: string; toolCalls: number; unkept?: number | undefined }

export type Answered = {
  usage: ReportedUsage | undefined
  delivered: () => Delivered
  /** Cut before its end: the figures of its beginning do not say how much came after them. */
  cut?: boolean
}
