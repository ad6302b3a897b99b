import type { ReportedUsage } from '#core/usage.ts'
import type { WireEvent } from '#relay/transport/framing.ts'
import type { ListenVerdict, StreamListener } from '../types.ts'
import { nameless } from '../shared/answer-record.ts'
import { createChoiceEnds } from '#relay/chat/choice-ends.ts'
import { type Json, recordOf, recordsOf, tryJson, tryRecord, wordOf } from '../shared/json.ts'
import { failureIn } from './failure.ts'
import { failedEndOf, indexOf, isOutput, partsOf } from './answer-parts.ts'
import { createListener, type ListenState } from '../shared/stream-listener.ts'
import { chargedSearches, findsPlaces, queriesIn } from './grounding.ts'
import { createGeminiDecoder } from './stream.ts'
import { readUsage } from './usage.ts'

/**
 * Arguments of calls are objects here, so that a name found in the text may be one of theirs: what may matter is parsed
 * before it counts.
 */
const mayClose = (data: string): boolean =>
  data.includes('"finishReason"') || data.includes('"error"') || data.includes('"promptFeedback"')

/** An error comes in a list, too. */
function readChunk(data: string): Json | undefined {
  const chunk = tryJson(data)
  return recordOf(Array.isArray(chunk) ? chunk[0] : chunk)
}

export function listenToGemini({ choices = 1 }: { choices?: number }): StreamListener {
  const ends = createChoiceEnds(choices, { resumes: true })
  let usageData: string | undefined
  let isBlocked = false
  const queries = new Set<string>()
  let places = false

  function watch({ data }: WireEvent, state: ListenState): ListenVerdict {
    if (data.includes('"usageMetadata"')) usageData = data
    // Counting ends at the block, as an answer does: what comes after it does not go out either.
    if (isBlocked && data.includes('"candidates"')) return 'drop'
    // Some models and hosts write a reason to finish into every chunk, or long before the last.
    const mayGoOn = ends.ended() > 0
    const isRead = choices > 1 || mayGoOn || mayClose(data) || data.includes('"groundingMetadata"')
    let takesBack = false
    const chunk = isRead ? readChunk(data) : undefined
    if (chunk) {
      const found = failureIn(chunk)
      // A blocked prompt is an answer in this dialect; only an error is a failure.
      if (found && recordOf(chunk['error'])) {
        state.failure = found
        return 'failed'
      }
      isBlocked ||= found !== undefined
      const candidates = recordsOf(chunk['candidates'])
      const failed = failedEndOf(candidates)
      if (failed && state.written().tokens === 0) {
        state.failure = failed
        return 'failed'
      }
      for (const [place, candidate] of candidates.entries()) {
        const index = indexOf(candidates, place)
        places ||= findsPlaces(candidate['groundingMetadata'])
        for (const query of queriesIn(candidate['groundingMetadata'])) queries.add(`${index} ${query}`)
        if (mayGoOn && partsOf(candidate, nameless).some(isOutput)) {
          takesBack = state.complete
          ends.write(index)
        }
        if (wordOf(candidate['finishReason']) === undefined) ends.begin(index)
        else ends.finish(index)
      }
      state.complete = isBlocked || ends.areComplete()
      state.continued = ends.continued()
    }
    if (takesBack) return 'resume'
    return state.complete ? 'hold' : 'forward'
  }

  function usage(): ReportedUsage | undefined {
    const last = usageData === undefined ? undefined : tryRecord(usageData)
    const reported = recordOf(last?.['usageMetadata'])
    if (!reported) return undefined
    const searches = chargedSearches(queries.size, last?.['modelVersion'], places)
    const counted = readUsage(reported)
    return searches > 0 ? { ...counted, webSearchCalls: searches } : counted
  }

  function close(state: ListenState): void {
    ends.close()
    state.complete ||= ends.areComplete()
  }

  return createListener({ decoder: () => createGeminiDecoder(nameless), watch, usage, close })
}
