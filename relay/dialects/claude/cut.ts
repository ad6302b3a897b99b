import { parseObject } from '#relay/chat/json.ts'
import type { WireEvent } from '#relay/transport/framing.ts'
import type { Cutter } from '../types.ts'
import { toClaudeUsage } from './usage.ts'

const event = (type: string, rest: object): WireEvent => ({ event: type, data: JSON.stringify({ type, ...rest }) })

const stop = event('message_stop', {})

/** Ends a message: the block being written is closed, and the reason is `max_tokens`. */
export function cutClaude(): Cutter {
  let last: WireEvent | undefined
  let isStopped = false
  return {
    watch: (passed) => {
      if (passed.event !== 'ping') last = passed
      isStopped ||= passed.event === stop.event
    },
    end: ({ usage }) => {
      const { type, index } = parseObject(last?.data ?? '') ?? {}
      const isOpen = type === 'content_block_start' || type === 'content_block_delta'
      return [
        ...(isOpen ? [event('content_block_stop', { index })] : []),
        event('message_delta', {
          delta: { stop_reason: 'max_tokens', stop_sequence: null },
          usage: toClaudeUsage(usage),
        }),
        stop,
      ]
    },
    mark: () => (isStopped ? undefined : stop),
  }
}
