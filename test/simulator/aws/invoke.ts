import { hostedMessages } from '../anthropic/hosted.ts'
import type { ChatOperation } from '../types.ts'
import { chunkFraming } from './frames.ts'

/** `/model/{id}/invoke` and `/model/{id}/invoke-with-response-stream`, for models of the messages dialect. */
export const invokePattern = /^\/model\/([^/]+)\/invoke(-with-response-stream)?$/

const shape =
  /^(?:(us|eu|apac|jp|au|global|us-gov)\.)?anthropic\.(claude-(?:v2|v2:1|instant-v1|[a-z0-9-]+-\d{8}-v\d:\d|opus-4-6-v1|(?:opus|sonnet|haiku|fable)-\d(?:-\d)?))$/

/**
 * Models from 4.5 on are called through a profile only, and none of them has one of all Asia; Opus 4.1 has that of the United States alone.
 * "apac." refused: https://github.com/aws-samples/anthropic-on-aws/pull/270; the names from 4.6 on, of which one ends in a version:
 * https://github.com/BerriAI/litellm/issues/22972
 */
function isModel(id: string): boolean {
  const [, area = '', name] = shape.exec(id) ?? []
  if (name === undefined || name === 'claude-opus-4-6') return false
  if (name.startsWith('claude-opus-4-1')) return area === 'us'
  const isLater = /^claude-[a-z]+-(4-[5-9]|[5-9])/.test(name)
  return !isLater || !['', 'apac'].includes(area)
}

const messages = hostedMessages({
  versions: ['bedrock-2023-05-31', '2026-10-21'],
  modelOf: (path) => decodeURIComponent(invokePattern.exec(path)?.[1] ?? ''),
  isModel,
  streams: (path) => path.endsWith('-with-response-stream'),
})

export const invokeModel: ChatOperation = {
  ...messages,
  write: (prompt, answer, call) => {
    const reply = messages.write(prompt, answer, call)
    return reply.type === 'stream' ? { ...reply, framing: chunkFraming } : reply
  },
}
