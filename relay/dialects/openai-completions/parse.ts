import type { Fields } from '#relay/chat/json.ts'
import type { ChatRequest } from '#relay/chat/request.ts'
import { readSampling } from '../openai-chat/parse.ts'
import { defined, leftOver, readerFor } from '../read.ts'
import { InvalidRequest } from '../types.ts'

const code = 'invalid_text_request'
const read = readerFor(code)

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
  const prompt = readPrompt(body['prompt'])
  return defined({
    model,
    messages: [{ role: 'user' as const, content: [{ type: 'text' as const, text: prompt }] }],
    tools: [],
    maxTokens,
    ...readSampling(body, read),
    extra: { dialect: 'openai-chat' as const, fields: leftOver(body, known) },
    losses: lossesOf(body),
  })
}

function readPrompt(value: unknown): string {
  const prompts = Array.isArray(value) ? value : [value]
  const [prompt] = prompts
  if (prompt === undefined || prompt === null || prompt === '') throw read.required('prompt')
  if (typeof prompt === 'string' && prompts.length === 1) return prompt
  throw new InvalidRequest(code, 'prompt is invalid: one text is supported, neither several nor token lists')
}

function lossesOf(body: Fields): string[] {
  const given = {
    suffix: typeof body['suffix'] === 'string' && body['suffix'] !== '',
    echo: body['echo'] === true,
    best_of: typeof body['best_of'] === 'number' && body['best_of'] > 1,
    logprobs: typeof body['logprobs'] === 'number',
  }
  return Object.entries(given).flatMap(([name, lost]) => (lost ? [name] : []))
}
