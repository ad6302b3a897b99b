import type { ChatRequest } from '#relay/chat/request.ts'
import { summaryRequest } from '../openai-responses/compaction.ts'
import { readerFor } from '../read.ts'

const read = readerFor('invalid_responses_request')

/** Body of `/v1/responses/compact` → hub request: the conversation, and that it is to be summed up. */
export function parseOpenAiCompaction(value: unknown, path: { model?: string | undefined }): ChatRequest {
  const { stream: _stream, ...body } = read.body(value)
  return { ...summaryRequest(body, path), stream: false }
}
