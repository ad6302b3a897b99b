import type { ContextOverflow } from '#relay/chat/context-overflow.ts'
import type { CallerError } from './types.ts'

/** One dialect's words for a prompt that is too long. */
type Words = {
  /** What its vendor writes; an upstream that writes so already keeps its own words. */
  own: RegExp
  text: (overflow: ContextOverflow) => string
}

/** The error in the words that clients of a dialect look for, so that they compact their conversation. */
export function inOverflowWords(error: CallerError, { own, text }: Words): CallerError {
  const { overflow } = error
  return overflow === undefined || own.test(error.message) ? error : { ...error, message: text(overflow) }
}
