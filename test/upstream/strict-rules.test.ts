import { expect, test } from 'vitest'
import { checkBetas, checkMessages } from '../simulator/strict/anthropic.ts'
import { checkGenerate } from '../simulator/strict/gemini.ts'
import { checkChat, checkResponses } from '../simulator/strict/openai.ts'

type Json = Record<string, unknown>

const user = { role: 'user', content: 'hi' }
const long = 'x'.repeat(65)
const chatCall = (given: Json) => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id: 'c', type: 'function', ...given }],
})
const chatResult = (given: Json = {}) => ({ role: 'tool', tool_call_id: 'c', content: 'r', ...given })
const strictFormat = (schema: Json) => ({
  response_format: { type: 'json_schema', json_schema: { name: 'x', strict: true, schema } },
})
const open = { type: 'object' }
const openList = { type: 'object', properties: { a: { type: ['array', 'null'] } } }
const f = { function: { name: 'f', arguments: '{}' } }
const namedTool = { type: 'function', function: { name: 'f' } }

test('what each vendor takes is taken', () => {
  checkChat({ model: 'm', messages: [user, chatCall(f), chatResult()] }, { path: '' })
  checkResponses({ model: 'm', input: [{ type: 'message', role: 'user', content: 'hi' }] })
  checkMessages({ model: 'm', max_tokens: 9, messages: [user] }, { isHosted: false })
  checkGenerate({ contents: [{ role: 'user', parts: [{ text: 'hi' }] }] }, { model: 'gemini-3-pro' })
})

test.each<[string, Json, string?]>([
  ['a model of the other call', { model: 'o3-pro' }],
  ['sampling of a model that reasons', { model: 'o4-mini', temperature: 0.5 }],
  ['five stops', { stop: [...'abcde'] }],
  ['a field of a message', { messages: [{ ...user, cache_control: {} }] }],
  ['a field of a part', { messages: [{ role: 'user', content: [{ type: 'text', text: 'hi', title: 't' }] }] }],
  ['a message without content', { messages: [{ role: 'user', content: null }] }],
  [
    'an image in a result',
    {
      messages: [
        user,
        chatCall(f),
        chatResult({ content: [{ type: 'image_url', image_url: { url: 'https://a.test' } }] }),
      ],
    },
  ],
  ['a long id of a result', { messages: [user, chatCall(f), chatResult({ tool_call_id: 'i'.repeat(41) })] }],
  [
    'a long name of a call',
    { messages: [user, chatCall({ function: { name: long, arguments: '{}' } }), chatResult()] },
  ],
  ['a format that is open', strictFormat({ type: 'object', properties: {} })],
  [
    'a format with a least length',
    strictFormat({ type: 'object', properties: { a: { minLength: 1 } }, required: ['a'], additionalProperties: false }),
  ],
  ['a format that is no object', strictFormat({ type: 'array', items: {} })],
  ['an id of an end user in other letters, as DeepSeek', { model: 'deepseek-v4', user_id: '{"a":"b"}' }],
  ['an id of an end user that is too short, as Zhipu', { model: 'glm-5', user_id: 'short' }],
  [
    'parameters of nothing',
    { model: 'gpt-4o', tools: [{ type: 'function', function: { name: 'f', parameters: {} } }] },
  ],
  [
    'parameters without properties',
    { model: 'gpt-4o', tools: [{ type: 'function', function: { name: 'f', parameters: open } }] },
  ],
  [
    'a list of nothing',
    { model: 'gpt-4o', tools: [{ type: 'function', function: { name: 'f', parameters: openList } }] },
  ],
  ['one token of a model that reasons', { model: 'gpt-5.2', max_completion_tokens: 1 }],
  ['a developer, as DeepSeek', { model: 'deepseek-v4-pro', messages: [{ role: 'developer', content: 's' }, user] }],
  [
    'a tool that must be called while it thinks, as DeepSeek',
    { model: 'deepseek-v4-pro', tools: [namedTool], tool_choice: 'required' },
  ],
  [
    'a tool that must be called while it thinks, as Kimi',
    { model: 'kimi-k2.6', tools: [namedTool], tool_choice: namedTool },
  ],
  [
    'a name that begins with a digit, as Kimi',
    { model: 'kimi-k2.6', tools: [{ type: 'function', function: { name: '1st' } }] },
  ],
  [
    'a type beside alternatives, as Kimi',
    {
      model: 'kimi-k2.6',
      tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object', anyOf: [open] } } }],
    },
  ],
  [
    'parameters that name no type, as Kimi',
    { model: 'kimi-k2.6', tools: [{ type: 'function', function: { name: 'f', parameters: { oneOf: [open] } } }] },
  ],
  ['a call without reasoning, as Kimi', { model: 'kimi-k2.6', messages: [user, chatCall(f), chatResult()] }],
  ['later instructions, as Qwen', { model: 'qwen3.6-27b', messages: [user, { role: 'system', content: 's' }] }],
  ['a seed, as Mistral', { model: 'mistral-large-latest', seed: 1 }],
  ['a name of a speaker, as Mistral', { model: 'mistral-large-latest', messages: [{ ...user, name: 'alice' }] }],
  [
    'a file that is no document, as Mistral',
    {
      model: 'mistral-large-latest',
      messages: [
        { role: 'user', content: [{ type: 'file', file: { file_data: 'data:application/pdf;base64,AA==' } }] },
      ],
    },
  ],
  [
    'an answer in one piece of a model that streams, as DashScope',
    { model: 'qwq-plus' },
    '/compatible-mode/v1/chat/completions',
  ],
  [
    'a begun answer, as Mistral',
    { model: 'mistral-large-latest', messages: [user, { role: 'assistant', content: 'I' }] },
  ],
  ['a call without proof, as Google', { model: 'gemini-3-pro-preview', messages: [user, chatCall(f), chatResult()] }],
  [
    'arguments that are no JSON, as DashScope',
    { messages: [user, chatCall({ function: { name: 'f', arguments: '{' } }), chatResult()] },
    '/compatible-mode/v1/chat/completions',
  ],
])('chat completions refuse %s', (_, fields, path = '') => {
  expect(() => checkChat({ model: 'm', messages: [user], ...fields }, { path })).toThrow()
})

