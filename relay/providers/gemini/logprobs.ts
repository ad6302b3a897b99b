import { type Json, numberOf, recordOf, recordsOf, textOf } from '../shared/json.ts'

const tokenOf = (wire: Json) => {
  const token = textOf(wire['token']) ?? ''
  return { token, logprob: numberOf(wire['logProbability']) ?? 0, bytes: [...Buffer.from(token)] }
}

/** Log probabilities of a candidate's tokens, in the form of chat completions. */
export function logprobsOf(candidate: Json): unknown[] {
  const result = recordOf(candidate['logprobsResult'])
  const top = recordsOf(result?.['topCandidates'])
  return recordsOf(result?.['chosenCandidates']).map((chosen, index) => ({
    ...tokenOf(chosen),
    top_logprobs: recordsOf(top[index]?.['candidates']).map(tokenOf),
  }))
}
