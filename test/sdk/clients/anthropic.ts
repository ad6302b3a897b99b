import Anthropic from '@anthropic-ai/sdk'
import type { ContentBlockParam, Message, MessageParam } from '@anthropic-ai/sdk/resources/messages'
import { type Ask, type Client, type ClientFacts, refuseBeyond, thrownBy, type Turn } from './client.ts'

export const anthropicFacts: ClientFacts = {
  stop: 'end_turn',
  length: 'max_tokens',
  toolUse: 'tool_use',
  errorClass: (status) =>
    ({
      400: 'BadRequestError',
      401: 'AuthenticationError',
      403: 'PermissionDeniedError',
      404: 'NotFoundError',
      429: 'RateLimitError',
      503: 'ServiceUnavailableError',
    })[status] ?? 'InternalServerError',
  unknownModel: 404,
  busy: 'Simulated failure 429.',
}

export const anthropicLibrary = (url: string, key: string) => new Anthropic({ apiKey: `sk-${key}`, baseURL: url })

export function anthropicClient(url: string, key: string): Client {
  const library = anthropicLibrary(url, key)
  const ask = async (wanted: Ask): Promise<Turn> => {
    refuseBeyond(wanted, 'search')
    const body = bodyOf(wanted)
    if (!wanted.stream) return turnOf(await library.messages.create(body))
    return turnOf(await library.messages.stream(body).finalMessage())
  }
  return {
    ask,
    failureOf: async (wanted) => {
      const error = await thrownBy(() => ask(wanted))
      return { status: error.status, class: error.constructor.name, message: error.message }
    },
  }
}

function bodyOf({ model, text, system, maxTokens, image, tools, results, thinking, schema, earlier, search }: Ask) {
  const content: ContentBlockParam[] = [
    ...(image
      ? [
          {
            type: 'image' as const,
            source: { type: 'base64' as const, media_type: 'image/png' as const, data: image.toString('base64') },
          },
        ]
      : []),
    { type: 'text', text },
  ]
  const messages: MessageParam[] = [
    ...(earlier
      ? [
          { role: 'user' as const, content: earlier.text },
          { role: 'assistant' as const, content: earlier.turn.assistantTurn as ContentBlockParam[] },
        ]
      : []),
    { role: 'user', content },
    ...(results ?? []).flatMap(({ turn, texts }): MessageParam[] => [
      { role: 'assistant', content: turn.assistantTurn as ContentBlockParam[] },
      {
        role: 'user',
        content: texts.map((output, index) => ({
          type: 'tool_result',
          tool_use_id: turn.calls[index]?.id ?? '',
          content: output,
        })),
      },
    ]),
  ]
  return {
    model,
    max_tokens: maxTokens ?? 4000,
    messages,
    ...(system ? { system } : {}),
    ...(thinking ? { thinking: { type: 'enabled' as const, budget_tokens: 1024 } } : {}),
    ...(schema ? { output_config: { format: { type: 'json_schema' as const, schema } } } : {}),
    ...(tools
      ? {
          tools: [
            ...tools.map(({ name, description, properties }) => ({
              name,
              description,
              input_schema: { type: 'object' as const, properties, required: Object.keys(properties) },
            })),
            ...(search ? [{ type: 'web_search_20250305' as const, name: 'web_search' as const }] : []),
          ],
        }
      : {}),
  }
}

const turnOf = (message: Message): Turn => ({
  text: message.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join(''),
  reasoning: message.content.flatMap((block) => (block.type === 'thinking' ? [block.thinking] : [])).join(''),
  stop: message.stop_reason ?? '',
  usage: { input: message.usage.input_tokens, output: message.usage.output_tokens },
  calls: message.content.flatMap((block) =>
    block.type === 'tool_use' ? [{ id: block.id, name: block.name, arguments: block.input }] : [],
  ),
  assistantTurn: message.content,
})
