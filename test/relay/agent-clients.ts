/**
 * Coding agents as they call: the conversation each of them sends again with every turn, in the shape of the packages' own types
 * (`@anthropic-ai/sdk`, `openai`, `@google/genai`) and of their public documentation.
 */
export type Json = Record<string, unknown>

type Call = { id: string; name: string; input: Json }
export type Turn = { text: string; calls: Call[] }
/** What was asked, with an image or without, and what tools gave, some of it images. */
export type Given = { text?: string; image?: boolean; results?: { call: Call; output: string; image?: boolean }[] }

export type Agent = {
  name: string
  path: (model: string) => string
  headers: Record<string, string>
  /** The next request, with all that was prompts before. */
  ask: (model: string, given: Given) => Json
  /** Reads a streamed answer and remembers it for the next request. */
  read: (stream: string) => Turn
  /** Remembers what its user saw of an answer before stopping it, as far as the agent keeps that. */
  interrupted: (stream: string) => void
  /** Asks for a summary of all that was prompts. */
  compact: (model: string) => Json
  /** Goes on from the summary alone. */
  compacted: (stream: string) => string
}

export const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

export const summaryPrompt = 'Create a detailed summary of the conversation so far. Answer with text only.'

export const parameters = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] }

export const eventsOf = (stream: string): Json[] =>
  stream
    .split('\n')
    .filter((line) => line.startsWith('data: ') && line !== 'data: [DONE]')
    .map((line) => JSON.parse(line.slice('data: '.length)) as Json)

/** The events of a stream that was left in the middle, whose last line may be cut. */
const eventsBefore = (stream: string): Json[] => eventsOf(stream.slice(0, stream.lastIndexOf('\n\n') + 1))

const address = `data:image/png;base64,${png}`

const parse = (text: unknown): Json => JSON.parse(text === '' || text === undefined ? '{}' : String(text)) as Json

/** Claude Code: thinking, cache marks, the session in a header and in the metadata, images in results. */
export function claudeCode(session: string): Agent {
  const messages: Json[] = []
  /** Results of calls that were stopped, and that its user stopped them. */
  let stopped: Json[] = []
  const imagePart = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } }
  const tools = ['Read', 'Bash', 'mcp__docs__search'].map((name) => ({
    name,
    description: `${name} tool`,
    input_schema: parameters,
  }))
  return {
    name: 'Claude Code',
    path: () => '/v1/messages?beta=true',
    headers: {
      'anthropic-version': '2023-06-01',
      'anthropic-beta': 'interleaved-thinking-2025-05-14',
      'x-claude-code-session-id': session,
      'user-agent': 'claude-cli/2.1.197 (external, cli)',
    },
    ask: (model, { text, image, results = [] }) => {
      const content = [
        ...stopped,
        ...results.map((result) => ({
          type: 'tool_result',
          tool_use_id: result.call.id,
          content: [{ type: 'text', text: result.output }, ...(result.image ? [imagePart] : [])],
        })),
        ...(image ? [imagePart] : []),
        ...(text === undefined ? [] : [{ type: 'text', text, cache_control: { type: 'ephemeral' } }]),
      ]
      stopped = []
      // The vendor takes four marks; the newest question has the one that moves.
      for (const message of messages)
        for (const block of message['content'] as Json[]) if (message['role'] === 'user') delete block['cache_control']
      messages.push({ role: 'user', content })
      return {
        model,
        max_tokens: 32_000,
        stream: true,
        system: [{ type: 'text', text: 'You are Claude Code.', cache_control: { type: 'ephemeral' } }],
        thinking: { type: 'enabled', budget_tokens: 4000 },
        tools,
        metadata: { user_id: JSON.stringify({ device_id: 'a'.repeat(64), session_id: session }) },
        messages: [...messages],
      }
    },
    read: (stream) => {
      const blocks = blocksOf(eventsOf(stream))
      messages.push({ role: 'assistant', content: blocks })
      return {
        text: textOf(blocks),
        calls: blocks.flatMap((block) =>
          block['type'] === 'tool_use'
            ? [{ id: String(block['id']), name: String(block['name']), input: block['input'] as Json }]
            : [],
        ),
      }
    },
    interrupted: (stream) => {
      // Complete blocks are kept; reasoning alone is not.
      const events = eventsBefore(stream)
      const ended = new Set(events.flatMap((event) => (event['type'] === 'content_block_stop' ? [event['index']] : [])))
      const blocks = blocksOf(events).filter((_, index) => ended.has(index))
      if (blocks.some((block) => block['type'] !== 'thinking')) messages.push({ role: 'assistant', content: blocks })
      const calls = blocks.filter((block) => block['type'] === 'tool_use')
      const words = `[Request interrupted by user${calls.length > 0 ? ' for tool use' : ''}]`
      stopped = [
        ...calls.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: words, is_error: true })),
        { type: 'text', text: words },
      ]
    },
    compact(model) {
      return this.ask(model, { text: summaryPrompt })
    },
    compacted: (stream) => {
      const summary = textOf(blocksOf(eventsOf(stream)))
      messages.length = 0
      const text = `This session is being continued from a previous conversation that ran out of context. ${summary}`
      stopped = [{ type: 'text', text }]
      return summary
    },
  }
}

