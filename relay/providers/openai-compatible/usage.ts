import { isCount, type ReportedUsage } from '#core/usage.ts'
import { countOf, type Json, recordOf, sumOf } from '../shared/json.ts'

const firstOf = (...values: unknown[]): number | undefined =>
  countOf(values.find((value) => value !== undefined && value !== null))

/** Some say reasoning in the total alone, as Google does in this form; what others leave out of the prompt is no output. */
function completionOf(usage: Json, prompt: number | undefined, cached = 0): number | undefined {
  const reported = firstOf(usage['completion_tokens'], usage['output_tokens'])
  const total = countOf(usage['total_tokens'])
  if (total === undefined || prompt === undefined || total < prompt) return reported
  if (reported === undefined) return total - prompt
  const areCounts = isCount(reported) && isCount(total) && isCount(prompt)
  return cached > prompt || !areCounts ? reported : Math.max(reported, total - prompt)
}

/** The searches that a vendor ran, where it counts them. */
const searchesIn = (usage: Json): number | undefined => {
  const xai = recordOf(usage['server_side_tool_usage_details'])
  return firstOf(
    recordOf(usage['server_tool_use'])?.['web_search_requests'],
    recordOf(recordOf(usage['plugins'])?.['search'])?.['count'],
    recordOf(recordOf(usage['x_tools'])?.['web_search'])?.['count'],
    recordOf(usage['tool_usage'])?.['web_search'],
    sumOf(countOf(xai?.['web_search_calls']), countOf(xai?.['x_search_calls'])),
  )
}

/** The counts of a chat answer, wherever the vendors of this dialect put them. */
export function readUsage(usage: Json): ReportedUsage {
  const input = recordOf(usage['prompt_tokens_details']) ?? recordOf(usage['input_tokens_details']) ?? {}
  const output = recordOf(usage['completion_tokens_details']) ?? recordOf(usage['output_tokens_details']) ?? {}
  const promptTokens = firstOf(usage['prompt_tokens'], usage['input_tokens'])
  const cachedTokens = firstOf(
    input['cached_tokens'],
    usage['cached_tokens'],
    usage['prompt_cache_hit_tokens'],
    usage['num_cached_tokens'],
    recordOf(usage['prompt_token_details'])?.['cached_tokens'],
  )
  const cacheWriteTokens = firstOf(input['cache_write_tokens'], input['cache_creation_input_tokens'])
  return {
    promptTokens,
    cachedTokens,
    cacheWriteTokens,
    cacheWrite1hTokens: countOf(recordOf(input['cache_write_tokens_details'])?.['ttl_12h_tokens']),
    audioInputTokens: countOf(input['audio_tokens']),
    imageInputTokens: countOf(input['image_tokens']),
    completionTokens: completionOf(usage, promptTokens, sumOf(cachedTokens, cacheWriteTokens)),
    reasoningTokens: countOf(output['reasoning_tokens']),
    audioOutputTokens: countOf(output['audio_tokens']),
    imageOutputTokens: countOf(output['image_tokens']),
    webSearchCalls: searchesIn(usage),
  }
}

/** The usage object of an answer or a chunk; some vendors put it into the choice. */
export const usageObjectOf = (answer: Json): Json | undefined =>
  recordOf(answer['usage']) ?? recordOf(recordOf((answer['choices'] as unknown[] | undefined)?.[0])?.['usage'])