const item = (given: Json) => ({ input: [{ type: 'message', role: 'user', content: 'hi' }, given] })
const server = { type: 'mcp', server_label: 'docs', server_url: 'https://a.test' }
test.each<[string, Json]>([
  ['sampling of a model that reasons', { model: 'gpt-5', top_p: 0.5 }],
  ['a long id of an end user', { user: long }],
  [
    'more tools than it counts',
    { tools: Array.from({ length: 129 }, (_, at) => ({ type: 'function', name: `f${at}` })) },
  ],
  ['an answer longer than the model writes', { model: 'gpt-4o', max_output_tokens: 16_385 }],
  ['JSON where nobody said the word', { text: { format: { type: 'json_object' } } }],
  ['an item of no kind', item({ type: 'thought' })],
  ['a long id of a call', item({ type: 'function_call', call_id: long, name: 'f', arguments: '{}' })],
  ['a search under another id', item({ type: 'web_search_call', id: 'x', action: {} })],
  ['a search that says nothing', item({ type: 'web_search_call', id: 'ws_1' })],
  ['a name of another kind of item', item({ type: 'message', id: 'item_1', role: 'assistant', content: 'hi' })],
  ['a name of an item that is empty', item({ type: 'message', id: '', role: 'assistant', content: 'hi' })],
  ['a remote call without its server', item({ type: 'mcp_call', id: 'mcp_1', name: 'f', arguments: '{}' })],
  ['a server without a label', { tools: [{ ...server, server_label: '' }] }],
  ['a server without an address', { tools: [{ ...server, server_url: '' }] }],
  ['a server approved in other words', { tools: [{ ...server, require_approval: 'auto' }] }],
  ['a function in the words of the other call', { tools: [{ type: 'function', function: { name: 'f' } }] }],
  ['a long name of a format', { text: { format: { type: 'json_schema', name: long, schema: { type: 'object' } } } }],
])('responses refuse %s', (_, fields) => {
  expect(() => checkResponses({ model: 'm', input: 'hi', ...fields })).toThrow()
})

