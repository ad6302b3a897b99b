import type { FinishReason } from '#relay/chat/events.ts'

export const finishReasons = {
  stop: 'stop',
  length: 'length',
  'tool-calls': 'tool_calls',
  'content-filter': 'content_filter',
} satisfies Record<FinishReason, string>
