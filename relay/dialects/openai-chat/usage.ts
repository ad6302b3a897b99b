import { type ReportedUsage, normaliseUsage, totalTokens } from '#core/usage.ts'

/** Usage as chat completions report it. */
export function toOpenAiUsage(reported: ReportedUsage) {
  const { usage } = normaliseUsage(reported)
  return {
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    total_tokens: totalTokens(usage),
    prompt_tokens_details: {
      cached_tokens: usage.cachedTokens,
      cache_write_tokens: usage.cacheWriteTokens,
      text_tokens: usage.promptTokens - usage.audioInputTokens - usage.imageInputTokens,
      audio_tokens: usage.audioInputTokens,
      image_tokens: usage.imageInputTokens,
    },
    completion_tokens_details: {
      text_tokens: Math.max(
        0,
        usage.completionTokens - usage.audioOutputTokens - usage.imageOutputTokens - usage.reasoningTokens,
      ),
      audio_tokens: usage.audioOutputTokens,
      reasoning_tokens: usage.reasoningTokens,
    },
  }
}
