import { describe, expect, test } from 'vitest'
import { parseClaude } from '#relay/dialects/claude/parse.ts'
import { parseGemini } from '#relay/dialects/gemini/parse.ts'
import { parseOpenAiChat } from '#relay/dialects/openai-chat/parse.ts'
import { parseOpenAiResponses } from '#relay/dialects/openai-responses/parse.ts'
import type { ChatRequest } from '#relay/chat/request.ts'
import { unseenInput } from './unseen-input.ts'

const user = (...content: object[]) => [{ role: 'user', content }]

describe('what a call names and does not bring along is read by the upstream alone', () => {
  const responses = (more: object) => parseOpenAiResponses({ model: 'm', input: 'hi', ...more }, {})
  const claude = (content: object[], more: object = {}) =>
    parseClaude({ model: 'm', max_tokens: 9, messages: user({ type: 'text', text: 'hi' }, ...content), ...more }, {})
  const gemini = (parts: object[], more: object = {}) =>
    parseGemini({ contents: [{ role: 'user', parts: [{ text: 'hi' }, ...parts] }], ...more }, { model: 'm' })
  const chat = (...content: object[]) => parseOpenAiChat({ model: 'm', messages: user(...content) }, {})
  const bytes = { type: 'base64', media_type: 'application/pdf', data: 'AAAA' }
  const inline = { inlineData: { mimeType: 'application/pdf', data: 'AAAA' } }
  const file = (data: object) => responses({ input: user({ type: 'input_file', ...data }) })

  const unseen: [string, ChatRequest][] = [
    ['a file by address, of responses', file({ file_url: 'https://a.test/b.pdf' })],
    ['a file by id, of responses', file({ file_id: 'file-1' })],
    ['a stored prompt', responses({ prompt: { id: 'pmpt_1' } })],
    ['a server of tools', responses({ tools: [{ type: 'mcp', server_label: 'a', server_url: 'https://a.test' }] })],
    ['a store of files', responses({ tools: [{ type: 'file_search', vector_store_ids: ['vs_1'] }] })],
    ['a document by address', claude([{ type: 'document', source: { type: 'url', url: 'https://a.test/b.pdf' } }])],
    ['a server of Claude', claude([], { mcp_servers: [{ type: 'url', name: 'a', url: 'https://a.test' }] })],
    ['a tool that fetches', claude([], { tools: [{ type: 'web_fetch_20250910', name: 'web_fetch' }] })],
    ['a video', gemini([{ fileData: { fileUri: 'https://www.youtube.com/watch?v=a' } }])],
    ['a cache', gemini([], { cachedContent: 'cachedContents/a' })],
    ['addresses in the text', gemini([], { tools: [{ urlContext: {} }] })],
    ['a file by id, of chat', chat({ type: 'file', file: { file_id: 'file-1' } })],
    ['a video by address, of chat', chat({ type: 'video_url', video_url: { url: 'https://a.test/b.mp4' } })],
    ['audio by address', gemini([{ fileData: { mimeType: 'audio/mp3', fileUri: 'https://a.test/b.mp3' } }])],
    ['a cache of chat', parseOpenAiChat({ model: 'm', messages: user(), cached_content: 'cachedContents/a' }, {})],
    [
      'a cache of chat, where Google has it',
      parseOpenAiChat(
        { model: 'm', messages: user(), extra_body: { google: { cached_content: 'cachedContents/a' } } },
        {},
      ),
    ],
    ['a file of a container', claude([{ type: 'container_upload', file_id: 'file_1' }])],
  ]
  test.each(unseen)('%s', (_name, request) => expect(unseenInput(request)).toBeDefined())

  const seen: [string, ChatRequest][] = [
    ['text', responses({})],
    ['a search of the web', responses({ tools: [{ type: 'web_search' }] })],
    ['a function of that name', responses({ tools: [{ type: 'function', name: 'mcp', parameters: {} }] })],
    ['a document in the call', claude([{ type: 'document', source: bytes }])],
    ['no server at all', claude([], { mcp_servers: [] })],
    ['a file in the call', gemini([inline])],
    ['a picture by address', chat({ type: 'image_url', image_url: { url: 'https://a.test/b.png' } })],
  ]
  test.each(seen)('but not %s', (_name, request) => expect(unseenInput(request)).toBeUndefined())
})