function blocksOf(events: Json[]): Json[] {
  const blocks: Json[] = []
  const inputs: string[] = []
  for (const event of events) {
    const index = event['index'] as number
    if (event['type'] === 'content_block_start') blocks[index] = { ...(event['content_block'] as Json) }
    if (event['type'] !== 'content_block_delta') continue
    const delta = event['delta'] as Json
    const block = blocks[index] as Json
    if (delta['type'] === 'text_delta') block['text'] = String(block['text']) + String(delta['text'])
    if (delta['type'] === 'thinking_delta') block['thinking'] = String(block['thinking']) + String(delta['thinking'])
    if (delta['type'] === 'signature_delta') block['signature'] = delta['signature']
    if (delta['type'] === 'input_json_delta') inputs[index] = (inputs[index] ?? '') + String(delta['partial_json'])
  }
  for (const [index, block] of blocks.entries()) if (block['type'] === 'tool_use') block['input'] = parse(inputs[index])
  return blocks
}

const textOf = (blocks: Json[]): string =>
  blocks.flatMap((block) => (block['type'] === 'text' ? [String(block['text'])] : [])).join('')

/** Codex: nothing stored, sealed reasoning, its shell, and the tools of an MCP server in a namespace beside the conversation. */
export function codex(session: string): Agent {
  const functionTool = (name: string) => ({ type: 'function', name, description: name, parameters, strict: false })
  const docs = { type: 'namespace', name: 'mcp__docs', description: 'docs', tools: [functionTool('search')] }
  const input: Json[] = [{ type: 'additional_tools', role: 'developer', tools: [docs] }]
  const imagePart = { type: 'input_image', image_url: address }
  const say = (text: string, image = false) =>
    input.push({
      type: 'message',
      role: 'user',
      content: [{ type: 'input_text', text }, ...(image ? [imagePart] : [])],
    })
  return {
    name: 'Codex',
    path: () => '/v1/responses',
    headers: { session_id: session, originator: 'codex_cli_rs', 'user-agent': 'codex_cli_rs/0.80.0' },
    ask: (model, { text, image, results = [] }) => {
      for (const result of results)
        input.push({
          type: result.call.name === 'local_shell' ? 'local_shell_call_output' : 'function_call_output',
          call_id: result.call.id,
          output: result.image ? [{ type: 'input_text', text: result.output }, imagePart] : result.output,
        })
      if (text !== undefined) say(text, image)
      return {
        model,
        instructions: 'You are Codex.',
        stream: true,
        store: false,
        include: ['reasoning.encrypted_content'],
        prompt_cache_key: session,
        parallel_tool_calls: true,
        tool_choice: 'auto',
        reasoning: { effort: 'medium', summary: 'auto' },
        tools: [{ type: 'local_shell' }, functionTool('Read')],
        input: [...input],
      }
    },
    read: (stream) => {
      const output = outputOf(stream)
      input.push(...output)
      return {
        text: messageOf(output),
        calls: output.flatMap((item): Call[] => {
          const id = String(item['call_id'])
          if (item['type'] === 'local_shell_call') return [{ id, name: 'local_shell', input: item['action'] as Json }]
          if (item['type'] !== 'function_call') return []
          const namespace = item['namespace'] === undefined ? '' : `${String(item['namespace'])}/`
          return [{ id, name: namespace + String(item['name']), input: parse(item['arguments']) }]
        }),
      }
    },
    interrupted: (stream) => {
      const done = eventsBefore(stream).filter((event) => event['type'] === 'response.output_item.done')
      for (const item of done.map((event) => event['item'] as Json)) {
        input.push(item)
        const type = item['type'] === 'local_shell_call' ? 'local_shell_call_output' : 'function_call_output'
        if (item['call_id'] !== undefined) input.push({ type, call_id: item['call_id'], output: 'aborted by user' })
      }
      say('<turn_aborted>The user interrupted the previous turn on purpose.</turn_aborted>')
    },
    compact(model) {
      const {
        tools: _,
        tool_choice: __,
        parallel_tool_calls: ___,
        ...request
      } = this.ask(model, { text: summaryPrompt })
      return { ...request, tools: [], parallel_tool_calls: false }
    },
    compacted: (stream) => {
      const summary = messageOf(outputOf(stream))
      const prompts = input.filter((item) => item['role'] === 'user')
      input.splice(1, input.length, ...prompts.slice(0, 1))
      say(`Another model began on this and wrote a summary. ${summary}`)
      return summary
    },
  }
}

