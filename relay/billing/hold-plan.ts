import { type AnswerTerms, answerTokensFor, costOfAnswer } from '#core/pricing/estimate.ts'

/** All that decides what is set aside for one attempt of a chat call. */
export type HoldFacts = {
  terms: AnswerTerms
  /** The same with the most that the upstream may read beside what was brought along; absent where it reads nothing else. */
  unseen?: AnswerTerms | undefined
  /** The caller's limit on one answer; 0 is none. */
  limit: number
  /** Answers wanted. */
  choices: number
  /** Tokens that one answer will probably have. */
  expected: number
  /**
   * The answer can be followed as it is delivered, so that the hold grows with it. One that comes in one piece has to stay
   * within what is held when it begins: its limit is lowered to that.
   */
  grows: boolean
  /** What an answer without any limit may come to. */
  mostWithoutLimit: number
  /** The largest limit that may be written where the caller wrote none: models refuse one that is beyond them. */
  largestNewLimit: number
  /** Fewer tokens than these are no answer worth paying for. */
  least: number
}

export type HoldPlan = {
  amount: number
  /** The part of it that is for what the upstream may read beside what was brought along. */
  unseen?: number | undefined
  /** Tokens of all answers together that the amount covers. */
  answerTokens: number
  /** The limit of one answer to be sent upstream, where it is not the caller's. */
  lowered?: number | undefined
}

/**
 * An answer in one piece takes no more than a quarter of what is there, and less beside other calls of the same user, which
 * all find something then, also when they come at once. Whatever its share, it gets room for a few of the usual answers.
 */
const largestShare = 1 / 4
const shareOf = (calls: number): number => largestShare / Math.max(1, calls)
const ofOne = { usualAnswers: 4, roomy: 1024 }
const ofSeveral = { usualAnswers: 2, roomy: 256 }

/** Calls of one user that are under way here: all of them, this one included, and of others those that read what nothing is set aside for. */
export type Beside = { calls: number; reading: number }

export const noneBeside: Beside = { calls: 1, reading: 0 }

/** What the least hold comes to with which the call may begin. */
export const leastHold = (facts: HoldFacts, { reading }: Beside): number =>
  costOfAnswer(facts.terms, facts.least * facts.choices) + (reading > 0 ? costOfUnseen(facts) : 0)

const costOfUnseen = ({ terms, unseen }: HoldFacts): number =>
  unseen ? costOfAnswer(unseen, 0) - costOfAnswer(terms, 0) : 0

/**
 * What to set aside when so much is there for so many calls; null when it cannot be paid. A call of which nobody knows how much the
 * upstream will read takes the most that may be. One at a time may begin without.
 */
export function planHold(facts: HoldFacts, available: number, beside: Beside): HoldPlan | null {
  if (available < leastHold(facts, beside)) return null
  if (facts.unseen) {
    const seen = { ...facts, unseen: undefined }
    const unseen = costOfUnseen(facts)
    const plan = planHold(seen, available - unseen, beside)
    if (plan) return { ...plan, amount: plan.amount + unseen, unseen }
    return planHold(seen, available, beside)
  }
  return facts.grows ? planGrowing(facts, available) : planFixed(facts, available, beside.calls)
}

function planGrowing({ terms, limit, choices, expected, least }: HoldFacts, available: number): HoldPlan {
  const wanted = (limit > 0 ? Math.min(expected, limit) : expected) * choices
  const amount = costOfAnswer(terms, wanted)
  if (amount <= available) return { amount, answerTokens: wanted }
  const answerTokens = Math.max(answerTokensFor(terms, available), least * choices)
  return { amount: costOfAnswer(terms, answerTokens), answerTokens }
}

function planFixed(facts: HoldFacts, available: number, calls: number): HoldPlan {
  const { terms, limit, choices, expected, least } = facts
  const most = (limit > 0 ? limit : facts.mostWithoutLimit) * choices
  const fullCost = costOfAnswer(terms, most)
  const room = calls > 1 ? ofSeveral : ofOne
  const share = available * shareOf(calls)
  if (fullCost <= share) return { amount: fullCost, answerTokens: most }
  const roomy = Math.max(room.usualAnswers * expected, room.roomy, least) * choices
  const bought = Math.max(
    answerTokensFor(terms, share),
    Math.min(answerTokensFor(terms, available), roomy),
    least * choices,
  )
  if (bought >= most) return { amount: fullCost, answerTokens: most }
  const perAnswer = Math.floor(bought / choices)
  const lowered = limit > 0 ? perAnswer : Math.min(perAnswer, facts.largestNewLimit)
  const answerTokens = lowered * choices
  return { amount: costOfAnswer(terms, answerTokens), answerTokens, lowered }
}
