import { DomainError } from '#core/errors.ts'
import type { StreamDecoder, UpstreamFailure } from '#relay/chat/events.ts'
import type { ChatRequest, Message } from '#relay/chat/request.ts'
import { bearer } from '../openai-compatible/address.ts'
import { createOpenAiDecoder } from '../openai-compatible/stream.ts'
import { reshapedReading } from '../openai-compatible/reshaped.ts'
import type { OpenAiStyle } from '../openai-compatible/style.ts'
import type { Provider, ProviderCall, UpstreamRequest } from '../types.ts'
import { readFailure } from '../shared/failures.ts'
import { countOf, type Json, parseRecord, recordsOf, textOf, withoutAbsent, wordOf } from '../shared/json.ts'
import { unsupported } from '../shared/unsupported-fields.ts'

function refusal(answer: Json): UpstreamFailure | undefined {
  const code = countOf(answer['errCode'])
  if (answer['success'] !== false && (code === undefined || code === 0)) return undefined
  const message = wordOf(answer['message']) ?? `upstream code ${String(code)}`
  return {
    status: code !== undefined && code >= 400 && code <= 599 ? code : 500,
    type: 'upstream_error',
    code: code ?? null,
    message,
  }
}

const style: OpenAiStyle = {
  id: 'aiproxy-library',
  label: 'AI Proxy library',
  channelTypes: [21],
  refusal: { mark: '"errCode"', read: refusal },
}

const textIn = (message: Message | undefined): string =>
  (message?.content ?? []).flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')

/** A library is asked one question: the last thing that was said. */
function toRequest(request: ChatRequest, { channel, model, stream }: ProviderCall): UpstreamRequest {
  const libraryId = channel.other.trim()
  if (libraryId === '') throw new DomainError('unsupported.no_library')
  const losses = new Set(unsupported(request))
  if (request.messages.length > 1) losses.add('messages')
  if (request.user !== undefined) losses.add('user')
  if (request.responseFormat !== undefined && request.responseFormat.type !== 'text') losses.add('response_format')
  for (const part of request.messages.at(-1)?.content ?? []) {
    if (part.type === 'image' || part.type === 'audio' || part.type === 'file') losses.add(part.type)
  }
  return {
    method: 'POST',
    url: `${channel.baseUrl}/api/library/ask`,
    headers: {
      'content-type': 'application/json',
      accept: stream ? 'text/event-stream' : 'application/json',
      ...bearer(channel.key),
    },
    body: { model, query: textIn(request.messages.at(-1)), libraryId, stream },
    losses: [...losses],
  }
}

/** What was looked up, as a list after the answer. */
function sourcesOf(answer: Json): string {
  const lines = recordsOf(answer['documents']).flatMap((document, index) => {
    const [title, url] = [wordOf(document['title']), wordOf(document['url'])]
    return title === undefined && url === undefined ? [] : [`${index + 1}. [${title ?? url}](${url ?? ''})`]
  })
  return lines.length === 0 ? '' : `\n\n${lines.join('\n')}`
}

const { response } = reshapedReading(style, {
  answer: (json) => {
    if (textOf(json['answer']) === undefined) return json
    const content = `${textOf(json['answer'])}${sourcesOf(json)}`
    return { choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }] }
  },
  chunk: (json) => json,
})

/** Sources are reported as they are found; they stand at the end of the answer. */
function createDecoder(call: ProviderCall): StreamDecoder {
  const decoder = createOpenAiDecoder(style, call)
  let sources = ''
  return {
    push(event) {
      if (event.data.trim() === '[DONE]') return decoder.push(event)
      const json = parseRecord(event.data)
      if (refusal(json) || json['error']) return decoder.pushChunk(json)
      sources = sourcesOf(json) || sources
      const finish = json['finish'] === true ? 'stop' : null
      const content = `${textOf(json['content']) ?? ''}${finish ? sources : ''}`
      return decoder.pushChunk(
        withoutAbsent({ model: json['model'], choices: [{ index: 0, delta: { content }, finish_reason: finish }] }),
      )
    },
    end: () => decoder.end(),
  }
}

/** Questions to a store of documents, at a service that has ended. */
export const aiproxyLibrary: Provider = {
  id: style.id,
  label: style.label,
  channelTypes: style.channelTypes,
  framing: 'sse',
  chat: { request: toRequest, response, stream: createDecoder, media: 'as-given' },
  native: {},
  error: readFailure,
  models: {
    request: ({ baseUrl, key }) => ({ method: 'GET', url: `${baseUrl}/v1/models`, headers: bearer(key) }),
    read: () => [],
  },
}
