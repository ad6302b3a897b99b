/** What calls of one kind lately used. */
type Seen = {
  calls: number
  /** Moving mean and mean deviation of an answer's tokens. */
  mean: number
  deviation: number
  /** The longest answer. */
  most: number
  /** Moving mean of the tokens that no text of the answer shows: reasoning that the vendor keeps to itself. */
  hidden: number
  /** Moving means of what the upstream counts, against what is counted here without a tokenizer. */
  promptRatio: number
  answerRatio: number
}

/** One finished answer. */
type SeenAnswer = {
  completionTokens: number
  choices: number
  promptTokens: number
  /** The same prompt by the cheap count. */
  cheapPromptTokens: number
  /** The answer by the count that follows streams; undefined for one that was not followed. */
  countedTokens: number | undefined
}

type ExpectedAnswer = {
  /** Tokens of one answer, on the long side; undefined of a model that nobody has called lately. */
  tokens: number | undefined
  /** The longest answer seen of the model; 0 where none was. */
  most: number
  /** The model writes much that no caller gets to see. */
  hides: boolean
  promptRatio: number
  answerRatio: number
}

export type AnswerLengths = {
  learn: (payer: string, model: string, answer: SeenAnswer) => void
  expect: (payer: string, model: string) => ExpectedAnswer
}

type Payer = { caller: { user: { id: number }; token: { id: number } | null } }

/** Who pays for a call: what is known of balances and of lengths of answers is kept by it. */
export const payerOf = ({ caller }: Payer): string => `${caller.user.id}:${caller.token?.id ?? 0}`

const mostEntries = 20_000
/** The weight of the latest call. */
const weight = 0.2
/** Shorter prompts say more of what a vendor adds to every prompt than of how it counts. */
const leastPromptForRatio = 200
const leastAnswerForRatio = 50
/** No model writes more at once: a figure beyond it is charged as it is reported, but says nothing of the next answer. */
const longestAnswer = 131_072
/** One answer whose figures are far from ours moves the ratios no further than so. */
const leastRatio = 0.25
const mostRatio = 4
const within = (value: number, least: number, most: number): number => Math.min(Math.max(value, least), most)

/** How long answers of a model lately were, for one token and for everybody; in memory, of this process alone. */
export function createAnswerLengths(): AnswerLengths {
  const byKey = new Map<string, Seen>()

  const update = (key: string, answer: SeenAnswer): void => {
    const length = Math.min(answer.completionTokens / Math.max(1, answer.choices), longestAnswer)
    const seen = byKey.get(key)
    byKey.delete(key)
    byKey.set(key, seen ? followed(seen, length, answer) : begun(length, answer))
    if (byKey.size > mostEntries) byKey.delete(byKey.keys().next().value as string)
  }

  return {
    learn: (payer, model, answer) => {
      update(`${payer} ${model}`, answer)
      update(model, answer)
    },
    expect: (payer, model) => {
      const ofModel = byKey.get(model)
      const own = byKey.get(`${payer} ${model}`) ?? ofModel
      return {
        tokens: own && Math.max(1, Math.ceil(own.mean + own.deviation)),
        most: ofModel?.most ?? 0,
        hides: ofModel !== undefined && ofModel.hidden > 0.5 * ofModel.mean,
        promptRatio: within(own?.promptRatio ?? 1, 1, 2.5),
        answerRatio: within(own?.answerRatio ?? 1, 0.5, 2.5),
      }
    },
  }
}

const hiddenIn = ({ completionTokens, countedTokens }: SeenAnswer): number | undefined =>
  countedTokens === undefined ? undefined : Math.max(0, Math.min(completionTokens, longestAnswer) - 2 * countedTokens)

const promptRatioOf = ({ promptTokens, cheapPromptTokens }: SeenAnswer): number | undefined =>
  cheapPromptTokens < leastPromptForRatio || promptTokens === 0
    ? undefined
    : within(promptTokens / cheapPromptTokens, leastRatio, mostRatio)

/** Of an answer whose greater part was hidden, the rest does not show how texts are counted. */
const answerRatioOf = (answer: SeenAnswer): number | undefined =>
  (answer.countedTokens ?? 0) < leastAnswerForRatio || hiddenIn(answer) !== 0
    ? undefined
    : within(answer.completionTokens / (answer.countedTokens ?? 1), leastRatio, mostRatio)

const begun = (length: number, answer: SeenAnswer): Seen => ({
  calls: 1,
  mean: length,
  // One answer says little of the next.
  deviation: length / 2,
  most: length,
  hidden: hiddenIn(answer) ?? 0,
  promptRatio: promptRatioOf(answer) ?? 1,
  answerRatio: answerRatioOf(answer) ?? 1,
})

function followed(seen: Seen, length: number, answer: SeenAnswer): Seen {
  const moved = (from: number, to: number | undefined): number =>
    to === undefined ? from : from + weight * (to - from)
  return {
    calls: seen.calls + 1,
    mean: moved(seen.mean, length),
    deviation: moved(seen.deviation, Math.abs(length - seen.mean)),
    most: Math.max(seen.most, length),
    hidden: moved(seen.hidden, hiddenIn(answer)),
    promptRatio: moved(seen.promptRatio, promptRatioOf(answer)),
    answerRatio: moved(seen.answerRatio, answerRatioOf(answer)),
  }
}
