import { describe, expect, it } from 'vitest'
import { cheapPromptTokens } from '#relay/counting/cheap-count.ts'
import { refusalOf } from '../testing/refusal.ts'
import { claude } from './index.ts'

const hello = { model: 'm', max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] }
const parse = (body: unknown) => claude.parse(body, {})
const refusal = (body: unknown) => refusalOf(claude, body)

describe('messages request', () => {
  it.each([
    [{ model: 'm' }, 'messages is required'],
    [{ messages: hello.messages }, 'model is required'],
    [{}, 'messages is required'],
    [{ ...hello, max_tokens: -1 }, 'max_tokens is invalid'],
    [{ ...hello, max_tokens: 2 ** 63 }, 'max_tokens is invalid'],
    [{ ...hello, tools: { name: 'f' } }, 'tools: Input should be a valid list'],
    [{ ...hello, tools: [{}] }, 'tools[0].name is required'],
    [{ ...hello, thinking: { type: 'enabled', budget_tokens: -5 } }, 'thinking.budget_tokens is invalid'],
    [{ ...hello, tool_choice: { type: 'some' } }, 'tool_choice.type is invalid'],
    [{ ...hello, messages: [{ role: 'tool', content: '' }] }, 'messages[0].role is invalid'],
    [{ ...hello, messages: [{ role: 'user', content: [{ text: 'x' }] }] }, 'messages[0].content[0].type is required'],
    [
      { ...hello, messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'base64' } }] }] },
      'messages[0].content[0].source.data is required',
    ],
  ])('refuses %#: %j', (body, message) => {
    expect(refusal(body)).toBe(`invalid_claude_request: ${message}`)
  })

  it('refuses a body nested five thousand levels deep instead of overflowing', () => {
    const metadata = JSON.parse(`${'['.repeat(5000)}${']'.repeat(5000)}`)
    expect(refusal({ ...hello, metadata })).toBe('invalid_claude_request: request body is nested too deeply')
  })

  it('reads settings into the words of the hub', () => {
    const request = parse({
      ...hello,
      system: [{ type: 'text', text: 'be kind', cache_control: { type: 'ephemeral' } }],
      stop_sequences: ['A', 'B'],
      temperature: 0.3,
      top_k: 5,
      metadata: { user_id: 'u' },
      service_tier: 'standard_only',
      thinking: { type: 'adaptive', display: 'summarized' },
      output_config: { effort: 'xhigh', format: { type: 'json_schema', schema: { type: 'object' } } },
      tool_choice: { type: 'any', disable_parallel_tool_use: true },
      container: 'c1',
    })
    expect(request).toMatchObject({
      messages: [
        { role: 'system', content: [{ type: 'text', text: 'be kind', cacheControl: { type: 'ephemeral' } }] },
        { role: 'user', content: [{ type: 'text', text: 'hi' }] },
      ],
      maxTokens: 10,
      stop: ['A', 'B'],
      temperature: 0.3,
      topK: 5,
      user: 'u',
      serviceTier: 'default',
      reasoning: { mode: 'adaptive', effort: 'xhigh', includeThoughts: true },
      responseFormat: { type: 'json-schema', name: 'output', schema: { type: 'object' }, strict: true },
      toolChoice: { type: 'required' },
      parallelToolCalls: false,
      includeUsage: true,
      extra: { dialect: 'claude', fields: { container: 'c1' } },
    })
  })

  it('keeps reasoning, signatures, calls and results, results first and named', () => {
    const { messages } = parse({
      ...hello,
      messages: [
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'hm', signature: 'sig' },
            { type: 'redacted_thinking', data: 'dark' },
            { type: 'text', text: 'calling' },
            { type: 'tool_use', id: 't1', name: 'look', input: { at: 1 }, cache_control: { type: 'ephemeral' } },
            { type: 'server_tool_use', id: 's1', name: 'web_search', input: {} },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'and then?' },
            { type: 'tool_result', tool_use_id: 't1', content: 'seen', is_error: true },
          ],
        },
        { role: 'system', content: 'later rule' },
      ],
    })
    expect(messages).toEqual([
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'hm', signature: { dialect: 'claude', value: 'sig' } },
          { type: 'reasoning', text: '', encrypted: { dialect: 'claude', data: 'dark' } },
          { type: 'text', text: 'calling' },
          { type: 'tool-call', id: 't1', name: 'look', arguments: '{"at":1}', cacheControl: { type: 'ephemeral' } },
          {
            type: 'vendor',
            dialect: 'claude',
            value: { type: 'server_tool_use', id: 's1', name: 'web_search', input: {} },
          },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool-result', callId: 't1', name: 'look', content: [{ type: 'text', text: 'seen' }], isError: true },
          { type: 'text', text: 'and then?' },
        ],
      },
      { role: 'system', content: [{ type: 'text', text: 'later rule' }] },
    ])
  })

  it('reads images and documents in all their forms', () => {
    const request = parse({
      ...hello,
      messages: [
        {
          role: 'user',
          content: [
            { type: 'image', source: { type: 'url', url: 'https://a.test/x.png' } },
            { type: 'image', source: { type: 'file', file_id: 'f1' } },
            { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'AA' }, title: 'a.pdf' },
            { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'body' }, title: 'Note' },
            { type: 'document', source: { type: 'url', url: 'https://a.test/x.pdf' }, citations: { enabled: true } },
            { type: 'search_result', title: 'T', source: 'S', content: [{ type: 'text', text: 'found' }] },
          ],
        },
      ],
    })
    expect(request.messages[0]?.content).toEqual([
      { type: 'image', source: { kind: 'url', url: 'https://a.test/x.png' } },
      { type: 'image', source: { kind: 'file-id', id: 'f1' } },
      { type: 'file', source: { kind: 'base64', mediaType: 'application/pdf', data: 'AA' }, filename: 'a.pdf' },
      { type: 'text', text: 'Note\n\nbody' },
      { type: 'file', source: { kind: 'url', url: 'https://a.test/x.pdf', mediaType: 'application/pdf' } },
      { type: 'text', text: 'T\nS\nfound' },
    ])
    expect(request.losses).toEqual(['citations', 'search_result'])
  })

  it('distinguishes own tools, web search and tools of the vendor', () => {
    const request = parse({
      ...hello,
      tools: [
        {
          name: 'f',
          description: 'd',
          input_schema: { type: 'object' },
          cache_control: { type: 'ephemeral', ttl: '1h' },
        },
        { type: 'web_search_20250305', name: 'web_search', max_uses: 3, allowed_domains: ['a.test'] },
        { type: 'bash_20250124', name: 'bash' },
      ],
    })
    expect(request.tools).toEqual([
      {
        type: 'function',
        name: 'f',
        description: 'd',
        parameters: { type: 'object' },
        cacheControl: { type: 'ephemeral', ttl: '1h' },
      },
      { type: 'web-search', contextSize: 'medium', maxUses: 3, allowedDomains: ['a.test'] },
      { type: 'vendor', dialect: 'claude', value: { type: 'bash_20250124', name: 'bash' } },
    ])
    expect(request.losses).toEqual([])
  })
})

