import { isObject } from '#relay/chat/json.ts'

const toToken = ({ token, logprob }: Record<string, unknown>) => ({ token, logProbability: logprob })

/** Log probabilities in the form of chat completions → a candidate's `logprobsResult`, where there are any. */
export function toLogprobsResult(tokens: readonly unknown[] = []) {
  const chosen = tokens.filter(isObject)
  if (chosen.length === 0) return {}
  const topOf = ({ top_logprobs: top }: Record<string, unknown>) => (Array.isArray(top) ? top.filter(isObject) : [])
  return {
    logprobsResult: {
      topCandidates: chosen.map((token) => ({ candidates: topOf(token).map(toToken) })),
      chosenCandidates: chosen.map(toToken),
    },
  }
}
