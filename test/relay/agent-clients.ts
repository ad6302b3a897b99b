/**
 * Coding agents as they talk: the conversation each of them sends again with every turn, in the shape of the packages' own types
 * (`@anthropic-ai/sdk`, `openai`, `@google/genai`) and of their public documentation.
 */
type Json = Record<string, unknown>

type Call = { id: string; name: string; input: Json }
export type Turn = { text: string; calls: Call[] }

export type Agent = {
  name: string
  path: (model: string) => string
  headers: Record<string, string>
  /** The next request, with what was asked and what tools gave. */
  ask: (model: string, given: { text?: string; results?: { call: Call; output: string }[] }) => Json
  /** Reads a streamed answer and remembers it for the next request. */
  read: (stream: string) => Turn
}

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

const parameters = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] }

const eventsOf = (stream: string): Json[] =>
  stream
    .split('\n')
    .filter((line) => line.startsWith('data: ') && line !== 'data: [DONE]')
    .map((line) => JSON.parse(line.slice('data: '.length)) as Json)

const parse = (text: unknown): Json => JSON.parse(text === '' || text === undefined ? '{}' : String(text)) as Json

/** Claude Code: thinking, cache marks, the session in a header and in the metadata, images in results. */
export function claudeCode(session: string): Agent {
  const messages: Json[] = []
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
    },
    ask: (model, { text, results = [] }) => {
      const content = [
        ...results.map(({ call, output }, index) => ({
          type: 'tool_result',
          tool_use_id: call.id,
          content: [
            { type: 'text', text: output },
            ...(index === 0 ? [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } }] : []),
          ],
        })),
        ...(text === undefined ? [] : [{ type: 'text', text, cache_control: { type: 'ephemeral' } }]),
      ]
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
      const blocks: Json[] = []
      const inputs: string[] = []
      for (const event of eventsOf(stream)) {
        const index = event['index'] as number
        if (event['type'] === 'content_block_start') blocks[index] = { ...(event['content_block'] as Json) }
        if (event['type'] !== 'content_block_delta') continue
        const delta = event['delta'] as Json
        const block = blocks[index] as Json
        if (delta['type'] === 'text_delta') block['text'] = String(block['text']) + String(delta['text'])
        if (delta['type'] === 'thinking_delta')
          block['thinking'] = String(block['thinking']) + String(delta['thinking'])
        if (delta['type'] === 'signature_delta') block['signature'] = delta['signature']
        if (delta['type'] === 'input_json_delta') inputs[index] = (inputs[index] ?? '') + String(delta['partial_json'])
      }
      blocks.forEach((block, index) => {
        if (block['type'] === 'tool_use') block['input'] = parse(inputs[index])
      })
      messages.push({ role: 'assistant', content: blocks })
      return {
        text: blocks.flatMap((block) => (block['type'] === 'text' ? [String(block['text'])] : [])).join(''),
        calls: blocks.flatMap((block) =>
          block['type'] === 'tool_use'
            ? [{ id: String(block['id']), name: String(block['name']), input: block['input'] as Json }]
            : [],
        ),
      }
    },
  }
}

/** Codex: nothing stored, sealed reasoning, its shell, and the tools of an MCP server in a namespace beside the conversation. */
export function codex(session: string): Agent {
  const functionTool = (name: string) => ({ type: 'function', name, description: name, parameters, strict: false })
  const docs = { type: 'namespace', name: 'mcp__docs', description: 'docs', tools: [functionTool('search')] }
  const input: Json[] = [{ type: 'additional_tools', role: 'developer', tools: [docs] }]
  return {
    name: 'Codex',
    path: () => '/v1/responses',
    headers: { session_id: session, originator: 'codex_cli_rs', 'user-agent': 'codex_cli_rs/0.80.0' },
    ask: (model, { text, results = [] }) => {
      for (const { call, output } of results)
        input.push({
          type: call.name === 'local_shell' ? 'local_shell_call_output' : 'function_call_output',
          call_id: call.id,
          output,
        })
      if (text !== undefined) input.push({ type: 'message', role: 'user', content: [{ type: 'input_text', text }] })
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
      const closing = eventsOf(stream).at(-1) as { response: { output: Json[] } }
      const { output } = closing.response
      input.push(...output)
      return {
        text: output
          .flatMap((item) => (item['type'] === 'message' ? (item['content'] as Json[]) : []))
          .map((part) => String(part['text']))
          .join(''),
        calls: output.flatMap((item): Call[] => {
          const id = String(item['call_id'])
          if (item['type'] === 'local_shell_call') return [{ id, name: 'local_shell', input: item['action'] as Json }]
          if (item['type'] !== 'function_call') return []
          const namespace = item['namespace'] === undefined ? '' : `${String(item['namespace'])}/`
          return [{ id, name: namespace + String(item['name']), input: parse(item['arguments']) }]
        }),
      }
    },
  }
}

