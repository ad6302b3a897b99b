import OpenAI from 'openai'
import type { ChatCompletionMessageParam, ChatCompletionUserMessageParam } from 'openai/resources/chat/completions'
import { type Ask, type Client, type ClientFacts, refuseBeyond, thrownBy, type Turn } from './client.ts'

export const openAiFacts: ClientFacts = {
  stop: 'stop',
  length: 'length',
  toolUse: 'tool_calls',
  errorClass: (status) =>
    ({
      400: 'BadRequestError',
      401: 'AuthenticationError',
      403: 'PermissionDeniedError',
      404: 'NotFoundError',
      429: 'RateLimitError',
    })[status] ?? 'InternalServerError',
  unknownModel: 503,
  busy: 'The upstream is busy',
}

export const openAiLibrary = (url: string, key: string) => new OpenAI({ apiKey: `sk-${key}`, baseURL: `${url}/v1` })

export function openAiClient(url: string, key: string): Client {
  const library = openAiLibrary(url, key)
  const ask = async (wanted: Ask) => {
    refuseBeyond(wanted, 'search')
    return wanted.stream ? streamed(library, wanted) : unstreamed(library, wanted)
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
  const user: ChatCompletionUserMessageParam = {
    role: 'user',
    content: image
      ? [
          { type: 'text', text },
          { type: 'image_url', image_url: { url: `data:image/png;base64,${image.toString('base64')}` } },
        ]
      : text,
  }
  const messages: ChatCompletionMessageParam[] = [
    ...(system ? [{ role: 'system' as const, content: system }] : []),
    ...(earlier
      ? [{ role: 'user' as const, content: earlier.text }, earlier.turn.assistantTurn as ChatCompletionMessageParam]
      : []),
    user,
    ...(results ?? []).flatMap(({ turn, texts }): ChatCompletionMessageParam[] => [
      turn.assistantTurn as ChatCompletionMessageParam,
      ...texts.map((content, index) => ({
        role: 'tool' as const,
        tool_call_id: turn.calls[index]?.id ?? '',
        content,
      })),
    ]),
  ]
  return {
    model,
    messages,
    ...(maxTokens === undefined ? {} : { max_tokens: maxTokens }),
    ...(search ? { web_search_options: {} } : {}),
    ...(thinking ? { reasoning_effort: 'low' as const } : {}),
    ...(schema
      ? { response_format: { type: 'json_schema' as const, json_schema: { name: 'place', strict: true, schema } } }
      : {}),
    ...(tools
      ? {
          tools: tools.map(({ name, description, properties }) => ({
            type: 'function' as const,
            function: {
              name,
              description,
              parameters: { type: 'object', properties, required: Object.keys(properties) },
            },
          })),
        }
      : {}),
  }
}

async function unstreamed(library: OpenAI, ask: Ask): Promise<Turn> {
  const completion = await library.chat.completions.create(bodyOf(ask))
  return turnOf(completion)
}

async function streamed(library: OpenAI, ask: Ask): Promise<Turn> {
  const runner = library.chat.completions.stream({ ...bodyOf(ask), stream_options: { include_usage: true } })
  let reasoning = ''
  // The helper keeps the last piece only of fields it does not know.
  runner.on('chunk', (chunk) => {
    reasoning += reasoningIn(chunk.choices[0]?.delta)
  })
  return { ...turnOf(await runner.finalChatCompletion()), reasoning }
}

const reasoningIn = (message: object | undefined): string =>
  message && 'reasoning_content' in message && typeof message.reasoning_content === 'string'
    ? message.reasoning_content
    : ''

function turnOf(completion: OpenAI.Chat.Completions.ChatCompletion): Turn {
  const [choice] = completion.choices
  if (!choice) throw new Error('no choice')
  const calls = choice.message.tool_calls ?? []
  return {
    text: choice.message.content ?? '',
    reasoning: reasoningIn(choice.message),
    stop: choice.finish_reason,
    usage: completion.usage && {
      input: completion.usage.prompt_tokens,
      output: completion.usage.completion_tokens,
    },
    calls: calls.map((call) => {
      if (call.type !== 'function') throw new Error(`unexpected tool call of type ${call.type}`)
      return { id: call.id, name: call.function.name, arguments: JSON.parse(call.function.arguments) as unknown }
    }),
    assistantTurn: choice.message,
  }
}
