import type { CallBody, ContentPart, WireCall, WireMessage } from './reply.ts'

export type Converted = Record<string, unknown>

/** Image data would be longer than the program: its place is named instead. */
const imagePlaceholder = (number: number): string => `BASE64_OF_IMAGE_${number}`
const imageType = 'image/jpeg'

/** Images are numbered through the conversation. */
function imageNumbers(): () => number {
  let number = 0
  return () => {
    number += 1
    return number
  }
}

const withoutAbsent = (fields: Converted): Converted =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

const argumentsOf = (call: WireCall): unknown => {
  try {
    return JSON.parse(call.function.arguments || '{}')
  } catch {
    return {}
  }
}

const systemOf = (body: CallBody): string =>
  body.messages.flatMap((message) => (message.role === 'system' ? [message.content] : [])).join('\n')

const partsOf = (content: string | ContentPart[]): ContentPart[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : content

/** As it is called, but for what belongs to the playground alone: the group is a token's, the stream is left out for brevity. */
export function openAiBody({ group: _group, stream: _stream, stream_options: _options, ...body }: CallBody): Converted {
  const next = imageNumbers()
  const messages = body.messages.map((message) =>
    message.role === 'user' && typeof message.content !== 'string'
      ? {
          ...message,
          content: message.content.map((part) =>
            part.type === 'text'
              ? part
              : { type: 'image_url', image_url: { url: `data:${imageType};base64,${imagePlaceholder(next())}` } },
          ),
        }
      : message,
  )
  return { ...body, messages }
}

/** This form does not work without a limit. */
const usualLimit = 4096

function anthropicMessage(message: WireMessage, next: () => number): Converted[] {
  if (message.role === 'system') return []
  if (message.role === 'user') {
    const { content } = message
    if (typeof content === 'string') return [{ role: 'user', content }]
    const source = () => ({ type: 'base64', media_type: imageType, data: imagePlaceholder(next()) })
    return [
      {
        role: 'user',
        content: content.map((part) => (part.type === 'text' ? part : { type: 'image', source: source() })),
      },
    ]
  }
  if (message.role === 'tool') {
    const result = { type: 'tool_result', tool_use_id: message.tool_call_id, content: message.content }
    return [{ role: 'user', content: [result] }]
  }
  const calls = (message.tool_calls ?? []).map((call) => ({
    type: 'tool_use',
    id: call.id,
    name: call.function.name,
    input: argumentsOf(call),
  }))
  if (calls.length === 0) return [{ role: 'assistant', content: message.content ?? '' }]
  const text = message.content ? [{ type: 'text', text: message.content }] : []
  return [{ role: 'assistant', content: [...text, ...calls] }]
}

/** The results of one reply's calls belong into one turn. */
function joinResults(messages: readonly Converted[]): Converted[] {
  const joined: Converted[] = []
  for (const message of messages) {
    const before = joined.at(-1)
    const results = (one: Converted | undefined) =>
      one?.['role'] === 'user' &&
      Array.isArray(one['content']) &&
      one['content'].every(({ type }) => type === 'tool_result')
        ? (one['content'] as unknown[])
        : undefined
    const [earlier, later] = [results(before), results(message)]
    if (earlier && later) joined[joined.length - 1] = { role: 'user', content: [...earlier, ...later] }
    else joined.push(message)
  }
  return joined
}

export function anthropicBody(body: CallBody): Converted {
  const next = imageNumbers()
  const { reasoning_effort: effort } = body
  const thinks = effort !== undefined && effort !== 'none'
  return withoutAbsent({
    model: body.model,
    max_tokens: body.max_tokens ?? usualLimit,
    system: systemOf(body) || undefined,
    messages: joinResults(body.messages.flatMap((message) => anthropicMessage(message, next))),
    temperature: body.temperature,
    top_p: body.top_p,
    thinking: effort === 'none' ? { type: 'disabled' } : undefined,
    output_config: thinks ? { effort } : undefined,
    tools: body.tools?.map(({ function: { name, description, parameters } }) =>
      withoutAbsent({ name, description, input_schema: parameters }),
    ),
  })
}

function googleContents(body: CallBody): Converted[] {
  const next = imageNumbers()
  const names = new Map(
    body.messages.flatMap((message) =>
      message.role === 'assistant'
        ? (message.tool_calls ?? []).map((call) => [call.id, call.function.name] as const)
        : [],
    ),
  )
  return body.messages.flatMap((message): Converted[] => {
    if (message.role === 'system') return []
    if (message.role === 'user') {
      const inline = () => ({ inlineData: { mimeType: imageType, data: imagePlaceholder(next()) } })
      return [
        {
          role: 'user',
          parts: partsOf(message.content).map((part) => (part.type === 'text' ? { text: part.text } : inline())),
        },
      ]
    }
    if (message.role === 'tool') {
      const name = names.get(message.tool_call_id) ?? ''
      return [{ role: 'user', parts: [{ functionResponse: { name, response: { result: message.content } } }] }]
    }
    const calls = (message.tool_calls ?? []).map((call) => ({
      functionCall: { name: call.function.name, args: argumentsOf(call) },
    }))
    return [{ role: 'model', parts: [...(message.content ? [{ text: message.content }] : []), ...calls] }]
  })
}

/** What a reader wrote or a schema names is theirs; only the names of the form are spelled as Python does. */
const foreign = new Set(['parametersJsonSchema', 'args', 'response'])

const inSnakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

function snakeCased(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(snakeCased)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [inSnakeCase(name), foreign.has(name) ? item : snakeCased(item)]),
  )
}

/** `wire` sets instructions, tools and generation settings apart; the libraries take them together as `config`. */
export function googleBody(body: CallBody, spelling: 'wire' | 'python' | 'node'): Converted {
  const effort = body.reasoning_effort
  const thinkingConfig =
    effort === undefined
      ? undefined
      : effort === 'none'
        ? { thinkingBudget: 0 }
        : { thinkingLevel: effort.toUpperCase() }
  const generation = withoutAbsent({
    temperature: body.temperature,
    topP: body.top_p,
    maxOutputTokens: body.max_tokens,
    frequencyPenalty: body.frequency_penalty,
    presencePenalty: body.presence_penalty,
    seed: body.seed,
    thinkingConfig,
  })
  const system = systemOf(body)
  const functionDeclarations = body.tools?.map(({ function: { name, description, parameters } }) =>
    withoutAbsent({ name, description, parametersJsonSchema: parameters }),
  )
  const tools = functionDeclarations && [{ functionDeclarations }]
  const contents = googleContents(body)
  if (spelling === 'wire') {
    const systemInstruction = system === '' ? undefined : { parts: [{ text: system }] }
    return withoutAbsent({
      systemInstruction,
      contents,
      tools,
      generationConfig: Object.keys(generation).length === 0 ? undefined : generation,
    })
  }
  const config = withoutAbsent({ systemInstruction: system || undefined, ...generation, tools })
  const form = { contents, ...(Object.keys(config).length > 0 && { config }) }
  return spelling === 'python' ? (snakeCased(form) as Converted) : form
}