/** opencode by chat completions, as its OpenAI-compatible provider sends them. */
export function opencode(session: string): Agent {
  const messages: Json[] = [{ role: 'system', content: 'You are opencode.' }]
  const tools = ['Read', 'Bash', 'docs_search'].map((name) => ({
    type: 'function',
    function: { name, description: name, parameters },
  }))
  return {
    name: 'opencode',
    path: () => '/v1/chat/completions',
    headers: { 'x-session-affinity': session, 'user-agent': 'opencode/1.3.0 ai-sdk/openai-compatible' },
    ask: (model, { text, results = [] }) => {
      for (const { call, output } of results) messages.push({ role: 'tool', tool_call_id: call.id, content: output })
      if (text !== undefined) messages.push({ role: 'user', content: text })
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
      let text = ''
      const calls: { id: string; function: { name: string; arguments: string } }[] = []
      for (const event of eventsOf(stream)) {
        const [choice] = event['choices'] as { delta: Json }[]
        text += String(choice?.delta['content'] ?? '')
        for (const call of (choice?.delta['tool_calls'] ?? []) as { index: number; id?: string; function: Json }[]) {
          const open = (calls[call.index] ??= { id: '', function: { name: '', arguments: '' } })
          open.id ||= call.id ?? ''
          open.function.name += String(call.function['name'] ?? '')
          open.function.arguments += String(call.function['arguments'] ?? '')
        }
      }
      const toolCalls = calls.map((call) => ({ type: 'function', ...call }))
      messages.push({ role: 'assistant', content: text, ...(calls.length > 0 ? { tool_calls: toolCalls } : {}) })
      return {
        text,
        calls: calls.map(({ id, function: { name, arguments: given } }) => ({ id, name, input: parse(given) })),
      }
    },
  }
}

/** Gemini CLI: calls without ids, results with their ids and every key that the tool gave. */
export function geminiCli(): Agent {
  const contents: Json[] = []
  const functionDeclarations = ['Read', 'Bash', 'docs_search'].map((name) => ({
    name,
    description: name,
    parametersJsonSchema: parameters,
  }))
  return {
    name: 'Gemini CLI',
    path: (model) => `/v1beta/models/${model}:streamGenerateContent?alt=sse`,
    headers: { 'user-agent': 'GeminiCLI/0.40.0 (linux; x64)' },
    ask: (_model, { text, results = [] }) => {
      const parts = [
        ...results.map(({ call, output }) => ({
          functionResponse: { id: call.id, name: call.name, response: { output, exitCode: 0, stderr: '' } },
        })),
        ...(text === undefined ? [] : [{ text }]),
      ]
      contents.push({ role: 'user', parts })
      return {
        systemInstruction: { role: 'user', parts: [{ text: 'You are Gemini CLI.' }] },
        tools: [{ functionDeclarations }],
        generationConfig: { temperature: 1, thinkingConfig: { includeThoughts: true } },
        contents: [...contents],
      }
    },
    read: (stream) => {
      const parts = eventsOf(stream).flatMap((event) => {
        const [candidate] = (event['candidates'] ?? []) as { content?: { parts?: Json[] } }[]
        return candidate?.content?.parts ?? []
      })
      // It keeps no reasoning, only what stands beside words and calls.
      contents.push({ role: 'model', parts: parts.filter((part) => part['thought'] !== true) })
      let made = contents.length * 100
      return {
        text: parts
          .flatMap((part) => (typeof part['text'] === 'string' && !part['thought'] ? [part['text']] : []))
          .join(''),
        calls: parts.flatMap((part) => {
          const call = part['functionCall'] as Json | undefined
          if (!call) return []
          made += 1
          return [
            {
              id: String(call['id'] ?? `${String(call['name'])}-${made}`),
              name: String(call['name']),
              input: (call['args'] ?? {}) as Json,
            },
          ]
        }),
      }
    },
  }
}
