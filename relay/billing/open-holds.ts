import type { AnswerLengths } from './answer-lengths.ts'

/** What this process knows of the holds of its own calls. */
export type Holds = {
  lengths: AnswerLengths
  /** Chat calls under way, by user. */
  open: Map<number, number>
  /** Of these, those whose upstream reads what was not brought along, and for which nothing is set aside. */
  reading: Map<number, number>
  /** What was last seen to be there for a user and token: only to ask for the right amount at once, never to refuse. */
  lastSeen: Map<string, number>
}
