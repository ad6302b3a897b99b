import type { EmbedAction } from '#relay/dialects/gemini/embed.ts'
import type { Schema } from './types.ts'

/** A field that may be absent may also be null, as the relay reads it. */
const orNull = (schema: Schema): Schema => ({ anyOf: [schema, { type: 'null' }] })
const text: Schema = { type: 'string' }
const number: Schema = { type: 'number' }
const integer: Schema = { type: 'integer' }
const count: Schema = { type: 'integer', minimum: 0 }
const flag: Schema = { type: 'boolean' }
const listOf = (items: Schema): Schema => ({ type: 'array', items })
const some = (items: Schema): Schema => ({ type: 'array', items, minItems: 1 })
const oneOf = (...names: string[]): Schema => ({ type: 'string', enum: names })
const anyOf = (...schemas: Schema[]): Schema => ({ anyOf: schemas })

/** What is not named is carried along to an upstream that speaks the same dialect. */
function object(required: Record<string, Schema>, optional: Record<string, Schema> = {}): Schema {
  const rest = Object.entries(optional).map(([name, schema]) => [name, orNull(schema)])
  return {
    type: 'object',
    properties: { ...required, ...Object.fromEntries(rest) },
    ...(Object.keys(required).length > 0 ? { required: Object.keys(required) } : {}),
    additionalProperties: true,
  }
}

/** The same of what is answered: a field is there or it is not. */
const answer = (required: Record<string, Schema>, optional: Record<string, Schema> = {}): Schema => ({
  type: 'object',
  properties: { ...required, ...optional },
  required: Object.keys(required),
  additionalProperties: true,
})

const anything = object({})
const parts = listOf(object({ type: text }))
const sampling = {
  stream: flag,
  stream_options: object({}, { include_usage: flag }),
  max_tokens: count,
  temperature: number,
  top_p: number,
  top_k: { type: 'integer', minimum: -1 },
  stop: anyOf(text, listOf(text)),
  seed: integer,
  n: { type: 'integer', minimum: 1 },
  frequency_penalty: number,
  presence_penalty: number,
  user: text,
}

const chatMessage = object(
  { role: oneOf('system', 'developer', 'user', 'assistant', 'tool', 'function') },
  { content: anyOf(text, parts), name: text, tool_calls: listOf(anything), tool_call_id: text },
)

const chatRequest = object(
  { model: text, messages: some(chatMessage) },
  {
    ...sampling,
    max_completion_tokens: count,
    tools: listOf(object({ type: text })),
    tool_choice: anyOf(oneOf('none', 'auto', 'required'), anything),
    parallel_tool_calls: flag,
    response_format: object({ type: oneOf('text', 'json_object', 'json_schema') }),
    reasoning_effort: text,
    logprobs: flag,
    top_logprobs: { type: 'integer', minimum: 0, maximum: 20 },
    modalities: listOf(text),
    service_tier: text,
  },
)

const completionRequest = object(
  { model: text, prompt: anyOf(text, some(text)) },
  { ...sampling, suffix: text, echo: flag, logprobs: count },
)

const editRequest = object({ model: text, instruction: text }, { input: text, temperature: number, top_p: number })

const responsesRequest = object(
  { model: text, input: anyOf(text, some(anything)) },
  {
    instructions: text,
    stream: flag,
    store: flag,
    previous_response_id: text,
    max_output_tokens: count,
    temperature: number,
    top_p: number,
    tools: listOf(object({ type: text })),
    tool_choice: anyOf(oneOf('none', 'auto', 'required'), anything),
    parallel_tool_calls: flag,
    reasoning: object({}, { effort: text, summary: text }),
    text: object({}, { format: anything }),
    user: text,
  },
)

const claudeRequest = object(
  {
    model: text,
    messages: some(object({ role: oneOf('user', 'assistant', 'system'), content: anyOf(text, parts) })),
  },
  {
    max_tokens: count,
    system: anyOf(text, parts),
    stream: flag,
    temperature: number,
    top_p: number,
    top_k: count,
    stop_sequences: listOf(text),
    tools: listOf(object({ name: text })),
    tool_choice: object({ type: oneOf('auto', 'any', 'tool', 'none') }),
    thinking: object({ type: text }, { budget_tokens: count }),
    metadata: object({}, { user_id: text }),
  },
)

const geminiContent = object({ parts: listOf(anything) }, { role: oneOf('user', 'model') })

const geminiRequest = object(
  { contents: anyOf(geminiContent, some(geminiContent)) },
  {
    systemInstruction: anyOf(text, geminiContent),
    tools: listOf(anything),
    toolConfig: anything,
    safetySettings: listOf(anything),
    generationConfig: object(
      {},
      {
        maxOutputTokens: count,
        temperature: number,
        topP: number,
        topK: count,
        candidateCount: { type: 'integer', minimum: 1 },
        stopSequences: listOf(text),
        responseMimeType: text,
        responseSchema: anything,
        thinkingConfig: anything,
      },
    ),
  },
)

const imageFields = { n: { type: 'integer', minimum: 1 }, size: text, quality: text, response_format: text, user: text }
const embeddingInput = anyOf(text, some(text), some(integer), some(listOf(integer)))

const usage = answer({ prompt_tokens: count, completion_tokens: count, total_tokens: count })
const openAiUsage = { usage }
const choices = (inner: Record<string, Schema>): Schema =>
  listOf(answer({ index: integer, ...inner }, { finish_reason: anyOf(text, { type: 'null' }) }))