it('names what is said of an image and of who called a tool, which no other dialect has words for', () => {
  const source = { type: 'base64', media_type: 'image/png', data: 'AA==' }
  const image = { type: 'image', source, transformations: [{ type: 'crop' }] }
  const call = {
    type: 'tool_use',
    id: 'a',
    name: 'f',
    input: {},
    caller: { type: 'code_execution_20250825', tool_id: 's' },
  }
  const messages = [...hello.messages, { role: 'assistant', content: [call] }, { role: 'user', content: [image] }]
  expect(parse({ ...hello, messages }).losses).toEqual(['tool_use.caller', 'image.transformations'])
  const direct = { ...call, caller: { type: 'direct' } }
  expect(parse({ ...hello, messages: [...hello.messages, { role: 'assistant', content: [direct] }] }).losses).toEqual(
    [],
  )
})

it('names the tools that a search for tools has found', () => {
  const found = ['mcp__a__b', 'mcp__a__c'].map((tool_name) => ({ type: 'tool_reference', tool_name }))
  const { messages, losses } = parse({
    ...hello,
    messages: [
      ...hello.messages,
      { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'ToolSearch', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: found }] },
    ],
  })
  expect(messages.at(-1)?.content).toMatchObject([{ content: [{ text: 'mcp__a__b' }, { text: 'mcp__a__c' }] }])
  expect(losses).toEqual([])
})

it('a system prompt beside one that is null stands alone', () => {
  const body = { ...hello, system: null }
  expect(claude.withSystemPrompt(body, { prompt: 'Be brief.', before: true })).toEqual({ ...body, system: 'Be brief.' })
})

