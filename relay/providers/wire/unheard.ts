import type { ChatRequest, Message } from '#relay/chat/request.ts'
import { formatInstruction } from '../anthropic/output-format.ts'

/** What applications with a model and tools of their own do not hear, by the names callers know it under. */
export function unheard(request: ChatRequest): string[] {
  const given: Readonly<Record<string, boolean>> = {
    tools: request.tools.length > 0,
    temperature: request.temperature !== undefined,
    top_p: request.topP !== undefined,
    top_k: request.topK !== undefined,
    max_tokens: request.maxTokens !== undefined,
    seed: request.seed !== undefined,
    stop: request.stop.length > 0,
    reasoning_effort: request.reasoning !== undefined,
    reasoning_content: request.messages.some((message) => message.content.some((part) => part.type === 'reasoning')),
  }
  return Object.keys(given).filter((name) => given[name])
}

/** The conversation, begun by the wish for a format, where nothing but words can tell it. */
export function withToldFormat({ messages, responseFormat }: ChatRequest): Message[] {
  const instruction = formatInstruction(responseFormat, false)
  return instruction === undefined
    ? messages
    : [{ role: 'system', content: [{ type: 'text', text: instruction }] }, ...messages]
}
