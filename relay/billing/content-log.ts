import type { ChatRequest } from '#relay/chat/request.ts'
import type { RelayServices } from '#relay/request/call.ts'

const longest = 64 * 1024

const cut = (text: string): string => (text.length > longest ? text.slice(0, longest) : text)

/** What a caller wrote, as text: pictures and files are named, not kept. */
function textOf(content: ChatRequest['messages'][number]['content']): string {
  return (content as { type: string; text?: string }[])
    .map((part) => (typeof part.text === 'string' ? part.text : `[${part.type}]`))
    .join('\n')
}

/** The conversation as it was sent, for the log row, only while the operator has switched content logging on. */
export function loggedContent(
  services: RelayServices,
  { messages }: ChatRequest,
  output: () => string,
): Record<string, unknown> {
  if (!services.options.get('LogChatContentEnabled')) return {}
  const lastUser = messages.findLastIndex((message) => message.role === 'user')
  const input = messages[lastUser >= 0 ? lastUser : messages.length - 1]
  const context = messages
    .filter((message, index) => message.role !== 'system' && index !== lastUser)
    .map((message) => ({ role: message.role, content: cut(textOf(message.content)) }))
  return {
    system_prompt: cut(
      messages
        .filter((message) => message.role === 'system')
        .map((message) => textOf(message.content))
        .join('\n'),
    ),
    context: JSON.stringify(context).length > longest ? context.slice(-5) : context,
    input_content: input ? { role: input.role, content: cut(textOf(input.content)) } : '',
    output_content: cut(output()),
  }
}
