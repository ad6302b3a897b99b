import { beforeEach, describe, expect, test } from 'vitest'
import { consumed } from './caller-dialects.ts'
import { startScriptedRelay } from './relay-world.ts'
import { serve } from './serve.ts'

const { app, token } = await startScriptedRelay({ options: { RetryTimes: '0' } })
beforeEach(() => app.upstream.clear())

const patch = '*** Begin Patch\n*** Add File: a.py\n+print(42)\n*** End Patch'
const schema = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] }
const grammar = { syntax: 'lark', definition: 'start: "*** Begin Patch"' }
const readFile = { name: 'ReadFile', description: 'Reads a file.' }
const applyPatch = {
  type: 'custom',
  name: 'ApplyPatch',
  description: 'Edits files.',
  format: { type: 'grammar', ...grammar },
}

/** Channels whose models take free text, and those that are given functions instead, which wrap it. */
const channels = [
  { channel: 'OpenAI’s chat completions', type: 3, upstreamModel: 'gpt-5', wraps: false },
  { channel: 'OpenAI’s responses', type: 3, upstreamModel: 'gpt-5-codex', wraps: false },
  { channel: 'chat completions only', type: 43, upstreamModel: 'deepseek-chat', wraps: true },
  { channel: 'Anthropic', type: 14, upstreamModel: 'claude-sonnet-4-5', wraps: true },
]

type Call = { index: number; id?: string; type?: string; function?: { name?: string; arguments?: string } }
type Chunk = {
  choices: { delta: { content?: string; tool_calls?: Call[] } }[]
  usage?: { total_tokens: number } | null
}

/** The answer of a stream of chat completions, as Cursor reads it: each call has to be one of a function. */
async function ask(body: object) {
  const reply = await app.relay(token, '/v1/chat/completions', { ...body, stream: true })
  const text = await reply.text()
  expect(text).toMatch(/data: \[DONE\]\n\n$/)
  const lines = text.split('\n').filter((line) => line.startsWith('data: {'))
  const chunks = lines.map((line) => JSON.parse(line.slice('data: '.length)) as Chunk)
  const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta))
  const calls = deltas.flatMap((delta) => delta.tool_calls ?? [])
  const [first] = calls
  return {
    losses: reply.headers.get('x-translation-loss') ?? '',
    output: deltas.map((delta) => delta.content ?? '').join(''),
    call: first && {
      id: first.id ?? '',
      type: first.type,
      name: first.function?.name,
      arguments: calls.map((call) => call.function?.arguments ?? '').join(''),
    },
    usage: chunks.at(-1)?.usage,
  }
}

const sent = () => JSON.stringify(app.upstream.requests.at(-1)?.body)
const directive = (name: string, given: string) => `[[tool=${name},args=${encodeURIComponent(given)}]]`
const patching = (wraps: boolean) =>
  `Print 42 ${directive('ApplyPatch', wraps ? JSON.stringify({ input: patch }) : patch)}`

describe.each(channels)('Cursor on $channel', ({ type, upstreamModel, wraps }) => {
  test('edits a file in two turns by bodies of responses, which are answered by chat completions', async () => {
    const { model } = await serve(app, { type, upstreamModel })
    const input: object[] = [
      { role: 'system', content: 'You are a coding agent.' },
      { role: 'user', content: [{ type: 'input_text', text: patching(wraps) }] },
    ]
    const body = {
      model,
      user: 'github|user_01',
      input,
      store: false,
      include: ['reasoning.encrypted_content'],
      reasoning: { effort: 'medium', summary: 'auto' },
      text: { verbosity: 'low' },
      tools: [{ type: 'function', ...readFile, parameters: schema, strict: false }, applyPatch],
      tool_choice: 'auto',
      prompt_cache_key: 'session-of-cursor',
      stream_options: { include_usage: true },
    }
    const first = await ask(body)
    expect(first.call).toMatchObject({ type: 'function', name: 'ApplyPatch', arguments: patch })
    expect(first.usage?.total_tokens).toBeGreaterThan(0)
    expect(first.losses).toMatch(wraps ? /\binclude\b/ : /^include$/)
    expect(sent().includes(JSON.stringify(grammar.definition).slice(1, -1))).toBe(!wraps)
    const { id: callId, name, arguments: given } = first.call ?? {}
    input.push(
      { type: 'function_call', call_id: callId, name, arguments: given },
      { type: 'function_call_output', call_id: callId, output: 'Done!' },
    )
    const second = await ask(body)
    expect(second.output).toMatch(/The tool says: .*Done!/)
    const text = wraps ? { input: patch } : patch
    const written = JSON.stringify(type === 43 ? JSON.stringify(text) : text)
    expect(sent()).toContain(`:${written}`)
    expect((await consumed(app)).at(-1)).toMatchObject({ model_name: model, other: { session: 'session-of-cursor' } })
  })

  test('is given a call of free text as one of a function unstreamed too, with tools of both forms', async () => {
    const { model } = await serve(app, { type, upstreamModel })
    const tools = [{ type: 'function', function: { ...readFile, parameters: schema } }, applyPatch]
    const messages: object[] = [{ role: 'user', content: patching(wraps) }]
    const reply = await app.relay(token, '/v1/chat/completions', { model, messages, tools })
    type Answer = { choices: { message: { tool_calls: { id: string }[] } }[] }
    const message = ((await reply.json()) as Answer).choices[0]?.message
    const called = { type: 'function', function: { name: 'ApplyPatch', arguments: patch } }
    expect(message?.tool_calls).toEqual([{ id: expect.any(String) as unknown, ...called }])
    messages.push(message as object, { role: 'tool', tool_call_id: message?.tool_calls[0]?.id, content: 'Done!' })
    expect((await ask({ model, messages, tools })).output).toMatch(/The tool says: .*Done!/)
  })

  test('reads a file in two turns by tools and parts of messages', async () => {
    const { model } = await serve(app, { type, upstreamModel })
    const messages: object[] = [
      { role: 'system', content: 'You are a coding agent.' },
      { role: 'user', content: [{ type: 'text', text: `Read it ${directive('ReadFile', '{"path":"a.py"}')}` }] },
    ]
    const tools = [{ ...readFile, input_schema: schema }]
    const body = { model, messages, tools, tool_choice: { type: 'auto' }, stream_options: { include_usage: true } }
    const { call, usage } = await ask(body)
    expect(call).toMatchObject({ type: 'function', name: 'ReadFile' })
    const input = JSON.parse(call?.arguments ?? '') as object
    expect(input).toEqual({ path: 'a.py' })
    expect(usage?.total_tokens).toBeGreaterThan(0)
    messages.push(
      { role: 'assistant', content: [{ type: 'tool_use', id: call?.id, name: 'ReadFile', input }] },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: call?.id, content: [{ type: 'text', text: 'print(42)' }] }],
      },
    )
    const second = await ask(body)
    expect(second.output).toMatch(/The tool says: .*print\(42\)/)
    expect(second.losses).not.toMatch(/tool_use|tool_result/)
  })
})

test('a call of free text stays one for callers who offer its tool in the form of chat completions', async () => {
  const { model } = await serve(app, { type: 3, upstreamModel: 'gpt-5' })
  const tools = [{ type: 'custom', custom: { name: 'ApplyPatch', format: { type: 'grammar', grammar } } }]
  const messages = [{ role: 'user', content: patching(false) }]
  const reply = await app.relay(token, '/v1/chat/completions', { model, messages, tools })
  expect(JSON.stringify(await reply.json())).toContain(
    `"custom":${JSON.stringify({ name: 'ApplyPatch', input: patch })}`,
  )
})
