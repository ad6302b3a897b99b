import { expect, test } from 'vitest'
import { bedrockPlatform, fitToPlatform, vertexPlatform } from './platforms.ts'

const plain = { messages: [{ role: 'user', content: 'hi' }], max_tokens: 1 }
const custom = { name: 'f', input_schema: { type: 'object' } }

test('betas that a cloud refuses stay away, those it has under another name are renamed, and what matters is named', () => {
  const header =
    'claude-code-20250219, context-1m-2025-08-07,advanced-tool-use-2025-11-20,tool-search-tool-2025-10-19,fast-mode-2026-02-01'
  expect(fitToPlatform({ ...plain }, header, bedrockPlatform)).toEqual({
    betas: ['context-1m-2025-08-07', 'tool-search-tool-2025-10-19'],
    losses: ['fast-mode-2026-02-01'],
  })
  expect(fitToPlatform({ ...plain }, undefined, vertexPlatform)).toEqual({ betas: [], losses: [] })
})

test('fields of the vendor’s own platform go, by their names', () => {
  const body = {
    ...plain,
    speed: 'fast',
    thread: { type: 'create' },
    mcp_servers: null,
    thinking: { type: 'adaptive' },
  }
  expect(fitToPlatform(body, undefined, vertexPlatform).losses).toEqual(['speed', 'thread'])
  expect(body).toEqual({ ...plain, thinking: { type: 'adaptive' } })
})

test('fields of tools that a cloud does not know go, and the tools themselves stay the caller’s where nothing does', () => {
  const tools = [{ ...custom, defer_loading: true, eager_input_streaming: false }]
  const body: Record<string, unknown> = { ...plain, tools }
  expect(fitToPlatform(body, undefined, bedrockPlatform).losses).toEqual(['tools.defer_loading'])
  expect(body['tools']).toEqual([custom])
  expect(tools[0]).toHaveProperty('defer_loading')
  const untouched = { ...plain, tools: [custom] }
  const given = untouched.tools
  fitToPlatform(untouched, undefined, bedrockPlatform)
  expect(untouched.tools).toBe(given)
  const searching = { ...plain, tools: [{ ...custom, defer_loading: true }] }
  expect(fitToPlatform(searching, 'advanced-tool-use-2025-11-20', bedrockPlatform).losses).toEqual([])
  expect(searching.tools[0]).toHaveProperty('defer_loading', true)
})

test('tools that only the vendor’s own platform runs go, with the choice of them', () => {
  const search = { type: 'web_search_20250305', name: 'web_search' }
  const body: Record<string, unknown> = {
    ...plain,
    tools: [search, custom],
    tool_choice: { type: 'tool', name: 'web_search' },
  }
  expect(fitToPlatform({ ...body }, undefined, vertexPlatform).losses).toEqual([])
  expect(fitToPlatform(body, undefined, bedrockPlatform).losses).toEqual(['tools.web_search_20250305', 'tool_choice'])
  expect(body).toMatchObject({ tools: [custom], tool_choice: { type: 'auto' } })
  const alone: Record<string, unknown> = { ...plain, tools: [search], tool_choice: { type: 'any' } }
  fitToPlatform(alone, undefined, bedrockPlatform)
  expect(alone).toEqual(plain)
})

test('marks that hold beyond their organisation hold within it', () => {
  const marked = { type: 'text', text: 'a', cache_control: { type: 'ephemeral', scope: 'global' } }
  const body: Record<string, unknown> = { ...plain, system: [marked], messages: [{ role: 'user', content: [marked] }] }
  fitToPlatform(body, 'prompt-caching-scope-2026-01-05', bedrockPlatform)
  const local = { type: 'text', text: 'a', cache_control: { type: 'ephemeral' } }
  expect(body).toMatchObject({ system: [local], messages: [{ role: 'user', content: [local] }] })
})
