import {
  asksBeside,
  asObject,
  asObjects,
  asText,
  describeAddress,
  describeBytes,
  refuse,
  type Json,
} from '../prompt.ts'

const isUser = (message: Json) => message['role'] === 'user'

export const textOfContent = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : asObjects(content)
        .map((part) => asText(part['text'] ?? part['refusal']))
        .filter(Boolean)
        .join('\n')

/** Images, audio and files among content parts of chat and responses calls, in words. */
export function mediaOfContent(content: unknown): string[] {
  return asObjects(content).flatMap((part) => {
    switch (part['type']) {
      case 'image_url': {
        const image = part['image_url']
        return [describeAddress('Image', typeof image === 'string' ? image : asText(asObject(image)['url']))]
      }
      case 'input_image':
        return [describeAddress('Image', asText(part['image_url'] ?? part['file_id']))]
      case 'input_audio': {
        const audio = asObject(part['input_audio'])
        return [describeBytes('Audio', asText(audio['format']), asText(audio['data']))]
      }
      case 'file':
      case 'input_file': {
        const file = part['type'] === 'file' ? asObject(part['file']) : part
        return [describeAddress('File', asText(file['file_data'] ?? file['file_url'] ?? file['file_id']))]
      }
      case 'document_url':
        return [describeAddress('File', asText(part['document_url']))]
      default:
        return []
    }
  })
}

/** The vendor refuses a conversation whose tool results and tool calls do not pair up. */
function checkToolPairs(messages: Json[]): void {
  let open = new Set<string>()
  for (const [index, message] of messages.entries()) {
    if (message['role'] === 'tool') {
      if (!open.delete(asText(message['tool_call_id'])))
        refuse(
          "Invalid parameter: messages with role 'tool' must be a response to a preceding message with 'tool_calls'.",
          `messages.[${index}].role`,
        )
      continue
    }
    if (open.size > 0)
      refuse(
        `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${[...open].join(', ')}`,
        `messages.[${index}].role`,
      )
    open = new Set(asObjects(message['tool_calls']).map((call) => asText(call['id'])))
  }
}

/** Tools' messages hold texts alone, so that their images come in a user's message right behind, which asks nothing. */
const isAttachment = (messages: Json[], index: number): boolean => {
  const parts = asObjects(messages[index]?.['content'])
  if (messages[index - 1]?.['role'] !== 'tool') return false
  return parts.some(isImage) && !asksBeside(parts.map((part) => asText(part['text'])))
}
const isImage = (part: Json): boolean => part['type'] === 'image_url'

export function readMessages(value: unknown) {
  const messages = asObjects(value)
  if (messages.length === 0) refuse("Missing required parameter: 'messages'.", 'messages')
  checkToolPairs(messages)
  const attached = isAttachment(messages, messages.length - 1) ? messages.at(-1)?.['content'] : []
  const turns = asObjects(attached).length > 0 ? messages.slice(0, -1) : messages
  const user = turns.findLast((message, index) => isUser(message) && !isAttachment(turns, index))
  const lastOther = turns.findLastIndex((message) => message['role'] !== 'tool')
  return {
    text: textOfContent(user?.['content']),
    media: turns.at(-1) === user ? mediaOfContent(user?.['content']) : [],
    system: messages
      .filter((message) => message['role'] === 'system' || message['role'] === 'developer')
      .map((message) => textOfContent(message['content']))
      .join('\n'),
    toolResults: [
      ...turns.slice(lastOther + 1).map((message) => textOfContent(message['content'])),
      ...mediaOfContent(attached),
    ],
  }
}
