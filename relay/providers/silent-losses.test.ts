import { describe, expect, test } from 'vitest'
import { dialects } from '#relay/dialects/registry.ts'
import { customToolNames } from './shared/custom-tools.ts'
import { type Subject, subjects } from './conformance/subjects.ts'

type Body = Record<string, unknown>
type Caller = keyof typeof dialects
/** A body of the caller's dialect without and with something said. */
type RequestCase = [name: string, without: Body, withField: Body]

const png = 'iVBORw0KGgo='
const schema = { type: 'object', properties: { a: { type: 'string' } } }

const fields = (plain: Body, withField: Body, within: (fields: Body) => Body = (given) => given): RequestCase[] =>
  Object.entries(withField).map(([name, value]) => [name, plain, { ...plain, ...within({ [name]: value }) }])

const chat: Body = { messages: [{ role: 'user', content: 'hi' }] }
const chatTool = { type: 'function', function: { name: 'w', parameters: schema } }
const chatWith = (content: unknown, more: Body = {}): Body => ({ messages: [{ role: 'user', content, ...more }] })
const chatTurn = (more: Body): Body => ({
  messages: [
    { role: 'user', content: 'hi' },
    { role: 'assistant', content: 'ok', ...more },
    { role: 'user', content: 'go' },
  ],
})
const shown = (more: Body = {}) => [
  { type: 'text', text: 'hi' },
  { type: 'image_url', image_url: { url: `data:image/png;base64,${png}`, ...more } },
]

const chatRequests: RequestCase[] = [
  ...fields(chat, {
    temperature: 0.31,
    top_p: 0.77,
    top_k: 17,
    seed: 42,
    stop: ['zq'],
    frequency_penalty: 0.37,
    presence_penalty: 0.41,
    logprobs: true,
    logit_bias: { '5': 3 },
    user: 'someone',
    metadata: { a: 'b' },
    store: true,
    prompt_cache_key: 'k',
    safety_identifier: 'someone',
    service_tier: 'flex',
    verbosity: 'low',
    reasoning_effort: 'high',
    max_tokens: 77,
    max_completion_tokens: 78,
    response_format: { type: 'json_object' },
    web_search_options: { search_context_size: 'low' },
    modalities: ['text', 'audio'],
    unknown_field: 1,
    tools: [chatTool],
  }),
  ['n', chat, { ...chat, n: 2 }],
  ['another user', { ...chat, user: 'a' }, { ...chat, user: 'a', safety_identifier: 'b' }],
  ['several tools, one strict', { ...chat, tools: [chatTool] }, strictChat()],
  ['a grammar', { ...chat, tools: [customTool()] }, { ...chat, tools: [customTool({ format: { type: 'grammar' } })] }],
  [
    'a choice',
    { ...chat, tools: [chatTool, other()] },
    { ...chat, tools: [chatTool, other()], tool_choice: 'required' },
  ],
  ['one call at a time', { ...chat, tools: [chatTool] }, { ...chat, tools: [chatTool], parallel_tool_calls: false }],
  ['a picture', chat, chatWith(shown())],
  ['its detail', chatWith(shown()), chatWith(shown({ detail: 'low' }))],
  ['a name', chat, chatWith('hi', { name: 'bob' })],
  ['a cache mark', chat, chatWith([{ type: 'text', text: 'hi', cache_control: { type: 'ephemeral' } }])],
  [
    'an unknown part',
    chat,
    chatWith([
      { type: 'text', text: 'hi' },
      { type: 'video_url', video_url: { url: 'x' } },
    ]),
  ],
  ['reasoning text', chatTurn({}), chatTurn({ reasoning_content: 'hm' })],
  ['a refusal', chatTurn({}), chatTurn({ refusal: 'never' })],
  ['sound of an answer', chatTurn({}), chatTurn({ audio: { id: 'audio_1' } })],
]

function other() {
  return { type: 'function', function: { name: 'v', parameters: schema } }
}
function customTool(more: Body = {}) {
  return { type: 'custom', custom: { name: 'c', ...more } }
}
function strictChat(): Body {
  return { ...chat, tools: [{ ...chatTool, function: { ...chatTool.function, strict: true } }] }
}

const message: Body = { max_tokens: 50, messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }] }
const messageTool = { name: 'w', input_schema: schema }
const withTool = (more: Body = {}): Body => ({ ...message, tools: [{ ...messageTool, ...more }] })
const withPart = (...parts: Body[]): Body => ({ ...message, messages: [{ role: 'user', content: parts }] })
const search = { type: 'web_search_20250305', name: 'web_search' }

