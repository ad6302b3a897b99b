import type { ReportedUsage, Usage } from '#core/usage.ts'
import type { WireEvent } from '#relay/transport/framing.ts'
import type { Delivered } from '#relay/chat/delivered.ts'
import type { UpstreamFailure } from '#relay/chat/events.ts'

/** One way of turning upstream events into caller's text: as received, or through the hub format. */
export type StreamWriter = {
  /** Text that may leave at once. */
  push: (event: WireEvent) => string
  /** The upstream closed; text that was still due. */
  end: () => string
  /** The closing text, sent after the settlement; `measured` is what was charged. */
  close: (measured: Usage) => string
  /** The text that ends the answer with an error. */
  fail: (failure: UpstreamFailure) => string
  /** Whether anything of the answer has come, or its end: what came before only opens it. */
  begun: () => boolean
  /** Whether the answer came to its own end; of several, all of them. */
  complete: () => boolean
  /** Complete, or said to be while parts of it are open: where nothing more comes, that was its end. */
  isEnding: () => boolean
  /** More of the answer came when it seemed complete: it may do so again. */
  continued: () => boolean
  usage: () => ReportedUsage | undefined
  failure: () => UpstreamFailure | undefined
  isEmpty: () => boolean
  /** What was delivered so far, and about how many tokens that is, rather too many than too few. */
  written: () => Delivered & { tokens: number }
  /** The closing text of an answer that ends here as at a reached output limit. */
  closeCut: (measured: Usage) => string
  delivered: () => Delivered
  /** Ids by which the upstream keeps the answer. */
  keeps?: () => readonly string[] | undefined
}
