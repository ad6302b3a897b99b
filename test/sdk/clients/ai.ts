import { createAnthropic } from '@ai-sdk/anthropic'
import { createGoogle } from '@ai-sdk/google'
import { createOpenAI } from '@ai-sdk/openai'
import {
  APICallError,
  generateText,
  jsonSchema,
  type LanguageModel,
  type LanguageModelUsage,
  type ModelMessage,
  Output,
  streamText,
  type TextPart,
  tool,
  type ToolSet,
  type FilePart,
} from 'ai'
import {
  type Ask,
  type Client,
  type ClientFacts,
  type ObjectSchema,
  refuseBeyond,
  thrownBy,
  type Turn,
} from './client.ts'

// The library warns every program that a model's name is not one it knows.
globalThis.AI_SDK_LOG_WARNINGS = false

export const aiFacts: ClientFacts = {
  stop: 'stop',
  length: 'length',
  toolUse: 'tool-calls',
  errorClass: () => 'AI_APICallError',
  unknownModel: 503,
  busy: 'The upstream is busy',
}

type Dialect = {
  modelOf: (url: string, key: string) => (name: string) => LanguageModel
  /** How the vendor's own options ask for reasoning. */
  thinking: NonNullable<Parameters<typeof generateText>[0]['providerOptions']>
  /** How an earlier turn is sent itself, not by reference to what the vendor keeps. */
  inFull?: NonNullable<Parameters<typeof generateText>[0]['providerOptions']>
  /** The vendor's own search, under the name that its package wants. */
  search?: () => ToolSet
}

const openAiOf = (url: string, key: string) => createOpenAI({ baseURL: `${url}/v1`, apiKey: `sk-${key}` })

/** The vendors' packages of the same library. */
const aiDialects = {
  'openai chat': {
    modelOf: (url, key) => {
      const openai = openAiOf(url, key)
      return (name) => openai.chat(name)
    },
    thinking: { openai: { reasoningEffort: 'low', forceReasoning: true } },
  },
  'openai responses': {
    modelOf: (url, key) => {
      const openai = openAiOf(url, key)
      return (name) => openai.responses(name)
    },
    thinking: { openai: { reasoningEffort: 'low', reasoningSummary: 'auto', forceReasoning: true } },
    inFull: { openai: { store: false } },
    search: () => ({ web_search: createOpenAI({ apiKey: '-' }).tools.webSearch({}) }),
  },
  anthropic: {
    modelOf: (url, key) => createAnthropic({ baseURL: `${url}/v1`, apiKey: `sk-${key}` }),
    thinking: { anthropic: { thinking: { type: 'enabled', budgetTokens: 1024 } } },
    search: () => ({ web_search: createAnthropic({ apiKey: '-' }).tools.webSearch_20250305({}) }),
  },
  google: {
    modelOf: (url, key) => createGoogle({ baseURL: `${url}/v1beta`, apiKey: `sk-${key}` }),
    thinking: { google: { thinkingConfig: { includeThoughts: true, thinkingBudget: 1024 } } },
    search: () => ({ google_search: createGoogle({ apiKey: '-' }).tools.googleSearch({}) }),
  },
} satisfies Record<string, Dialect>

export type AiDialect = keyof typeof aiDialects

export function aiClient(dialect: AiDialect, url: string, key: string): Client {
  const { modelOf, thinking, inFull, search }: Dialect = aiDialects[dialect]
  const model = modelOf(url, key)
  const ask = async (wanted: Ask): Promise<Turn> => {
    refuseBeyond(wanted, ...(inFull ? ['byReference' as const] : []), ...(search ? ['search' as const] : []))
    const plain = requestOf(wanted)
    const request = {
      ...plain,
      ...(wanted.search ? { tools: { ...plain.tools, ...search?.() } } : {}),
      model: model(wanted.model),
      ...(wanted.thinking ? { providerOptions: thinking } : {}),
      ...(wanted.earlier && inFull && !wanted.byReference ? { providerOptions: inFull } : {}),
    }
    return wanted.stream ? streamed(request) : turnOf(await generateText(request))
  }
  return {
    ask,
    failureOf: async (wanted) => {
      const error = await thrownBy(() => ask(wanted))
      const status = APICallError.isInstance(error) ? error.statusCode : undefined
      return { status, class: error.name, message: error.message }
    },
  }
}

function messagesOf({ text, image, results, earlier }: Ask): ModelMessage[] {
  const content: (TextPart | FilePart)[] = [
    ...(image ? [{ type: 'file' as const, mediaType: 'image/png', data: image }] : []),
    { type: 'text', text },
  ]
  const before: ModelMessage[] = earlier
    ? [{ role: 'user', content: earlier.text }, ...(earlier.turn.assistantTurn as ModelMessage[])]
    : []
  return [
    ...before,
    { role: 'user', content },
    ...(results ?? []).flatMap(({ turn, texts }): ModelMessage[] => [
      ...(turn.assistantTurn as ModelMessage[]),
      {
        role: 'tool',
        content: texts.map((value, index) => ({
          type: 'tool-result',
          toolCallId: turn.calls[index]?.id ?? '',
          toolName: turn.calls[index]?.name ?? '',
          output: { type: 'text', value },
        })),
      },
    ]),
  ]
}

const toolsOf = ({ tools }: Ask): ToolSet =>
  Object.fromEntries(
    (tools ?? []).map(({ name, description, properties }) => {
      const schema = { type: 'object' as const, properties, required: Object.keys(properties) }
      return [name, tool({ description, inputSchema: jsonSchema(schema) })]
    }),
  )

const outputOf = (schema: ObjectSchema) => Output.object({ schema: jsonSchema<Record<string, string>>(schema) })

const requestOf = (ask: Ask) => ({
  messages: messagesOf(ask),
  maxRetries: 0,
  ...(ask.system ? { instructions: ask.system } : {}),
  ...(ask.maxTokens === undefined ? {} : { maxOutputTokens: ask.maxTokens }),
  ...(ask.tools ? { tools: toolsOf(ask) } : {}),
  ...(ask.schema ? { output: outputOf(ask.schema) } : {}),
})

type Result = {
  text: string
  reasoningText: string | undefined
  finishReason: string
  usage: LanguageModelUsage
  toolCalls: { toolCallId: string; toolName: string; input: unknown }[]
  responseMessages: unknown
}

async function streamed(request: Parameters<typeof streamText>[0]): Promise<Turn> {
  let failure: unknown
  const result = streamText({ ...request, onError: ({ error }) => void (failure = error) })
  await result.consumeStream()
  if (failure !== undefined) throw failure
  return turnOf({
    text: await result.text,
    reasoningText: await result.reasoningText,
    finishReason: await result.finishReason,
    usage: await result.usage,
    toolCalls: await result.toolCalls,
    responseMessages: await result.responseMessages,
  })
}

const turnOf = ({ text, reasoningText, finishReason, usage, toolCalls, responseMessages }: Result): Turn => ({
  text,
  reasoning: reasoningText ?? '',
  stop: finishReason,
  usage: { input: usage.inputTokens ?? -1, output: usage.outputTokens ?? -1 },
  calls: toolCalls.map(({ toolCallId, toolName, input }) => ({ id: toolCallId, name: toolName, arguments: input })),
  assistantTurn: responseMessages,
})
