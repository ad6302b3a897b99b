import type { ReportedUsage } from '#core/usage.ts'
import { countOf, type Json, recordOf } from '../shared/json.ts'

const firstOf = (...values: unknown[]): number | undefined =>
  countOf(values.find((value) => value !== undefined && value !== null))

function completionOf(usage: Json, prompt: number | undefined): number | undefined {
  const reported = firstOf(usage['completion_tokens'], usage['output_tokens'])
  const total = countOf(usage['total_tokens'])
  if (reported !== undefined || total === undefined || prompt === undefined) return reported
  return total >= prompt ? total - prompt : undefined
}

/** The counts of a chat answer, wherever the vendors of this dialect put them. */
export function readUsage(usage: Json): ReportedUsage {
  const input = recordOf(usage['prompt_tokens_details']) ?? recordOf(usage['input_tokens_details']) ?? {}
  const output = recordOf(usage['completion_tokens_details']) ?? recordOf(usage['output_tokens_details']) ?? {}
  const promptTokens = firstOf(usage['prompt_tokens'], usage['input_tokens'])
  return {
    promptTokens,
    cachedTokens: firstOf(
      input['cached_tokens'],
      usage['cached_tokens'],
      usage['prompt_cache_hit_tokens'],
      usage['num_cached_tokens'],
      recordOf(usage['prompt_token_details'])?.['cached_tokens'],
    ),
    cacheWriteTokens: firstOf(input['cache_write_tokens'], input['cache_creation_input_tokens']),
    audioInputTokens: countOf(input['audio_tokens']),
    imageInputTokens: countOf(input['image_tokens']),
    completionTokens: completionOf(usage, promptTokens),
    reasoningTokens: countOf(output['reasoning_tokens']),
    audioOutputTokens: countOf(output['audio_tokens']),
    imageOutputTokens: countOf(output['image_tokens']),
  }
}

/** The usage object of an answer or a chunk; some vendors put it into the choice. */
export const usageObjectOf = (answer: Json): Json | undefined =>
  recordOf(answer['usage']) ?? recordOf(recordOf((answer['choices'] as unknown[] | undefined)?.[0])?.['usage'])