const chatAnswer = answer(
  {
    id: text,
    object: { const: 'chat.completion' },
    created: integer,
    model: text,
    choices: choices({ message: answer({ role: text }) }),
  },
  openAiUsage,
)
const completionAnswer = answer({ object: text, model: text, choices: choices({ text }) }, openAiUsage)
const editAnswer = answer({ object: { const: 'edit' }, choices: listOf(answer({ index: integer, text })) }, openAiUsage)
const responsesAnswer = answer(
  { id: text, object: text, status: text, model: text, output: listOf(answer({ type: text })) },
  { usage: anyOf({ type: 'null' }, answer({ input_tokens: count, output_tokens: count, total_tokens: count })) },
)
const claudeAnswer = answer({
  id: text,
  type: { const: 'message' },
  role: { const: 'assistant' },
  model: text,
  content: listOf(answer({ type: text })),
  stop_reason: anyOf(text, { type: 'null' }),
  usage: answer({ input_tokens: count, output_tokens: count }),
})
const geminiAnswer = answer(
  { candidates: listOf(answer({}, { content: answer({ parts: listOf(anything) }), finishReason: text })) },
  { usageMetadata: answer({}, { promptTokenCount: count, candidatesTokenCount: count, totalTokenCount: count }) },
)
const listAnswer = (item: Schema): Schema => answer({ object: { const: 'list' }, data: listOf(item) })
const embedding = anyOf(listOf(number), text)
const textAnswer = answer({ text })
const imageAnswer = answer({ data: listOf(answer({}, { url: text, b64_json: text, revised_prompt: text })) })
const rerankRequest = object(
  { model: text, query: anyOf(text, anything), documents: some(anyOf(text, anything)) },
  { top_n: count, return_documents: flag },
)
const rerankAnswer = answer({ results: listOf(answer({ index: count, relevance_score: number })) })
const transcription = object(
  { model: text, file: { type: 'string', format: 'binary' } },
  { prompt: text, language: text },
)

/** What a path takes and what it answers; of an answer nothing where it is no JSON of its own. */
type Bodies = { request?: Schema; answer?: Schema }

const geminiBodies: Readonly<Record<string, Bodies>> = {
  generateContent: { request: geminiRequest, answer: geminiAnswer },
  // Without `alt=sse` the chunks come as one list.
  streamGenerateContent: { request: geminiRequest, answer: listOf(anything) },
  countTokens: { request: object({}, { contents: listOf(geminiContent) }), answer: answer({ totalTokens: count }) },
  embedContent: {
    request: object({ content: geminiContent }),
    answer: answer({ embedding: answer({ values: listOf(number) }) }),
  },
  batchEmbedContents: {
    request: object({ requests: some(object({ content: geminiContent })) }),
    answer: answer({ embeddings: listOf(answer({ values: listOf(number) })) }),
  },
} satisfies Record<'generateContent' | 'streamGenerateContent' | 'countTokens' | EmbedAction, Bodies>

const rerank = { request: rerankRequest, answer: rerankAnswer }
const chat = { request: chatRequest, answer: chatAnswer }

const byPath: Readonly<Record<string, Bodies>> = {
  'post /pg/chat/completions': chat,
  'post /v1/chat/completions': chat,
  'post /v1/completions': { request: completionRequest, answer: completionAnswer },
  'post /v1/edits': { request: editRequest, answer: editAnswer },
  'post /v1/responses': { request: responsesRequest, answer: responsesAnswer },
  'get /v1/responses/:id': { answer: answer({ id: text, object: text, output: listOf(anything) }) },
  'post /v1/responses/input_tokens': { request: responsesRequest, answer: answer({ input_tokens: count }) },
  'post /v1/messages': { request: claudeRequest, answer: claudeAnswer },
  'post /v1/messages/count_tokens': { request: claudeRequest, answer: answer({ input_tokens: count }) },
  'post /v1/embeddings': {
    request: object({ model: text, input: embeddingInput }, { dimensions: count, encoding_format: text, user: text }),
    answer: listAnswer(answer({ index: integer, embedding })),
  },
  'post /v1/engines/:model/embeddings': {
    request: object({ input: embeddingInput }, { dimensions: count, encoding_format: text }),
    answer: listAnswer(answer({ index: integer, embedding })),
  },
  'post /v1/moderations': {
    request: object({ input: anyOf(text, some(text), some(anything)) }, { model: text }),
    answer: answer({ results: listOf(answer({ flagged: flag })) }),
  },
  'post /v1/images/generations': {
    request: object({ prompt: text }, { model: text, ...imageFields }),
    answer: imageAnswer,
  },
  'post /v1/images/edits': {
    request: object({ prompt: text, image: { type: 'string', format: 'binary' } }, { model: text, ...imageFields }),
    answer: imageAnswer,
  },
  'post /v1/audio/speech': {
    request: object(
      { input: text },
      { model: text, voice: anyOf(text, anything), response_format: text, speed: number },
    ),
  },
  'post /v1/audio/transcriptions': { request: transcription, answer: textAnswer },
  'post /v1/audio/translations': { request: transcription, answer: textAnswer },
  'post /rerank': rerank,
  'post /v1/rerank': rerank,
  'post /v2/rerank': rerank,
  'get /v1/models': { answer: answer({ data: listOf(answer({ id: text })) }) },
  'get /v1beta/models': { answer: answer({ models: listOf(answer({ name: text })) }) },
  'get /v1beta/openai/models': { answer: listAnswer(answer({ id: text, object: text })) },
}

/** What the relay reads of a body and what it answers, where the dialect says so. */
export function dialectBodies(method: string, path: string): Bodies {
  const action = /\*model\\:(\w+)$/.exec(path)?.[1]
  return (action === undefined ? byPath[`${method} ${path}`] : geminiBodies[action]) ?? {}
}
