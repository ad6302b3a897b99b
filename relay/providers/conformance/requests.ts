import type { ChatRequest } from '#relay/chat/request.ts'
import type { Provider } from '../types.ts'
import { callWith } from './fixtures.ts'

/** A hub request with the given changes, from a caller of another dialect unless they say otherwise. */
export const requestWith = (changes: Partial<ChatRequest> = {}): ChatRequest => ({
  model: 'gpt-4o',
  messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
  tools: [],
  stop: [],
  stream: false,
  includeUsage: true,
  extra: { dialect: 'openai-chat', fields: {} },
  losses: [],
  ...changes,
})

export const weatherTool = {
  type: 'function' as const,
  name: 'get_weather',
  description: 'Current weather',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
}

export const onePixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

export const imageRequest = (): ChatRequest =>
  requestWith({
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is this?' },
          { type: 'image', source: { kind: 'base64', mediaType: 'image/png', data: onePixel } },
        ],
      },
    ],
  })

/** A finished round of two tool calls, with a result that failed. */
export const toolConversation = (): ChatRequest =>
  requestWith({
    tools: [weatherTool],
    messages: [
      { role: 'system', content: [{ type: 'text', text: 'Be brief.' }] },
      { role: 'user', content: [{ type: 'text', text: 'Weather in Paris and Rome?' }] },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'I will look.' },
          { type: 'tool-call', id: 'call_1', name: 'get_weather', arguments: '{"city":"Paris"}' },
          { type: 'tool-call', id: 'call_2', name: 'get_weather', arguments: '{"city":"Rome"}' },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool-result', callId: 'call_1', name: 'get_weather', content: [{ type: 'text', text: 'sunny-18' }] },
          {
            type: 'tool-result',
            callId: 'call_2',
            name: 'get_weather',
            content: [{ type: 'text', text: 'no-such-station' }],
            isError: true,
          },
          { type: 'text', text: 'And tomorrow?' },
        ],
      },
    ],
  })

type Changes = Parameters<typeof callWith>[0]

/** What a provider writes for a channel of its own: the request, and its body alone. */
export function requestWriter(
  { chat }: Pick<Provider, 'chat'>,
  { model, type, baseUrl }: { model: string; type: number; baseUrl: string },
) {
  const write = (request: Partial<ChatRequest> = {}, changes: Changes = {}) =>
    chat.request(requestWith(request), callWith({ model, ...changes, channel: { type, baseUrl, ...changes.channel } }))
  const body = (...given: Parameters<typeof write>) => write(...given).body as Record<string, unknown>
  return { write, body }
}
