import type { ChatRequest } from '#relay/chat/request.ts'
import { readSampling } from '../openai-chat/parse.ts'
import { defined, leftOver, readerFor } from '../read.ts'

const read = readerFor('invalid_text_request')

const known = new Set(['model', 'instruction', 'input', 'n', 'temperature', 'top_p', 'stream', 'user'])

/** Body of the legacy `/v1/edits` → hub request: what to do is an instruction, what to do it to is what a user says. */
export function parseOpenAiEdits(value: unknown, path: { model?: string | undefined }): ChatRequest {
  const body = read.body(value)
  const model = read.name(body['model'] ?? path.model, 'model')
  const instruction = read.name(body['instruction'], 'instruction')
  const input = read.text(body['input'], 'input') ?? ''
  const { stream: _, includeUsage: __, ...sampling } = readSampling(body, read)
  return defined({
    model,
    messages: [
      { role: 'system' as const, content: [{ type: 'text' as const, text: instruction }] },
      { role: 'user' as const, content: [{ type: 'text' as const, text: input }] },
    ],
    tools: [],
    ...sampling,
    // The original never streamed.
    stream: false,
    includeUsage: false,
    extra: { dialect: 'openai-chat' as const, fields: leftOver(body, known) },
    losses: [],
  })
}