const thinking = { type: 'enabled', budget_tokens: 2000 }
const tool = { name: 'f', input_schema: { type: 'object' } }
const use = { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'f', input: {} }] }
const result = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'r' }] }
const block = (given: Json) => ({ messages: [user, { role: 'assistant', content: [given] }, user] })
const mark = { type: 'text', text: 'x', cache_control: { type: 'ephemeral' } }
test.each<[string, Json, boolean?]>([
  ['a budget that is too small', { max_tokens: 4000, thinking: { ...thinking, budget_tokens: 1000 } }],
  ['another temperature while it thinks', { max_tokens: 4000, thinking, temperature: 0.5 }],
  ['a forced tool while it thinks', { max_tokens: 4000, thinking, tools: [tool], tool_choice: { type: 'any' } }],
  ['a tool twice', { tools: [tool, tool] }],
  ['a tool without parameters of an object', { tools: [{ name: 'f', input_schema: {} }] }],
  ['a field of a tool that a cloud does not know', { tools: [{ ...tool, defer_loading: true }] }, true],
  ['a field that a cloud does not know', { thread: { type: 'create' } }, true],
  ['a name that a cloud finds long', { tools: [{ ...tool, name: long }] }, true],
  [
    'a block that a cloud does not know',
    block({ type: 'mcp_tool_use', id: 'a', name: 'f', server_name: 's', input: {} }),
    true,
  ],
  ['later instructions', { model: 'claude-sonnet-4-5', messages: [user, { role: 'system', content: 's' }] }],
  [
    'later instructions in front of the user',
    { model: 'claude-opus-4-8', messages: [user, { role: 'system', content: 's' }, user] },
  ],
  ['later instructions, as DeepSeek', { model: 'deepseek-v4-pro', messages: [user, { role: 'system', content: 's' }] }],
  [
    'an effort where it is not to think, as DeepSeek',
    { model: 'deepseek-v4-pro', thinking: { type: 'disabled' }, output_config: { effort: 'max' } },
  ],
  ['a call without a thought, as DeepSeek', { model: 'deepseek-v4-pro', messages: [user, use, result] }],
  [
    'a tool that must be called while it thinks, as DeepSeek',
    { model: 'deepseek-v4-pro', tools: [{ name: 'f', input_schema: open }], tool_choice: { type: 'any' } },
  ],
  ['compaction in the words of OpenAI', { context_management: [{ type: 'compaction' }] }],
  ['five marks', { system: [mark, mark, mark, mark, mark] }],
  ['a search under another id', block({ type: 'server_tool_use', id: 'ws_1', name: 'web_search', input: {} })],
  [
    'a search result without its call',
    block({ type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] }),
  ],
  ['a server without its toolset', { mcp_servers: [{ type: 'url', name: 'docs', url: 'https://a.test' }] }],
  ['a long id of an end user', { metadata: { user_id: 'x'.repeat(257) } }],
  ['an id that is used again', { messages: [user, use, result, use, result] }],
  ['empty text', { messages: [{ role: 'user', content: [{ type: 'text', text: '' }] }] }],
  [
    'types that may be several in what it is held to',
    {
      tools: [
        {
          ...tool,
          strict: true,
          input_schema: {
            type: 'object',
            properties: { a: { type: ['string', 'null'] } },
            additionalProperties: false,
          },
        },
      ],
    },
  ],
  ['an open object in an answer', { output_config: { format: { type: 'json_schema', schema: { type: 'object' } } } }],
])('Anthropic refuses %s', (_, fields, isHosted = false) => {
  expect(() => checkMessages({ model: 'm', max_tokens: 9, messages: [user], ...fields }, { isHosted })).toThrow()
})

test('clouds refuse betas that they do not know', () => {
  expect(() => checkBetas(['message-threads-2026-08-12'])).toThrow('invalid beta flag')
})

const declare = (given: Json) => ({ tools: [{ functionDeclarations: [{ name: 'f', ...given }] }] })
const part = (given: Json) => ({ contents: [{ role: 'user', parts: [given] }] })
const config = (given: Json) => ({ generationConfig: given })
test.each<[string, Json]>([
  ['a field of another vendor', { messages: [] }],
  ['a setting of another vendor', config({ reasoningEffort: 'high' })],
  ['thinking in other words', config({ thinkingConfig: { effort: 'high' } })],
  ['two schemas of an answer', config({ responseSchema: { type: 'object' }, responseJsonSchema: { type: 'object' } })],
  ['two schemas of a function', declare({ parameters: { type: 'string' }, parametersJsonSchema: { type: 'object' } })],
  ['a field of a function', declare({ strict: true })],
  ['a long name', declare({ name: long })],
  ['a proof that is no base64', part({ text: 'hi', thoughtSignature: '!' })],
  ['a turn of nothing', { contents: [{ role: 'user', parts: [] }] }],
  ['a penalty', config({ presencePenalty: 0.5 })],
  ['a type that is not registered', part({ inlineData: { mimeType: 'image/jpg', data: '' } })],
  ['a list of numbers', declare({ parameters: { type: 'integer', enum: [1] } })],
  [
    'calls in two turns',
    {
      contents: [
        { role: 'user', parts: [{ text: 'q' }] },
        ...[0, 1].map(() => ({ role: 'model', parts: [{ functionCall: { name: 'f' } }] })),
      ],
    },
  ],
])('Gemini refuses %s', (_, fields) => {
  const contents = [{ role: 'user', parts: [{ text: 'hi' }] }]
  expect(() => checkGenerate({ contents, ...fields }, { model: 'gemini-2.5-flash' })).toThrow()
})

test.each([
  ['Text', [{ text: 'Here:' }]],
  ['Image', [{ inlineData: { mimeType: 'image/png', data: '' } }]],
])('Gemini’s models that draw refuse an answer without proof: %s', (word, parts) => {
  const check = (model: string) => checkGenerate({ contents: [{ role: 'model', parts }] }, { model })
  expect(() => check('gemini-3-pro-image-preview')).toThrow(`${word} part is missing a thought_signature in content`)
  check('gemini-2.5-flash-image')
})