const outputOf = (stream: string): Json[] =>
  (eventsOf(stream).at(-1) as { response: { output: Json[] } }).response.output

const messageOf = (output: Json[]): string =>
  output
    .flatMap((item) => (item['type'] === 'message' ? (item['content'] as Json[]) : []))
    .map((part) => String(part['text']))
    .join('')

/** opencode by chat completions, as its OpenAI-compatible provider sends them. */
export function opencode(session: string): Agent {
  const messages: Json[] = [{ role: 'system', content: 'You are opencode.' }]
  const imagePart = { type: 'image_url', image_url: { url: address } }
  const tools = ['Read', 'Bash', 'docs_search'].map((name) => ({
    type: 'function',
    function: { name, description: name, parameters },
  }))
  return {
    name: 'opencode',
    path: () => '/v1/chat/completions',
    headers: { 'x-session-affinity': session, 'user-agent': 'opencode/1.3.0 ai-sdk/openai-compatible' },
    ask: (model, { text, image, results = [] }) => {
      for (const { call, output } of results) messages.push({ role: 'tool', tool_call_id: call.id, content: output })
      // A tool's message has only text, so that its images come behind it.
      if (results.some((result) => result.image))
        messages.push({
          role: 'user',
          content: [{ type: 'text', text: 'Attached image(s) from tool result:' }, imagePart],
        })
      if (text !== undefined)
        messages.push({ role: 'user', content: image ? [{ type: 'text', text }, imagePart] : text })
      return {
        model,
        stream: true,
        stream_options: { include_usage: true },
        tools,
        tool_choice: 'auto',
        messages: [...messages],
      }
    },
    read: (stream) => {
      const { text, reasoning, calls } = choiceOf(eventsOf(stream))
      const toolCalls = calls.map((call) => ({ type: 'function', ...call }))
      messages.push({
        role: 'assistant',
        content: text,
        ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
        ...(calls.length > 0 ? { tool_calls: toolCalls } : {}),
      })
      return {
        text,
        calls: calls.map(({ id, function: { name, arguments: given } }) => ({ id, name, input: parse(given) })),
      }
    },
    interrupted: (stream) => {
      const { text, reasoning, calls } = choiceOf(eventsBefore(stream))
      // A call counts from when its arguments can be read.
      const complete = calls.filter((call) => isJson(call.function.arguments))
      messages.push({
        role: 'assistant',
        content: text,
        ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
        ...(complete.length > 0 ? { tool_calls: complete.map((call) => ({ type: 'function', ...call })) } : {}),
      })
      for (const { id } of complete)
        messages.push({ role: 'tool', tool_call_id: id, content: '[Tool execution was interrupted]' })
    },
    compact(model) {
      const { tools: _, tool_choice: __, ...request } = this.ask(model, { text: summaryPrompt })
      return request
    },
    compacted: (stream) => {
      const { text } = choiceOf(eventsOf(stream))
      messages.splice(1, messages.length, { role: 'user', content: 'What did we do so far?' })
      messages.push({ role: 'assistant', content: text })
      return text
    },
  }
}

function choiceOf(events: Json[]) {
  let [text, reasoning] = ['', '']
  const calls: { id: string; function: { name: string; arguments: string } }[] = []
  for (const event of events) {
    const [choice] = event['choices'] as { delta: Json }[]
    text += String(choice?.delta['content'] ?? '')
    reasoning += String(choice?.delta['reasoning_content'] ?? '')
    for (const call of (choice?.delta['tool_calls'] ?? []) as { index: number; id?: string; function: Json }[]) {
      const open = (calls[call.index] ??= { id: '', function: { name: '', arguments: '' } })
      open.id ||= call.id ?? ''
      open.function.name += String(call.function['name'] ?? '')
      open.function.arguments += String(call.function['arguments'] ?? '')
    }
  }
  return { text, reasoning, calls }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
