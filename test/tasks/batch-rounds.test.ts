import Anthropic from '@anthropic-ai/sdk'
import { beforeEach, expect, test } from 'vitest'
import { noteBatch, pollBatches } from '#features/message-batches/service.ts'
import { setOptions } from '#test/relay/serve.ts'
import { startBalancedApp } from '#test/relay/relay-world.ts'
import { balanceOf, holder, type Holder } from './world.ts'

const app = await startBalancedApp()
await setOptions(app, { RetryTimes: '0' })
// Rounds are over batches of the test alone.
beforeEach(() => app.pool.query('update message_batches set settled_at = now() where settled_at is null'))

const libraryOf = ({ token }: Holder) => new Anthropic({ baseURL: app.url, apiKey: `sk-${token.key}`, maxRetries: 0 })
const messages = (text: string) => ({ max_tokens: 1000, messages: [{ role: 'user' as const, content: text }] })
const batchOf = (model: string, text = 'x [[usage=1000:201]]') => ({
  requests: [{ custom_id: 'a', params: { model, ...messages(text) } }],
})
const statusOf = (call: Promise<unknown>): Promise<number> =>
  call.then(
    () => 200,
    ({ status }: { status: number }) => status,
  )
const keysOf = (path: string) => app.upstream.requests.filter((request) => request.path === path).map(({ key }) => key)

async function channel(model: string, key: string, more: { does?: string; priority?: number } = {}): Promise<number> {
  const { does, ...input } = more
  const baseUrl = does === undefined ? app.upstream.url : app.upstream.withDirectives(does)
  const { id } = await app.make.channel({ type: 14, models: model, key, baseUrl, ...input })
  await app.services.channels.reload(id)
  return id
}

async function change(id: number, columns: { key?: string; baseUrl?: string }): Promise<void> {
  const { key, baseUrl } = columns
  await app.pool.query(
    'update channels set key_encrypted = coalesce($2, key_encrypted), base_url = coalesce($3, base_url) where id = $1',
    [id, key === undefined ? null : app.services.secrets.encrypt(key), baseUrl ?? null],
  )
  await app.services.channels.reload(id)
}

test('a batch is its owner’s to read after the key of its channel was replaced', async () => {
  const model = 'claude-sonnet-4-20250514'
  const id = await channel(model, 'first@workspace')
  const by = await holder(app)
  const library = libraryOf(by)
  const made = await library.messages.batches.create(batchOf(model))
  await change(id, { key: 'second@workspace' })
  for (let round = 0; round < 2; round += 1) await pollBatches(app.services)
  // (1000 + 201 × 5) × 1.5 × 0.5
  expect(await balanceOf(app, by)).toMatchObject({ used: 1503 })
  expect(await library.messages.batches.retrieve(made.id)).toMatchObject({ processing_status: 'ended' })
  const results: string[] = []
  for await (const line of await library.messages.batches.results(made.id)) results.push(line.custom_id)
  expect(results).toEqual(['a'])
  await expect(library.messages.batches.delete(made.id)).resolves.toMatchObject({ type: 'message_batch_deleted' })
  expect(keysOf(`/v1/messages/batches/${made.id}/results`)).toEqual(['second@workspace', 'second@workspace'])
})

test('a key of another workspace finds no batch, and one without any key left reads none', async () => {
  const model = 'claude-opus-4-5-20251101'
  const id = await channel(model, 'first@here')
  const library = libraryOf(await holder(app))
  const made = await library.messages.batches.create(batchOf(model))
  for (const key of ['second@elsewhere', '']) {
    await change(id, { key })
    await expect(library.messages.batches.retrieve(made.id)).rejects.toMatchObject({ status: 404 })
  }
})

