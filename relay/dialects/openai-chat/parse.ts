import type { Fields } from '#relay/chat/json.ts'
import type { ChatRequest } from '#relay/chat/request.ts'
import { type Reader, defined, isVendorEffort, leftOver, readerFor, unreadUser } from '../read.ts'
import { readMessages } from './messages.ts'
import { readTools, readToolChoice } from './tools.ts'
import { readReasoningInput, readResponseFormat } from './output-settings.ts'

const read = readerFor('invalid_text_request')

/** Vendor extensions are not listed: they stay among the extra fields beside the settings that were read from them. */
const known = new Set([
  'model',
  'messages',
  'tools',
  'tool_choice',
  'functions',
  'function_call',
  'parallel_tool_calls',
  'max_tokens',
  'max_completion_tokens',
  'temperature',
  'top_p',
  'top_k',
  'stop',
  'seed',
  'n',
  'frequency_penalty',
  'presence_penalty',
  'logprobs',
  'top_logprobs',
  'response_format',
  'reasoning_effort',
  'user',
  'safety_identifier',
  'service_tier',
  'modalities',
  'audio',
  'stream',
  'stream_options',
  'web_search_options',
])

/** Body of `/v1/chat/completions` → hub request. */
export function parseOpenAiChat(value: unknown, path: { model?: string | undefined }): ChatRequest {
  const body = read.body(value)
  const maxTokens = readMaxTokens(body)
  const model = read.name(body['model'] ?? path.model, 'model')
  const list = read.list(body['messages'], 'messages') ?? []
  if (list.length === 0) throw read.required('messages')
  const { messages, losses } = readMessages(list, read)
  return defined({
    model,
    messages,
    tools: readTools(body, read),
    toolChoice: readToolChoice(body, read),
    parallelToolCalls: read.flag(body['parallel_tool_calls'], 'parallel_tool_calls'),
    maxTokens,
    ...readSampling(body, read),
    logprobs: read.flag(body['logprobs'], 'logprobs'),
    topLogprobs: read.integer(body['top_logprobs'], 'top_logprobs', [0, 20]),
    responseFormat: readResponseFormat(body['response_format'], read),
    reasoning: readReasoningInput(body, read),
    serviceTier: read.text(body['service_tier'], 'service_tier'),
    modalities: read.texts(body['modalities'], 'modalities'),
    audio: readAudioInput(body),
    extra: { dialect: 'openai-chat' as const, fields: readExtra(body) },
    losses: [...losses, ...unreadUser(body)],
  })
}

function readExtra(body: Fields): Fields {
  const { reasoning_effort: effort } = body
  return { ...leftOver(body, known), ...(isVendorEffort(effort) ? { reasoning_effort: effort } : {}) }
}

/** Zero counts as "no limit given", as it always has for callers of this route. */
function readMaxTokens(body: Fields): number | undefined {
  const older = read.maxTokens(body['max_tokens'], 'max_tokens')
  return read.maxTokens(body['max_completion_tokens'], 'max_completion_tokens') || older || undefined
}

/** Fields that chat and legacy completions share. */
export function readSampling(body: Fields, reader: Reader) {
  const options = reader.object(body['stream_options'], 'stream_options') ?? {}
  const stream = reader.flag(body['stream'], 'stream') ?? false
  return {
    temperature: reader.number(body['temperature'], 'temperature'),
    topP: reader.number(body['top_p'], 'top_p'),
    topK: reader.integer(body['top_k'], 'top_k', [-1, 1_000_000_000]),
    stop: readStop(body['stop'], reader),
    seed: reader.seed(body['seed'], 'seed'),
    choiceCount: reader.choiceCount(body['n'], 'n'),
    frequencyPenalty: reader.number(body['frequency_penalty'], 'frequency_penalty'),
    presencePenalty: reader.number(body['presence_penalty'], 'presence_penalty'),
    user: reader.text(body['user'] ?? body['safety_identifier'], 'user'),
    stream,
    includeUsage: stream && (reader.flag(options['include_usage'], 'stream_options.include_usage') ?? false),
  }
}

function readStop(value: unknown, reader: Reader): string[] {
  if (typeof value === 'string') return [value]
  return reader.texts(value, 'stop') ?? []
}

function readAudioInput(body: Fields): ChatRequest['audio'] {
  const audio = read.object(body['audio'], 'audio')
  if (audio === undefined) return undefined
  const voice = typeof audio['voice'] === 'string' ? audio['voice'] : read.object(audio['voice'], 'audio.voice')?.['id']
  return defined({
    voice: read.text(voice, 'audio.voice'),
    format: read.text(audio['format'], 'audio.format'),
  })
}
