import type { ChatRequest } from '#relay/chat/request.ts'
import type { Json } from '../../wire/json.ts'
import { openAiCompatible } from '../index.ts'
import { effortOf } from '../request.ts'

const levels: Readonly<Record<string, string>> = { minimal: 'low', xhigh: 'high', max: 'high' }

function reasoning(body: Json, { reasoning: wish, extra }: ChatRequest): void {
  const effort = wish && effortOf(wish, extra.dialect)
  if (effort !== undefined) body['reasoning_effort'] = levels[effort] ?? effort
}

/** The server's own OpenAI surface. It fetches no pictures. */
export const ollama = openAiCompatible({
  id: 'ollama',
  label: 'Ollama',
  channelTypes: [4],
  inlineImages: true,
  reasoning,
  modelsUrl: (channel) => `${channel.baseUrl}/api/tags`,
})
