import type { ChatRequest } from '#relay/chat/request.ts'
import { parseOpenAiResponses } from '../openai-responses/parse.ts'
import { defined, readerFor } from '../read.ts'

const read = readerFor('invalid_responses_request')

const instructions = `Summarise the conversation so far, so that another model can go on with it from your summary alone. Say
- what the user wants, with every condition and preference they gave;
- what has been done and found out, and which decisions were made for which reasons;
- the names, paths, identifiers, commands, figures and pieces of code that are still needed, word for word;
- which errors came up and how they were solved;
- what remains to be done, and what comes next.
Answer with the summary alone. Do not go on with the task, do not call tools, and do not address the user.`

/** Body of `/v1/responses/compact` → hub request: the conversation, and that it is to be summed up. */
export function parseOpenAiCompaction(value: unknown, path: { model?: string | undefined }): ChatRequest {
  // What shapes an answer (its format, its length, being streamed) is not for summaries.
  const { text: _text, stream: _stream, max_output_tokens: _limit, tool_choice: _choice, ...body } = read.body(value)
  const request = parseOpenAiResponses(body, path)
  return defined({
    ...request,
    messages: [
      ...request.messages,
      { role: 'user' as const, content: [{ type: 'text' as const, text: instructions }] },
    ],
    toolChoice: request.tools.length > 0 ? ({ type: 'none' } as const) : undefined,
    stream: false,
  })
}
