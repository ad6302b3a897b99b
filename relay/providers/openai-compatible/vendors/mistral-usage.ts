import { isCount, type ReportedUsage } from '#core/usage.ts'
import { countOf, type Json, recordOf } from '../../shared/json.ts'
import { readUsage } from '../usage.ts'

/**
 * Audio is in the total alone, beside what was read and written: https://docs.mistral.ai/capabilities/audio_transcription,
 * `{"prompt_audio_seconds":203,"prompt_tokens":4,"total_tokens":3264,"completion_tokens":635}`.
 */
export function mistralUsage(usage: Json): ReportedUsage {
  const read = readUsage(usage)
  const completionTokens = countOf(usage['completion_tokens'])
  const total = countOf(usage['total_tokens'])
  const { promptTokens } = read
  if (!isCount(promptTokens) || !isCount(completionTokens)) return read
  const hasAudio = recordOf(usage['prompt_tokens_details'])?.['audio_tokens'] || usage['prompt_audio_seconds']
  if (!hasAudio || !isCount(total)) return { ...read, completionTokens }
  const audio = Math.max(0, total - promptTokens - completionTokens)
  // Then what was read holds it.
  if (audio === 0) return { ...read, completionTokens }
  return { ...read, promptTokens: promptTokens + audio, audioInputTokens: audio, completionTokens }
}
