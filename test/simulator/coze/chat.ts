import type { Answer } from '../answer.ts'
import { asObject, asObjects, asText, charactersOf, refuse, type Json, type Prompt } from '../prompt.ts'
import { json, type Call, type ChatOperation, type PlainOperation, type StreamEvent } from '../types.ts'

type Part = { text: string; media: string[] }

/** A file by its address, or one that was sent ahead. */
function mediaOf(part: Json, { stored }: Call): string[] {
  const address = asText(part['file_url'])
  if (address !== '') return [`${asText(part['type'])} ${address}.`]
  const id = asText(part['file_id'])
  if (id === '') return []
  const known = stored.get(id)
  if (!known) refuse('Invalid request parameters: file_id')
  const { type, bytes, fingerprint } = asObject(known?.['file'])
  const kind = part['type'] === 'image' ? 'Image' : 'File'
  return [`${kind} ${String(type)} ${String(bytes)} bytes sha256 ${String(fingerprint)}.`]
}

function partOf(message: Json, call: Call): Part {
  const content = asText(message['content'])
  if (message['content_type'] !== 'object_string') return { text: content, media: [] }
  const parts = asObjects(JSON.parse(content))
  return {
    text: parts.map((part) => asText(part['text'])).join(''),
    media: parts.flatMap((part) => mediaOf(part, call)),
  }
}

function readChat(call: Call): Prompt {
  const { body } = call
  if (!body['bot_id']) refuse('Invalid request parameters: bot_id')
  if (!body['user_id']) refuse('Invalid request parameters: user_id')
  if (body['stream'] !== true) refuse('Simulated provider: answers in streams only')
  const messages = asObjects(body['additional_messages'])
  for (const { role, type, content_type: form } of messages) {
    const fits = (role === 'user' && type === 'question') || (role === 'assistant' && type === 'answer')
    if (!fits || (form !== 'text' && form !== 'object_string'))
      refuse('Invalid request parameters: additional_messages')
  }
  const [spoken = { text: '', media: [] }, ...before] = messages
    .filter(({ role }) => role === 'user')
    .map((message) => partOf(message, call))
    .reverse()
  return {
    model: asText(body['bot_id']),
    stream: true,
    ...spoken,
    // A bot has instructions of its own; callers' come as what a user said first.
    system: before.map(({ text }) => text).join('\n'),
    tools: [],
    toolChoice: { mode: 'none' },
    toolResults: [],
    thinking: false,
    json: undefined,
    maxTokens: undefined,
    stop: [],
    choices: 1,
    characters: charactersOf(messages),
  }
}

function events(prompt: Prompt, answer: Answer, call: Call): StreamEvent[] {
  const ids = { conversation_id: call.nextId('conv_'), bot_id: prompt.model }
  const chatId = call.nextId('chat_')
  const list: StreamEvent[] = []
  const emit = (event: string, fields: Json) => list.push({ event, data: JSON.stringify({ ...ids, ...fields }) })
  const message = { id: call.nextId('m_'), chat_id: chatId, role: 'assistant', content_type: 'text' }
  emit('conversation.chat.created', { id: chatId, status: 'created' })
  emit('conversation.chat.in_progress', { id: chatId, status: 'in_progress' })
  for (const content of answer.text) emit('conversation.message.delta', { ...message, type: 'answer', content })
  emit('conversation.message.completed', { ...message, type: 'answer', content: answer.text.join('') })
  emit('conversation.message.completed', {
    ...message,
    type: 'verbose',
    content: '{"msg_type":"generate_answer_finish"}',
  })
  emit('conversation.message.completed', { ...message, type: 'follow_up', content: 'What else?' })
  const { usage } = answer
  const counts = usage && {
    token_count: Number(usage.prompt) + Number(usage.completion),
    output_count: usage.completion,
    input_count: usage.prompt,
  }
  emit('conversation.chat.completed', { id: chatId, status: 'completed', ...(counts ? { usage: counts } : {}) })
  list.push({ event: 'done', data: '"[DONE]"' })
  return list
}

export const chat: ChatOperation = {
  type: 'chat',
  read: readChat,
  write: (prompt, answer, call) => ({ type: 'stream', events: events(prompt, answer, call) }),
}

/** Files of the bots and of other vendors' applications are taken alike, and each reads the id where it expects it. */
export const upload: PlainOperation = {
  type: 'plain',
  reply: ({ body, nextId, stored }) => {
    const file = asObject(body['file'])
    if (file['bytes'] === undefined) refuse('no file')
    if (!/\.[a-z0-9]+$/.test(asText(file['filename']))) refuse('File type not allowed.')
    const id = `${nextId('file_')}-${asText(file['sha256'])}`
    stored.set(id, { user: body['user'], file })
    return json({ id, name: file['filename'], code: 0, data: { id, bytes: file['bytes'] }, msg: '' })
  },
}