const base64 = { type: 'base64', media_type: 'image/png', data: png }
const messageTurn = (...blocks: Body[]): Body => ({
  ...message,
  messages: [
    { role: 'user', content: 'hi' },
    { role: 'assistant', content: [...blocks, { type: 'text', text: 'ok' }] },
    { role: 'user', content: 'go' },
  ],
})
const messageResult = (...parts: Body[]): Body => ({
  ...message,
  messages: [
    { role: 'user', content: 'hi' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'w', input: {} }] },
    {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 'c1', content: [{ type: 'text', text: 'r' }, ...parts] }],
    },
  ],
})
const searched = (encrypted_content: string): Body[] => [
  { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'zq' } },
  {
    type: 'web_search_tool_result',
    tool_use_id: 'srvtoolu_1',
    content: [{ type: 'web_search_result', url: 'https://a.test', title: 'A', encrypted_content, page_age: null }],
  },
]
const calledRemotely: Body[] = [
  { type: 'mcp_tool_use', id: 'mcptoolu_1', name: 'find', server_name: 'docs', input: {} },
  { type: 'mcp_tool_result', tool_use_id: 'mcptoolu_1', is_error: false, content: [{ type: 'text', text: 'zq' }] },
]

const inlineTool = { type: 'tool_definition', definition: { name: 'w', input_schema: schema } }
const instructed = (instruction: Body): Body => ({
  ...message,
  messages: [
    { role: 'user', content: [{ type: 'text', text: 'hi' }] },
    { role: 'system', ...instruction },
  ],
})

const messageRequests: RequestCase[] = [
  ...fields(message, {
    metadata: { user_id: 'someone' },
    service_tier: 'standard_only',
    thinking: { type: 'enabled', budget_tokens: 2048 },
    mcp_servers: [{ type: 'url', url: 'x', name: 'y' }],
    container: 'c',
    speed: 'fast',
    system: 'be brief',
    tools: [{ type: 'bash_20250124', name: 'bash' }],
  }),
  ...fields(
    message,
    { effort: 'high', task_budget: { type: 'tokens', total: 500 }, format: { type: 'grammar' } },
    (output_config) => ({ output_config }),
  ),
  ...fields(
    {},
    { eager_input_streaming: true, defer_loading: true, input_examples: [{ a: 'b' }], allowed_callers: ['x'] },
  ).map(([name, , withField]): RequestCase => [name, withTool(), withTool(withField)]),
  ...fields(
    {},
    { allowed_domains: ['a.b'], blocked_domains: ['a.b'], user_location: { type: 'approximate', city: 'x' } },
  ).map(([name, , more]): RequestCase => [
    name,
    { ...message, tools: [search] },
    { ...message, tools: [{ ...search, ...more }] },
  ]),
  [
    'sources of a text',
    message,
    withPart({ type: 'text', text: 'hi', citations: [{ type: 'char_location', cited_text: 'x' }] }),
  ],
  ['an image in a result', messageResult(), messageResult({ type: 'image', source: base64 })],
  ['a tool that is added later', message, instructed({ content: [{ type: 'tool_addition', tool: inlineTool }] })],
  ['an effort that is asked for later', message, instructed({ content: [], output_config: { effort: 'low' } })],
  ['a search', messageTurn(), messageTurn(...searched('EpY'))],
  ['a search that another vendor ran', messageTurn(), messageTurn(...searched(''))],
  ['a call of a remote tool', messageTurn(), messageTurn(...calledRemotely)],
  ['a part of its vendor', message, withPart({ type: 'container_upload', file_id: 'f' }, { type: 'text', text: 'hi' })],
]

const generate: Body = { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] }
const declaration = { name: 'w', parameters: schema }
const declared = (more: Body = {}): Body => ({
  ...generate,
  tools: [{ functionDeclarations: [{ ...declaration, ...more }] }],
})
const inline = { inlineData: { mimeType: 'image/png', data: png } }
const withImage = (more: Body = {}): Body => ({
  contents: [{ role: 'user', parts: [{ text: 'hi' }, { ...inline, ...more }] }],
})

const generateResult = (more: Body = {}): Body => ({
  contents: [
    { role: 'user', parts: [{ text: 'hi' }] },
    { role: 'model', parts: [{ functionCall: { id: 'c1', name: 'w', args: {} } }] },
    { role: 'user', parts: [{ functionResponse: { id: 'c1', name: 'w', response: { output: 'r' }, ...more } }] },
  ],
})

