import type { ChatChoice, ChatResponse, ResponsePart } from '#relay/chat/events.ts'
import { placeCitations } from '#relay/chat/citations.ts'
import { MalformedUpstream } from '#relay/chat/events.ts'
import { UpstreamRefusal } from '../types.ts'
import { type Json, recordOf, recordsOf, textOf, wordOf } from '../shared/json.ts'
import { failedEndOf, finishReasonOf, isOutput, partsOf, type Reading } from './answer-parts.ts'
import { failureIn } from './failure.ts'
import { chargedSearches, findsPlaces, citationsOf, queriesIn, searchesOf } from './grounding.ts'
import { logprobsOf } from './logprobs.ts'
import { readUsage } from './usage.ts'

/** Text comes in pieces, and the signature of a reasoning part in the piece after it. */
function joined(parts: readonly ResponsePart[]): ResponsePart[] {
  const result: ResponsePart[] = []
  for (const part of parts) {
    const last = result.at(-1)
    if (part.type === 'text' && last?.type === 'text') last.text += part.text
    else if (part.type === 'reasoning' && last?.type === 'reasoning' && !last.signature) {
      result[result.length - 1] = { ...part, text: last.text + part.text }
    } else result.push({ ...part })
  }
  return result
}

function choiceOf(candidate: Json, reading: Reading): ChatChoice {
  const content = recordOf(candidate['content'])
  const parts = joined(partsOf(candidate, reading))
  const reason = textOf(candidate['finishReason']) ?? ''
  const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('')
  placeCitations(parts, citationsOf(candidate['groundingMetadata'], text, recordsOf(content?.['parts'])))
  const called = parts.some((part) => part.type === 'tool-call')
  const metadata = candidate['groundingMetadata']
  const searches = searchesOf(metadata, queriesIn(metadata), () => reading.ambient.newId(24))
  // What was searched for led to the text, which is returned first nevertheless.
  const begin = parts.findIndex((part) => part.type === 'text')
  parts.splice(Math.max(0, begin), 0, ...searches.map((search) => ({ type: 'web-search' as const, search })))
  const logprobs = logprobsOf(candidate)
  return { parts, finish: finishReasonOf(reason, called), ...(logprobs.length > 0 ? { logprobs } : {}) }
}

export function fromGeminiResponse(json: unknown, reading: Reading): ChatResponse {
  const answer = recordOf(Array.isArray(json) && json.length === 1 ? json[0] : json)
  if (!answer) throw new MalformedUpstream('the answer is not a JSON object')
  const failure = failureIn(answer)
  if (failure) throw new UpstreamRefusal(failure)
  const candidates = recordsOf(answer['candidates'])
  if (candidates.length === 0) {
    const message = 'no candidate in the upstream reply'
    throw new UpstreamRefusal({ status: 500, type: 'server_error', code: null, message })
  }
  const usage = recordOf(answer['usageMetadata'])
  const choices = candidates.map((candidate) => choiceOf(candidate, reading))
  const failed = choices.some(({ parts }) => parts.some(isOutput)) ? undefined : failedEndOf(candidates)
  if (failed) throw new UpstreamRefusal(failed, usage ? readUsage(usage) : undefined)
  const queries = candidates.reduce((sum, candidate) => sum + queriesIn(candidate['groundingMetadata']).length, 0)
  const places = candidates.some((candidate) => findsPlaces(candidate['groundingMetadata']))
  const searches = chargedSearches(queries, answer['modelVersion'], places)
  const counted = {
    ...(usage ? readUsage(usage) : {}),
    ...(searches > 0 ? { webSearchCalls: searches } : {}),
  }
  return {
    id: wordOf(answer['responseId']) ?? `chatcmpl-${reading.ambient.newId(24)}`,
    model: textOf(answer['modelVersion']) ?? '',
    choices,
    ...(Object.keys(counted).length > 0 ? { usage: counted } : {}),
  }
}