describe('what instructions in mid-conversation change', () => {
  const input_schema = { type: 'object' }
  const tool = (name: string, more: object = {}) => ({ name, input_schema, ...more })
  const added = (value: object) => ({ type: 'tool_addition', tool: value })
  const defined = (definition: object) => added({ type: 'tool_definition', definition })
  const reference = (name: string) => ({ type: 'tool_reference', name })
  const removed = (name: string) => ({ type: 'tool_removal', tool: reference(name) })
  const user = { role: 'user', content: 'hi' }
  const parseWith = (body: object, ...later: object[]) =>
    claude.parse({ model: 'm', max_tokens: 9, messages: [user, ...later, user], ...body }, {})
  const instruct = (...content: object[]) => ({ role: 'system', content })

  it('in the tools holds for all, and leaves no instruction without words', () => {
    const tools = [tool('a'), tool('b'), tool('c', { defer_loading: true })]
    const text = { type: 'text', text: 'Use them.' }
    const request = parseWith(
      { tools },
      instruct(removed('a'), removed('b'), defined(tool('d', { description: 'old' }))),
      instruct(text, added(reference('b')), added(reference('c')), defined(tool('d', { description: 'new' }))),
    )
    const functionTool = (name: string, more: object = {}) => ({
      type: 'function',
      name,
      parameters: input_schema,
      ...more,
    })
    expect(request.tools).toEqual([functionTool('b'), functionTool('c'), functionTool('d', { description: 'new' })])
    expect(request.messages.map(({ role }) => role)).toEqual(['user', 'system', 'user'])
    expect(request.losses).toEqual([])
    expect(parseWith({}, instruct(defined(tool('d')))).tools).toEqual([functionTool('d')])
  })

  it('counts as it goes out in this form: definitions that are withdrawn or replaced too, each once, with their marks', () => {
    const words = (name: string) => `${name} `.repeat(400)
    const long = (name: string, more: object = {}) => tool(name, { description: words(name), ...more })
    const mark = { cache_control: { type: 'ephemeral', ttl: '1h' } }
    const changes = instruct(
      removed('one'),
      defined(long('two', { description: words('new') })),
      defined(long('six', mark)),
      removed('six'),
      removed('ten'),
      added(reference('ten')),
    )
    const request = parseWith({ tools: [long('one'), long('two'), long('ten', { defer_loading: true })] }, changes)
    const counted = cheapPromptTokens(request)
    // Four characters are a token, and each of these words is one.
    expect(counted.promptTokens).toBeGreaterThan(5 * 400)
    expect(counted.promptTokens).toBeLessThan(5 * 400 + 300)
    expect(counted.cacheWrite1hMarked).toBeGreaterThan(4 * 400)
    expect(cheapPromptTokens({ ...request, nativeOnly: undefined }).promptTokens).toBeLessThan(2 * 400 + 100)
    const repeated = parseWith({}, instruct(...Array.from({ length: 7 }, () => defined(long('one')))))
    expect(Math.floor(cheapPromptTokens(repeated).promptTokens / 400)).toBe(7)
  })

  it('in tools that are not there is named', () => {
    const one = { type: 'mcp_tool_reference', server_name: 's', name: 'a' }
    const request = parseWith({ tools: [tool('a')] }, instruct(added(one), removed('x'), { type: 'tool_removal' }))
    expect(request.tools).toMatchObject([{ name: 'a' }])
    expect(new Set(request.losses)).toEqual(new Set(['tool_addition', 'tool_removal']))
  })

  it('in the effort holds for the answer, the last of them; what else they ask of it is named', () => {
    const asking = (output_config: object) => ({ role: 'system', content: [], output_config })
    const request = parseWith(
      { output_config: { effort: 'high' } },
      asking({ effort: 'max' }),
      asking({ effort: 'low', format: { type: 'x' } }),
      asking({}),
    )
    expect(request.reasoning).toEqual({ effort: 'low' })
    expect(request.messages.map(({ role }) => role)).toEqual(['user', 'user'])
    expect(request.losses).toEqual(['messages.output_config.format'])
    expect(parseWith({}, asking({ effort: 'odd' })).losses).toEqual(['messages.output_config.effort'])
  })
})

it('what only this form says of a document and of a tool is counted', () => {
  const long = 'word '.repeat(400)
  const source = { type: 'text', media_type: 'text/plain', data: 'hi' }
  const document = { type: 'document', source, context: long }
  const example = { name: 'a', input_schema: { type: 'object' }, input_examples: [{ text: long }] }
  const countOf = (body: object) => cheapPromptTokens(parse({ ...hello, ...body })).promptTokens
  expect(countOf({ messages: [{ role: 'user', content: [document] }] })).toBeGreaterThan(500)
  expect(countOf({ tools: [example] })).toBeGreaterThan(500)
})