const generateRequests: RequestCase[] = [
  ...fields(
    generate,
    {
      responseMimeType: 'application/xml',
      responseFormat: { image: { imageSize: '2K' } },
      mediaResolution: 'MEDIA_RESOLUTION_LOW',
      audioTimestamp: true,
      speechConfig: { languageCode: 'de-DE' },
      thinkingConfig: { thinkingLevel: 'HIGH' },
      presencePenalty: 0.4,
    },
    (generationConfig) => ({ generationConfig }),
  ),
  ...fields(generate, { safetySettings: [{ category: 'x', threshold: 'y' }], labels: { a: 'b' } }),
  ['an image in a result', generateResult(), generateResult({ parts: [inline] })],
  ['an unknown level', generate, { ...generate, generationConfig: { thinkingConfig: { thinkingLevel: 'ODD' } } }],
  ['a picture as instruction', generate, { ...generate, systemInstruction: { parts: [inline] } }],
  ['the form of an answer', declared(), declared({ response: { type: 'STRING' } })],
  ['what a function does meanwhile', declared(), declared({ behavior: 'NON_BLOCKING' })],
  [
    'the time of a search',
    { ...generate, tools: [{ googleSearch: {} }] },
    { ...generate, tools: [{ googleSearch: { timeRangeFilter: { startTime: 'x' } } }] },
  ],
  ['where the caller is', declared(), { ...declared(), toolConfig: { retrievalConfig: { languageCode: 'de' } } }],
  ['the size of a picture', withImage(), withImage({ mediaResolution: { level: 'LOW' } })],
  ['the frames of a film', withImage(), withImage({ videoMetadata: { fps: 1 } })],
]

const response: Body = { input: [{ role: 'user', content: 'hi' }] }
const responseTool = { type: 'function', name: 'w', parameters: schema }
const answered = (more: Body = {}): Body => ({
  input: [
    { role: 'user', content: 'hi' },
    { role: 'assistant', content: [{ type: 'output_text', text: 'ok', ...more }] },
    { role: 'user', content: 'go' },
  ],
})

const turnWith = (...items: Body[]): Body => ({
  input: [
    { role: 'user', content: 'hi' },
    ...items,
    { role: 'assistant', content: 'ok' },
    { role: 'user', content: 'go' },
  ],
})
const responseResult = (...parts: Body[]): Body => ({
  input: [
    { role: 'user', content: 'hi' },
    { type: 'function_call', call_id: 'c1', name: 'w', arguments: '{}' },
    { type: 'function_call_output', call_id: 'c1', output: [{ type: 'input_text', text: 'r' }, ...parts] },
  ],
})
const remoteCall = { type: 'mcp_call', id: 'mcp_1', server_label: 'docs', name: 'find', arguments: '{}', output: 'zq' }

const responseRequests: RequestCase[] = [
  ...fields(response, {
    reasoning: { effort: 'high' },
    metadata: { a: 'b' },
    prompt_cache_key: 'k',
    truncation: 'auto',
    max_tool_calls: 3,
    max_output_tokens: 55,
    safety_identifier: 'someone',
    text: { verbosity: 'low' },
    tools: [{ type: 'file_search', vector_store_ids: ['v'] }],
  }),
  ['another user', { ...response, user: 'a' }, { ...response, user: 'a', safety_identifier: 'b' }],
  [
    'a search of some sites',
    { ...response, tools: [{ type: 'web_search' }] },
    { ...response, tools: [{ type: 'web_search', filters: { allowed_domains: ['a.b'] } }] },
  ],
  [
    'a tool for later',
    { ...response, tools: [responseTool] },
    { ...response, tools: [{ ...responseTool, defer_loading: true }] },
  ],
  [
    'an image in a result',
    responseResult(),
    responseResult({ type: 'input_image', image_url: `data:image/png;base64,${png}` }),
  ],
  ['a search', turnWith(), turnWith({ type: 'web_search_call', id: 'ws_1', action: { type: 'search', query: 'zq' } })],
  [
    'a page that was opened',
    turnWith(),
    turnWith({ type: 'web_search_call', id: 'ws_1', action: { type: 'open_page' } }),
  ],
  ['a call of a remote tool', turnWith(), turnWith(remoteCall)],
  [
    'a remote server',
    response,
    { ...response, tools: [{ type: 'mcp', server_label: 'docs', server_url: 'https://a.test' }] },
  ],
  ['a remote call to be approved', turnWith(), turnWith({ ...remoteCall, type: 'mcp_approval_request', id: 'mcpr_1' })],
  [
    'tools of a remote server',
    turnWith(),
    turnWith({ type: 'mcp_list_tools', id: 'mcpl_1', server_label: 'docs', tools: [] }),
  ],
  ['sources of an answer', answered(), answered({ annotations: [{ type: 'url_citation', url: 'u' }] })],
]

