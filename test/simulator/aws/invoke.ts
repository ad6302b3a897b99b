import { hostedMessages } from '../anthropic/hosted.ts'
import type { ChatOperation } from '../types.ts'
import { chunkFraming } from './frames.ts'

/** `/model/{id}/invoke` and `/model/{id}/invoke-with-response-stream`, for models of the messages dialect. */
export const invokePattern = /^\/model\/([^/]+)\/invoke(-with-response-stream)?$/

const messages = hostedMessages({
  versions: ['bedrock-2023-05-31', '2026-10-21'],
  modelOf: (path) => decodeURIComponent(invokePattern.exec(path)?.[1] ?? ''),
  isModel: (id) => /^((us|eu|apac|jp|au|ca|global|us-gov)\.)?anthropic\.claude-[a-z0-9-]+(:\d+)?$/.test(id),
  streams: (path) => path.endsWith('-with-response-stream'),
})

export const invokeModel: ChatOperation = {
  ...messages,
  write: (prompt, answer, call) => {
    const reply = messages.write(prompt, answer, call)
    return reply.type === 'stream' ? { ...reply, framing: chunkFraming } : reply
  },
}
