import Anthropic from '@anthropic-ai/sdk'
import { expect, test } from 'vitest'
import { pollBatches } from '#features/message-batches/service.ts'
import { startScriptedRelay } from '#test/relay/relay-world.ts'
import { serve } from '#test/relay/serve.ts'
import { json, type Play } from '#test/support/scripted-upstream.ts'
import { balanceOf, holder } from './world.ts'

const { app, scripted } = await startScriptedRelay()

const model = 'claude-3-5-sonnet-20241022'
const requests = (id: string) => [
  {
    custom_id: id,
    params: { model, max_tokens: 1000, messages: [{ role: 'user' as const, content: 'x [[usage=1000:100]]' }] },
  },
]

test('a lost batch is found although the results of another one of its key and hour stay short', async () => {
  const key = 'shared-key'
  await app.make.channel({ type: 14, models: model, key, baseUrl: app.upstream.withDirectives('malformed,fail=1') })
  await app.settled()
  const by = await holder(app)
  const library = new Anthropic({ baseURL: app.url, apiKey: `sk-${by.token.key}`, maxRetries: 0 })
  await expect(library.messages.batches.create({ requests: requests('ours') })).rejects.toMatchObject({ status: 500 })
  // Made with the same key by another program of the operator's.
  const elsewhere = new Anthropic({
    baseURL: app.upstream.withDirectives('lineless=99'),
    apiKey: key,
    defaultHeaders: { 'x-api-key': key },
  })
  const other = await elsewhere.messages.batches.create({ requests: requests('theirs') })
  await app.pool.query("update message_batches set created_at = now() - interval '2 minutes'")

  for (let round = 0; round < 3; round += 1) await pollBatches(app.services)
  // (1000 + 100 × 5) × 1.5 × 0.5
  expect(await balanceOf(app, by)).toMatchObject({ quota: 10_000_000 - 1125, used: 1125 })
  const { rows } = await app.pool.query('select id, settled_at is not null as settled from message_batches')
  expect(rows).toEqual([{ id: expect.not.stringMatching(other.id) as string, settled: true }])
  expect(await app.violations()).toEqual([])
})

test('a batch of the same names is not taken for a lost one while another of its key cannot be read for now', async () => {
  const listed = (id: string) => ({
    id,
    type: 'message_batch',
    processing_status: 'ended',
    request_counts: { succeeded: 1 },
    created_at: new Date().toISOString(),
  })
  const result: Play = { steps: [JSON.stringify({ custom_id: 'row-1', result: { type: 'canceled' } })] }
  let results: Play = { status: 503, steps: [] }
  const asked: string[] = []
  const baseUrl = scripted.play((path) => {
    asked.push(path)
    if (path.includes('/mine/')) return results
    if (path.includes('/theirs/')) return result
    return path.includes('?') ? json({ data: [listed('mine'), listed('theirs')] }) : { steps: ['nothing'] }
  })
  const { model, ids } = await serve(app, { type: 14, baseUrl })
  const by = await holder(app)
  const params = { model, max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] }
  const made = await app.relay(by.token, '/v1/messages/batches', { requests: [{ custom_id: 'row-1', params }] })
  expect(made.status).toBeGreaterThanOrEqual(500)
  await app.pool.query(
    "update message_batches set created_at = now() - interval '2 minutes' where channel_id = $1",
    ids,
  )
  const look = async () => {
    asked.length = 0
    await pollBatches(app.services)
    const query = 'select id, settled_at from message_batches where channel_id = $1'
    return (await app.pool.query(query, ids)).rows
  }
  const lost = [{ id: expect.not.stringMatching('theirs') as string, settled_at: null }]
  expect(await look()).toEqual(lost)
  expect(asked.some((path) => path.includes('/mine/'))).toBe(true)
  results = result
  expect(await look()).toEqual(lost)
  expect(asked.some((path) => path.includes('/mine/'))).toBe(true)
})
