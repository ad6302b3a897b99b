import { type ReportedUsage, type Usage, normaliseUsage } from '#core/usage.ts'

/** Usage as messages report it: cached tokens stand beside the input tokens, not within them. */
export function toClaudeUsage(reported: ReportedUsage) {
  const { usage } = normaliseUsage(reported)
  return {
    input_tokens: usage.promptTokens - usage.cachedTokens - usage.cacheWriteTokens,
    cache_creation_input_tokens: usage.cacheWriteTokens,
    cache_read_input_tokens: usage.cachedTokens,
    ...(usage.cacheWriteTokens > 0 ? { cache_creation: byLifetime(usage) } : {}),
    output_tokens: usage.completionTokens,
    ...(usage.reasoningTokens > 0 ? { output_tokens_details: { thinking_tokens: usage.reasoningTokens } } : {}),
    ...(usage.webSearchCalls > 0
      ? { server_tool_use: { web_search_requests: usage.webSearchCalls, web_fetch_requests: 0 } }
      : {}),
  }
}

const byLifetime = (usage: Usage) => ({
  ephemeral_5m_input_tokens: usage.cacheWriteTokens - usage.cacheWrite1hTokens,
  ephemeral_1h_input_tokens: usage.cacheWrite1hTokens,
})
