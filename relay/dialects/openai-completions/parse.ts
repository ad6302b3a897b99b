import type { Fields } from '#relay/chat/json.ts'
import type { ChatRequest } from '#relay/chat/request.ts'
import { readSampling } from '../openai-chat/parse.ts'
import { defined, leftOver, readerFor, unreadUser } from '../read.ts'

const read = readerFor('invalid_text_request')

/** As many as the original takes at once. */
const mostPrompts = 2048

const known = new Set([
  'model',
  'prompt',
  'max_tokens',
  'temperature',
  'top_p',
  'top_k',
  'stop',
  'seed',
  'n',
  'frequency_penalty',
  'presence_penalty',
  'user',
  'safety_identifier',
  'stream',
  'stream_options',
  'suffix',
  'echo',
  'best_of',
  'logprobs',
])

/** Body of the legacy `/v1/completions` → hub request: the prompt is what a user says. */
export function parseOpenAiCompletions(value: unknown, path: { model?: string | undefined }): ChatRequest {
  const body = read.body(value)
  const maxTokens = read.maxTokens(body['max_tokens'], 'max_tokens') || undefined
  const model = read.name(body['model'] ?? path.model, 'model')
  const { texts, tokens, count } = readPrompt(body['prompt'])
  const sampling = readSampling(body, read)
  const answers = count * Math.max(sampling.choiceCount ?? 1, read.choiceCount(body['best_of'], 'best_of') ?? 1)
  return defined({
    model,
    messages: [{ role: 'user' as const, content: texts.map((text) => ({ type: 'text' as const, text })) }],
    tools: [],
    maxTokens,
    ...sampling,
    choiceCount: answers > 1 ? answers : sampling.choiceCount,
    plainPrompts: count > 1 || tokens > 0 ? { count, tokens } : undefined,
    extra: { dialect: 'openai-chat' as const, fields: leftOver(body, known) },
    losses: [...lossesOf(body), ...unreadUser(body)],
  })
}

type Prompts = { texts: string[]; tokens: number; count: number }

/** One text, several, the tokens of one, or the tokens of several. */
function readPrompt(value: unknown): Prompts {
  const list: unknown[] = Array.isArray(value) ? value : [value]
  if (list.every((prompt) => prompt === undefined || prompt === null || prompt === '')) {
    throw read.required('prompt')
  }
  if (list.length > mostPrompts && !isTokens(list)) throw read.invalid('prompt')
  if (isTokens(list)) return { texts: [], tokens: list.length, count: 1 }
  if (list.every((prompt) => typeof prompt === 'string')) return { texts: list, tokens: 0, count: list.length }
  if (!list.every(isTokens)) throw read.invalid('prompt')
  return { texts: [], tokens: list.reduce((sum, tokens) => sum + tokens.length, 0), count: list.length }
}

const isTokens = (value: unknown): value is number[] =>
  Array.isArray(value) && value.length > 0 && value.every((token) => Number.isInteger(token) && token >= 0)

function lossesOf(body: Fields): string[] {
  const given = {
    suffix: typeof body['suffix'] === 'string' && body['suffix'] !== '',
    echo: body['echo'] === true,
    best_of: typeof body['best_of'] === 'number' && body['best_of'] > 1,
    logprobs: typeof body['logprobs'] === 'number',
  }
  return Object.entries(given).flatMap(([name, lost]) => (lost ? [name] : []))
}