test('a limit on batches keeps nobody’s chat from a key, and one on chat no batch', async () => {
  const chat = (by: Holder, model: string) => statusOf(libraryOf(by).messages.create({ model, ...messages('Hello') }))
  const batch = (by: Holder, model: string) => statusOf(libraryOf(by).messages.batches.create(batchOf(model)))
  const by = await holder(app)
  const places = async (model: string) => {
    await channel(model, `${model}-first`, { does: 'status=429,fail=1,retryafter=120', priority: 1 })
    await channel(model, `${model}-second`)
  }
  const [first, second] = ['claude-3-5-haiku-20241022', 'claude-haiku-4-5-20251001'] as const
  await places(first)
  expect(await batch(by, first)).toBe(429)
  expect(await chat(by, first)).toBe(200)
  // Batches themselves are spared the place meanwhile.
  expect(await batch(by, first)).toBe(200)
  expect(keysOf('/v1/messages').slice(-1)).toEqual([`${first}-first`])
  expect(keysOf('/v1/messages/batches').slice(-2)).toEqual([`${first}-first`, `${first}-second`])

  await places(second)
  expect(await chat(by, second)).toBe(429)
  expect(await batch(by, second)).toBe(200)
  // That one was taken ends no rest that chat was asked for.
  expect(await chat(by, second)).toBe(200)
  expect(keysOf('/v1/messages/batches').slice(-1)).toEqual([`${second}-first`])
  expect(keysOf('/v1/messages').slice(-2)).toEqual([`${second}-first`, `${second}-second`])
})

test('a batch is looked at the more seldom the older it is, at least every ten minutes', async () => {
  const model = 'claude-opus-4-20250514'
  await channel(model, 'seldom-key', { does: 'polls=99' })
  const { id } = await libraryOf(await holder(app)).messages.batches.create(batchOf(model))
  const looks = async (age: string, since: string): Promise<boolean> => {
    await app.pool.query(
      'update message_batches set created_at = now() - $2::interval, polled_at = now() - $3::interval where id = $1',
      [id, age, since],
    )
    return (await pollBatches(app.services)) === 1
  }
  expect(await looks('9 minutes', '1 second')).toBe(true)
  expect(await looks('1 hour', '2 minutes')).toBe(false)
  expect(await looks('1 hour', '3 minutes')).toBe(true)
  expect(await looks('23 hours', '9 minutes')).toBe(false)
  expect(await looks('23 hours', '11 minutes')).toBe(true)
})

test('a key that has made too many requests is left alone for as long as its vendor asks', async () => {
  const model = 'claude-opus-4-1-20250805'
  const id = await channel(model, 'limited-key', { does: 'polls=99' })
  const library = libraryOf(await holder(app))
  const ids: string[] = []
  for (let made = 0; made < 10; made += 1) ids.push((await library.messages.batches.create(batchOf(model))).id)
  await change(id, { baseUrl: app.upstream.withDirectives('status=429,retryafter=120') })
  const before = app.upstream.requests.length
  const { rows } = await app.pool.query<{ instant: Date }>('select now() as instant')
  await pollBatches(app.services)
  const asked = app.upstream.requests.length - before
  // Eight are asked after at once.
  expect(asked).toBeGreaterThan(0)
  expect(asked).toBeLessThanOrEqual(8)
  expect(await pollBatches(app.services)).toBe(0)
  const later = await app.pool.query(
    `select id from message_batches
     where polled_at between $1::timestamptz + interval '119 seconds' and now() + interval '120 seconds'`,
    [rows[0]?.instant],
  )
  expect(later.rowCount).toBe(ids.length)
})

test('a batch that has ended stays so, whatever another process received of it before', async () => {
  const model = 'claude-3-opus-20240229'
  await channel(model, 'ended-key', { does: 'polls=1' })
  const library = libraryOf(await holder(app))
  const earlier = await library.messages.batches.create(batchOf(model))
  expect(await library.messages.batches.retrieve(earlier.id)).toMatchObject({ processing_status: 'ended' })
  await noteBatch(app.pool, { id: earlier.id, answer: { ...earlier } })
  expect((await library.messages.batches.list()).data).toMatchObject([{ processing_status: 'ended' }])
})