const requests: Record<Caller, RequestCase[]> = {
  'openai-chat': chatRequests,
  'openai-responses': responseRequests,
  claude: messageRequests,
  gemini: generateRequests,
}

function sent({ provider, call }: Subject, caller: Caller, body: Body) {
  const request = dialects[caller].parse(structuredClone(body), { model: 'some-model' })
  const written = provider.chat.request(request, { ...call(), customTools: customToolNames(request.tools) })
  return { wire: JSON.stringify([written.url, written.body]), losses: written.losses ?? [] }
}

/** What is said of tools goes with them, where they are lost themselves. */
const goesWithTools = (body: Body, losses: readonly string[]): boolean =>
  body['tools'] !== undefined && losses.some((name) => /^(tools|(tools\.)?web_search(_.*)?)$/.test(name))

/** So does what is said of an image. */
const goesWithImage = (name: string, losses: readonly string[]): boolean =>
  name === 'its detail' && losses.includes('image_url')

function isSilent(subject: Subject, caller: Caller, [name, without, withField]: RequestCase): boolean {
  try {
    const [before, after] = [sent(subject, caller, without), sent(subject, caller, withField)]
    const isReported =
      after.losses.some((lost) => !before.losses.includes(lost)) ||
      goesWithTools(without, after.losses) ||
      goesWithImage(name, after.losses)
    return before.wire === after.wire && !isReported
  } catch (error) {
    // What must not be dropped is refused.
    if (error instanceof Error && ['DomainError', 'InvalidRequest'].includes(error.name)) return false
    throw error
  }
}

const chatting = subjects.filter(({ optOut }) => optOut.text === undefined)

describe.each(Object.keys(requests) as Caller[])('what a caller of %s says', (caller) => {
  test.each(chatting.map((subject) => [subject.name, subject] as const))(
    'reaches the upstream or is named as lost: %s',
    (_, subject) => {
      expect(requests[caller].filter((request) => isSilent(subject, caller, request)).map(([name]) => name)).toEqual([])
    },
  )
})

const toOpenAi = subjects.find(({ name }) => name === 'openai')

test.each(['openai-chat', 'openai-responses'] as const)(
  'what a caller of %s says to be stored, found again and kept short arrives where there are words for it',
  (caller) => {
    const plain = caller === 'openai-chat' ? { ...chat, verbosity: 'low' } : { ...response, text: { verbosity: 'low' } }
    // Answers to calls of responses are stored by the gateway, which is what `store` says there.
    const store = caller === 'openai-chat' ? { store: true } : {}
    const body = { ...plain, model: 'gpt-5', metadata: { a: 'b' }, prompt_cache_key: 'k', ...store }
    const { provider, call } = toOpenAi as Subject
    const request = dialects[caller].parse(body, { model: 'gpt-5' })
    const { channel, ...rest } = call()
    const official = { ...channel, baseUrl: 'https://api.openai.com' }
    const written = provider.chat.request(request, { ...rest, channel: official, model: 'gpt-5' })
    expect(written.body).toMatchObject({
      metadata: { a: 'b' },
      prompt_cache_key: 'k',
      ...store,
      verbosity: 'low',
    })
  },
)

test.each(['anthropic', 'gemini', 'aws (Converse)'])(
  'a result that answers no call is not dropped silently: %s',
  (name) => {
    const subject = subjects.find((each) => each.name === name) as Subject
    const result = { role: 'tool', tool_call_id: 'nobody', content: 'lost words' }
    const call = {
      role: 'assistant',
      tool_calls: [{ id: 'nobody', ...chatTool, function: { name: 'w', arguments: '{}' } }],
    }
    const question = { role: 'user', content: 'hi' }
    const orphan = sent(subject, 'openai-chat', { messages: [question, result] })
    expect(orphan.wire).not.toContain('lost words')
    expect(orphan.losses).toEqual(['tool_result'])
    const answered = sent(subject, 'openai-chat', { messages: [question, call, result] })
    expect(answered.wire).toContain('lost words')
    expect(answered.losses).toEqual([])
  },
)
