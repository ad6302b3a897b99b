import { createServer } from 'node:http'
import { afterAll, expect, test } from 'vitest'
import { pollBatches } from '#features/message-batches/service.ts'
import { startBalancedApp } from '#test/relay/relay-world.ts'
import { listenLocally } from '#test/support/local-server.ts'
import { balanceOf, call, holder, logged } from './world.ts'

const model = 'claude-sonnet-4-20250514'
/** The lines of the results, or the status with which they are refused. */
let lines: unknown[] | number = []
/** As the vendor counts them. */
let answers = 1

const vendor = createServer((request, response) => {
  const path = request.url ?? ''
  const isMade = request.method === 'POST'
  const id = isMade ? `msgbatch_${Math.random()}` : path.split('/').at(-1)
  const isRefused = path.endsWith('/results') && typeof lines === 'number'
  response.writeHead(isRefused ? Number(lines) : 200, { 'content-type': 'application/json' })
  if (isRefused) return response.end('{"type":"error","error":{"type":"not_found_error","message":"no results"}}')
  if (path.endsWith('/results') && typeof lines !== 'number')
    return response.end(lines.map((line) => JSON.stringify(line)).join('\n'))
  const counts = { processing: 0, succeeded: answers, errored: 0, canceled: 0, expired: 0 }
  const processing = isMade ? 'in_progress' : 'ended'
  return response.end(
    JSON.stringify({ id, type: 'message_batch', processing_status: processing, request_counts: counts }),
  )
})
const upstream = await listenLocally(vendor)
const app = await startBalancedApp()
afterAll(() => upstream[Symbol.asyncDispose]())
await app.make.channel({ type: 14, models: model, baseUrl: upstream.url })
await app.settled()

const prompt = 'x'.repeat(4000)
const content = [
  { type: 'text', text: 'y'.repeat(400) },
  { type: 'tool_use', id: 'toolu_1', name: 'search', input: {} },
]
const succeeded = (id: string, usage?: unknown) => ({
  custom_id: id,
  result: { type: 'succeeded', message: { id: 'm', type: 'message', role: 'assistant', model, content, usage } },
})

/** What a batch of these requests is charged, its results being read from these lines. */
async function charged(ids: string[], results: unknown[] | number, before?: () => Promise<unknown>) {
  const by = await holder(app)
  lines = results
  const params = { model, max_tokens: 1000, messages: [{ role: 'user', content: prompt }] }
  const requests = ids.map((id) => ({ custom_id: id, params }))
  expect((await call(app, by, 'POST /v1/messages/batches', { requests })).status).toBe(200)
  await before?.()
  await pollBatches(app.services)
  const [row] = await logged(app, by, 2)
  const { used } = await balanceOf(app, by)
  const { answered } = Object(row?.other['batch']) as { answered: number }
  return { used, answered, row }
}

const reported = { input_tokens: 100, output_tokens: 100 }

test('each request of a batch is charged once, and nothing that it did not ask', async () => {
  const results = [succeeded('other', reported), succeeded('a', reported), succeeded('a', reported)]
  // (100 + 100 × 5) × 1.5 × 0.5
  expect(await charged(['a'], results)).toMatchObject({ used: 450, answered: 1 })
  // One that was made before the names of all requests were kept.
  const forget = () =>
    app.pool.query("update message_batches set facts = facts #- '{shares,0,customIds}' where settled_at is null")
  expect(await charged(['a'], [succeeded('a', reported)], forget)).toMatchObject({ used: 450, answered: 1 })
})

test.each([
  ['is missing', undefined],
  ['is empty', {}],
  ['is text', { input_tokens: '100', output_tokens: '5' }],
  ['is impossible', { input_tokens: -100, output_tokens: 1e300 }],
])('an answer whose usage %s is charged by the request and what was delivered', async (_name, usage) => {
  const { used, row } = await charged(['a', 'b'], [succeeded('b', usage)])
  const { prompt_tokens: promptTokens, completion_tokens: completionTokens } = row as unknown as Record<string, number>
  expect(promptTokens).toBeGreaterThanOrEqual(1000)
  expect(promptTokens).toBeLessThan(1020)
  // 100 of text, 2 of the tool's name and arguments, 7 for the call.
  expect(completionTokens).toBe(109)
  expect(row?.other['usage_source']).toBe('estimated')
  expect(used).toBe(Math.floor((Number(promptTokens) + 109 * 5) * 1.5 * 0.5))
})

test('of an answer that reports one of both, the other is counted', async () => {
  const { row } = await charged(['a'], [succeeded('a', { input_tokens: 50 })])
  expect(row).toMatchObject({ prompt_tokens: 50, completion_tokens: 109 })
})

test('results that are served are charged, whatever their batch counts, and a batch without any is free', async () => {
  answers = 0
  expect(await charged(['a'], [succeeded('a', reported)])).toMatchObject({ used: 450, answered: 1 })
  expect(await charged(['a'], [{ custom_id: 'a', result: { type: 'expired' } }])).toMatchObject({
    used: 0,
    answered: 0,
  })
  for (const none of [404, 400, [], [{ data: [] }], [{ type: 'error', error: { message: 'no results' } }]])
    expect(await charged(['a'], none)).toMatchObject({ used: 0, answered: 0 })
})
