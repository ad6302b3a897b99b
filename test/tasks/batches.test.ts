import Anthropic from '@anthropic-ai/sdk'
import { expect, test } from 'vitest'
import { weighJson } from '#core/json-weight.ts'
import { quotaOfReceipt } from '#core/pricing/charge.ts'
import { receipt } from '#core/pricing/receipt.ts'
import { bookFailedCharge } from '#features/ledger/failed-charges.ts'
import { pollBatches } from '#features/message-batches/service.ts'
import { setOptions } from '#test/relay/serve.ts'
import { startApp } from '#test/support/app.ts'
import { secretKey, startProduct, until } from '#test/support/processes.ts'
import { toUrl } from '#db/connection.ts'
import { balanceOf, call, holder, type Holder, logged } from './world.ts'
import { startBalancedApp } from '#test/relay/relay-world.ts'
import { holdLock } from '#test/support/held-lock.ts'

const app = await startBalancedApp()
const models = 'claude-sonnet-4-20250514,claude-haiku-4-5-20251001'
const channel = (await app.make.channel({ type: 14, key: 'batch-key', models })).id
await app.make.channel({ type: 1, models: 'gpt-4o-mini' })
await app.settled()

const sonnet = 'claude-sonnet-4-20250514'
const haiku = 'claude-haiku-4-5-20251001'
const libraryOf = ({ token }: Holder, to: { url: string } = app) =>
  new Anthropic({ baseURL: to.url, apiKey: `sk-${token.key}`, maxRetries: 0 })
const ask = (text: string, id: string, model = sonnet) => ({
  custom_id: id,
  params: { model, max_tokens: 1000, messages: [{ role: 'user' as const, content: text }] },
})
const heldOf = async ({ user }: Holder): Promise<number> =>
  Number(
    (
      await app.pool.query(
        "select coalesce(sum(amount), 0) as held from holds where user_id = $1 and status = 'open'",
        [user.id],
      )
    ).rows[0].held,
  )

test('a batch is worked off upstream and charged at half the price by what its results say, once', async () => {
  const by = await holder(app, { remainQuota: 5_000_000 })
  const library = libraryOf(by)
  const made = await library.messages.batches.create({
    requests: [
      ask('one [[usage=1000:201]]', 'a'),
      ask('two [[status=500]]', 'b'),
      ask('three [[usage=2000:400]]', 'c'),
    ],
  })
  expect(made).toMatchObject({ type: 'message_batch', processing_status: 'in_progress', results_url: null })
  expect(app.upstream.requests.at(-1)).toMatchObject({ path: '/v1/messages/batches', key: 'batch-key' })
  // Half of (1000 tokens of answer × 5 and some of prompt) × 1.5 each.
  const held = await heldOf(by)
  expect(held).toBeGreaterThan(3 * 3750)
  expect(held).toBeLessThan(3 * 3900)
  expect(await balanceOf(app, by)).toMatchObject({ quota: 10_000_000 - held, used: 0, remain: 5_000_000 - held })
  await expect(library.messages.batches.results(made.id)).rejects.toThrow(/results_url/)
  const ended = await library.messages.batches.retrieve(made.id)
  expect(ended).toMatchObject({
    processing_status: 'ended',
    request_counts: { succeeded: 2, errored: 1, processing: 0 },
  })
  expect(ended.results_url).toBe(`${app.url}/v1/messages/batches/${made.id}/results`)
  // (1000 + 201 × 5 + 2000 + 400 × 5) × 1.5 × 0.5 = 4503.75, rounded down.
  const expected = { quota: 10_000_000 - 4503, used: 4503, remain: 5_000_000 - 4503, tokenUsed: 4503 }
  expect(await balanceOf(app, by)).toEqual(expected)
  const results: string[] = []
  for await (const line of await library.messages.batches.results(made.id))
    results.push(`${line.custom_id} ${line.result.type}`)
  expect(results).toEqual(['c succeeded', 'b errored', 'a succeeded'])
  await Promise.all([
    ...Array.from({ length: 10 }, () => library.messages.batches.retrieve(made.id)),
    pollBatches(app.services),
  ])
  expect(await balanceOf(app, by)).toEqual(expected)
  const rows = await logged(app, by, 2)
  expect(rows).toHaveLength(1)
  expect(rows[0]).toMatchObject({
    model_name: sonnet,
    quota: 4503,
    prompt_tokens: 3000,
    completion_tokens: 601,
    channel_id: channel,
    content: expect.stringContaining('批量倍率 0.5，完成 2/3 个请求'),
    other: { batch: { id: made.id, requests: 3, answered: 2, ratio: 0.5 } },
  })
  expect(quotaOfReceipt(receipt.parse(rows[0]?.other['receipt']))).toBe(4503)
  expect(await heldOf(by)).toBe(0)
})

test('nobody else reads, cancels or deletes a batch, and it is listed for its owner alone', async () => {
  const [by, other] = [await holder(app), await holder(app)]
  const [library, otherUser] = [libraryOf(by), libraryOf(other)]
  const ids: string[] = []
  for (const name of ['a', 'b', 'c'])
    ids.unshift((await library.messages.batches.create({ requests: [ask('x', name)] })).id)
  const [newest = '', middle = ''] = ids
  for (const refused of [
    () => otherUser.messages.batches.retrieve(newest),
    () => otherUser.messages.batches.cancel(newest),
    () => otherUser.messages.batches.delete(newest),
    () => library.messages.batches.retrieve('msgbatch_unknown'),
  ])
    await expect(refused()).rejects.toMatchObject({ status: 404, error: { error: { type: 'not_found_error' } } })
  const listed: string[] = []
  for await (const batch of library.messages.batches.list({ limit: 2 })) listed.push(batch.id)
  expect(listed).toEqual(ids)
  expect((await library.messages.batches.list({ before_id: middle })).data.map(({ id }) => id)).toEqual([newest])
  expect((await otherUser.messages.batches.list()).data).toEqual([])
  await expect(library.messages.batches.delete(newest)).rejects.toMatchObject({ status: 400 })
  await pollBatches(app.services)
  await pollBatches(app.services)
  await expect(library.messages.batches.delete(newest)).resolves.toMatchObject({ type: 'message_batch_deleted' })
  expect((await library.messages.batches.list()).data).toHaveLength(2)
})

test('a batch that was cancelled or has expired costs nothing, and its part that was answered what it used', async () => {
  const by = await holder(app)
  const library = libraryOf(by)
  const cancelled = await library.messages.batches.create({ requests: [ask('x', 'a'), ask('y', 'b')] })
  expect(await library.messages.batches.cancel(cancelled.id)).toMatchObject({ processing_status: 'canceling' })
  await pollBatches(app.services)
  expect(await library.messages.batches.retrieve(cancelled.id)).toMatchObject({ request_counts: { canceled: 2 } })
  expect(await balanceOf(app, by)).toMatchObject({ quota: 10_000_000, used: 0 })
  await library.messages.batches.create({ requests: [ask('x [[job=expired]]', 'a'), ask('y [[usage=100:20]]', 'b')] })
  await pollBatches(app.services)
  await Promise.all(Array.from({ length: 10 }, () => pollBatches(app.services)))
  // (100 + 20 × 5) × 1.5 × 0.5
  expect(await balanceOf(app, by)).toMatchObject({ quota: 10_000_000 - 150, used: 150 })
  expect((await logged(app, by, 2)).map(({ quota }) => quota)).toEqual([0, 150])
  expect(await heldOf(by)).toBe(0)
})

test('models of one batch are charged each at its own price, and the ratio is the operator’s', async () => {
  const by = await holder(app)
  await setOptions(app, { 'claude.batch_price_ratio': '0.8' })
  const requests = [
    ask('x [[usage=1000:100]]', 'a', haiku),
    ask('y [[usage=1000:100]]', 'b'),
    ask('z [[usage=1000:100]]', 'c'),
  ]
  // By these a gateway as upstream would be aimed elsewhere, or given another model.
  Object.assign(requests[0]?.params ?? {}, { Model: sonnet, api_base: 'https://evil.example' })
  const { response } = await libraryOf(by).messages.batches.create({ requests }).withResponse()
  expect(response.headers.get('x-translation-loss')).toBe('Model,api_base')
  const sent = app.upstream.requests.at(-1)?.body as { requests: { params: object }[] }
  expect(sent.requests.map(({ params }) => Object.keys(params).toSorted())).toEqual(
    Array.from({ length: 3 }, () => ['max_tokens', 'messages', 'model']),
  )
  await setOptions(app, { 'claude.batch_price_ratio': '0.5' })
  await pollBatches(app.services)
  await pollBatches(app.services)
  const rows = (await logged(app, by, 2)).map(({ model_name: name, quota }) => [name, quota]).toSorted()
  // (1000 + 100 × 5) × 0.5 × 0.8; (2000 + 200 × 5) × 1.5 × 0.8.
  expect(rows).toEqual([
    [haiku, 600],
    [sonnet, 3600],
  ])
})

test('what cannot be paid, read or worked off is refused before anything is sent, in the caller’s dialect', async () => {
  const by = await holder(app, { quota: 1000 })
  const library = libraryOf(by)
  const before = app.upstream.requests.length
  const refusal = async (requests: unknown): Promise<string> => {
    const error: unknown = await library.messages.batches
      .create({ requests } as never)
      .catch((caught: unknown) => caught)
    const { status, message } = error as { status: number; message: string }
    return `${status} ${message}`
  }
  expect(await refusal([ask('x', 'a')])).toMatch(/^403 .*permission_error/)
  expect(await refusal([])).toMatch(/^400 .*at least one request/)
  expect(await refusal([ask('x', 'a'), ask('x', 'a')])).toMatch(/^400 .*requests\.1\.custom_id: a is not unique/)
  expect(await refusal([ask('x', 'no spaces')])).toMatch(/^400 .*requests\.0\.custom_id/)
  expect(await refusal([{ custom_id: 'a', params: { model: sonnet, max_tokens: 9 } }])).toMatch(
    /^400 .*requests\.0\.params/,
  )
  expect(await refusal([ask('x', 'a', 'gpt-4o-mini')])).toMatch(/^400 .*invalid_request_error.*batches/)
  expect(await refusal([ask('x', 'a', 'claude-unknown')])).toMatch(/^404 .*not_found_error/)
  expect(app.upstream.requests).toHaveLength(before)
  expect(await heldOf(by)).toBe(0)
  expect((await call(app, by, 'POST /v1/messages/batches', '{')).status).toBe(400)
})

test('a process that ends leaves a batch to the others, which charge it once; one that fails upstream costs nothing', async () => {
  const by = await holder(app)
  const other = await startApp({ on: app })
  const made = await libraryOf(by, other).messages.batches.create({ requests: [ask('x [[usage=1000:201]]', 'a')] })
  const held = await heldOf(by)
  await other[Symbol.asyncDispose]()
  expect(await heldOf(by)).toBe(held)
  // Charged, but the process died before it could note so.
  await libraryOf(by).messages.batches.retrieve(made.id)
  await libraryOf(by).messages.batches.retrieve(made.id)
  await app.pool.query('update message_batches set settled_at = null where id = $1', [made.id])
  await app.pool.query('delete from settled_calls')
  await pollBatches(app.services)
  // (1000 + 201 × 5) × 1.5 × 0.5 = 1503.75.
  expect(await balanceOf(app, by)).toMatchObject({ quota: 10_000_000 - 1503, used: 1503 })
  const failing = await app.make.channel({
    type: 14,
    models: 'claude-opus-4-20250514',
    baseUrl: app.upstream.withDirectives('status=500'),
  })
  await app.services.channels.reload(failing.id)
  const requests = [ask('x', 'a', 'claude-opus-4-20250514')]
  await expect(libraryOf(by).messages.batches.create({ requests })).rejects.toMatchObject({ status: 500 })
  expect(await heldOf(by)).toBe(0)
})

test('a batch whose charge the database refuses waits for the operator and for nobody else', async () => {
  const by = await holder(app)
  await libraryOf(by).messages.batches.create({ requests: [ask('x [[usage=1000:201]]', 'a')] })
  await pollBatches(app.services)
  await app.pool.query(`
    create function refuse_batch() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$;
    create trigger refuse_batch before insert on logs for each row when (new.user_id = ${by.user.id} and new.type = 2)
      execute function refuse_batch();`)
  await pollBatches(app.services)
  const failed = () => app.pool.query<{ id: string }>('select id from failed_charges where user_id = $1', [by.user.id])
  await until(async () => (await failed()).rowCount === 1, { what: 'the charge is not kept' })
  const [charge] = (await failed()).rows
  await app.pool.query('drop trigger refuse_batch on logs')
  await pollBatches(app.services)
  expect(await balanceOf(app, by)).toMatchObject({ used: 0 })
  expect(await stored(by)).toMatchObject([{ settled: true }])
  // The operator comes when what was settled is long forgotten.
  await app.pool.query('truncate settled_calls')
  await app.services.database.orm.em.fork().transactional((em) => bookFailedCharge(em, String(charge?.id)))
  expect(await balanceOf(app, by)).toMatchObject({ quota: 10_000_000 - 1503, used: 1503 })
  expect(await heldOf(by)).toBe(0)
})

/** A channel for one test, at an upstream that behaves so. */
async function channelThat(directives: string, model: string): Promise<number> {
  const baseUrl = app.upstream.withDirectives(directives)
  const { id } = await app.make.channel({ type: 14, models: model, key: directives, baseUrl })
  await app.services.channels.reload(id)
  return id
}
/** The only batch of this user stands in the database so. */
const stored = async ({ user }: Holder): Promise<{ id: string; settled: boolean }[]> =>
  (
    await app.pool.query('select id, settled_at is not null as settled from message_batches where user_id = $1', [
      user.id,
    ])
  ).rows
const aged = 'set created_at = now() - $2::interval, polled_at = null where user_id = $1'
const agedBy = (age: string, { user }: Holder) => app.pool.query(`update message_batches ${aged}`, [user.id, age])

test('a process killed between the vendor’s yes and its own commit loses neither the batch nor its price', async () => {
  const opus = 'claude-opus-4-1-20250805'
  await channelThat('gate=taken', opus)
  const by = await holder(app, { remainQuota: 5_000_000 })
  const product = await startProduct({
    environment: { DATABASE_URL: toUrl(app.connection), SECRET_KEY: secretKey, WORKERS: '1' },
  })
  const requests = [ask('x [[usage=1000:100]]', 'killed-a', opus), ask('y [[usage=1000:100]]', 'killed-b', opus)]
  const answer = libraryOf(by, product)
    .messages.batches.create({ requests })
    .catch(() => 'no answer')
  await until(async () => (await stored(by)).length === 1, { what: 'nothing is written down before it is sent' })
  const held = await heldOf(by)
  await using unlock = await holdLock(app.pool, 'select 1 from message_batches where user_id = $1 for update', [
    by.user.id,
  ])
  app.upstream.openGate('taken')
  const waits = "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
  await until(async () => (await app.pool.query(waits)).rowCount !== 0, { what: 'nobody wants to note the name' })
  await product.killAll()
  // Its statement must not come through after its death.
  await app.pool.query(waits.replace('select 1', 'select pg_terminate_backend(pid)'))
  await unlock()
  expect(await answer).toBe('no answer')
  // Nobody gives back what a dead process set aside for it, and nobody can ask after what has no name.
  await app.services.ledger.drained()
  expect(await heldOf(by)).toBe(held)
  expect((await libraryOf(by).messages.batches.list()).data).toEqual([])
  await agedBy('2 minutes', by)
  const second = await startApp({ on: app, environment: { LEDGER_LEASES: 'off' } })
  for (let round = 0; round < 4; round += 1)
    await Promise.all([pollBatches(app.services), pollBatches(second.services)])
  await second[Symbol.asyncDispose]()
  const [batch] = await stored(by)
  expect(batch).toMatchObject({ id: expect.stringMatching(/^msgbatch_/), settled: true })
  // (2000 + 200 × 5) × 7.5 × 0.5
  const charged = 11_250
  expect(await balanceOf(app, by)).toMatchObject({
    quota: 10_000_000 - charged,
    used: charged,
    remain: 5_000_000 - charged,
  })
  expect(await heldOf(by)).toBe(0)
  expect((await libraryOf(by).messages.batches.list()).data).toMatchObject([
    { id: batch?.id, processing_status: 'ended' },
  ])
  expect(await app.violations()).toEqual([])
})

test('a batch whose answer is lost is sent nowhere else, is found by its names, and where none was taken costs nothing', async () => {
  await setOptions(app, { RetryTimes: '3' })
  const create = (by: Holder, model: string) =>
    libraryOf(by)
      .messages.batches.create({ requests: [ask('x [[usage=1000:100]]', 'lost-a', model)] })
      .then(
        () => 200,
        ({ status }: { status: number }) => status,
      )
  const [lost, never, refused, gone] = [await holder(app), await holder(app), await holder(app), await holder(app)]
  const before = app.upstream.requests.length
  for (const directives of ['malformed,fail=1', 'malformed,fail=1,lenient'])
    await channelThat(directives, 'claude-3-5-sonnet-20241022')
  for (const directives of ['reset,fail=1', 'reset,fail=1,lenient'])
    await channelThat(directives, 'claude-3-5-haiku-20241022')
  await channelThat('status=529', 'claude-3-haiku-20240307')
  expect(await create(lost, 'claude-3-5-sonnet-20241022')).toBeGreaterThanOrEqual(500)
  expect(await create(never, 'claude-3-5-haiku-20241022')).toBeGreaterThanOrEqual(500)
  expect(app.upstream.requests).toHaveLength(before + 2)
  // A refusal says that nothing was taken.
  expect(await create(refused, 'claude-3-haiku-20240307')).toBe(529)
  expect([await heldOf(refused), await stored(refused)]).toEqual([0, []])
  const dropped = await channelThat('polls=9', 'claude-3-7-sonnet-20250219')
  expect(await create(gone, 'claude-3-7-sonnet-20250219')).toBe(200)
  await app.pool.query('delete from channels where id = $1', [dropped])

  await Promise.all([agedBy('59 minutes', never), agedBy('2 minutes', lost), agedBy('71 hours', gone)])
  for (let round = 0; round < 3; round += 1) await pollBatches(app.services)
  // (1000 + 100 × 5) × 1.5 × 0.5
  expect(await balanceOf(app, lost)).toMatchObject({ quota: 10_000_000 - 1125, used: 1125 })
  expect(await stored(lost)).toMatchObject([{ id: expect.stringMatching(/^msgbatch_/), settled: true }])
  for (const by of [never, gone]) expect(await heldOf(by)).toBeGreaterThan(0)

  await Promise.all([agedBy('61 minutes', never), agedBy('73 hours', gone)])
  await pollBatches(app.services)
  expect(await stored(never)).toEqual([])
  expect(await stored(gone)).toMatchObject([{ settled: true }])
  for (const by of [never, gone]) {
    expect(await heldOf(by)).toBe(0)
    expect(await balanceOf(app, by)).toMatchObject({ quota: 10_000_000, used: 0 })
  }
  expect(await app.violations()).toEqual([])
  await setOptions(app, { RetryTimes: '0' })
})

test.each(['its caller asks after it', 'it is looked for, its answer having been lost'])(
  'results that were cut off between two lines charge nothing while %s, and are read again',
  async (when) => {
    const isLost = when.startsWith('it is')
    const model = isLost ? 'claude-3-opus-20240229' : 'claude-opus-4-5-20251101'
    await channelThat(isLost ? 'malformed,fail=1,lineless=1' : 'lineless=1', model)
    const by = await holder(app)
    const library = libraryOf(by)
    const requests = ['a', 'b', 'c'].map((name) => ask('x [[usage=1000:100]]', `cut-${name}-${model}`, model))
    const made = await library.messages.batches.create({ requests }).catch(() => undefined)
    expect(made === undefined).toBe(isLost)
    if (isLost) await agedBy('2 minutes', by)
    const settled = async (): Promise<boolean> => (await stored(by))[0]?.settled === true
    await pollBatches(app.services)
    if (made) await expect(library.messages.batches.retrieve(made.id)).rejects.toMatchObject({ status: 503 })
    expect(await settled()).toBe(false)
    expect(await balanceOf(app, by)).toMatchObject({ used: 0 })
    for (let round = 0; round < 3; round += 1) await pollBatches(app.services)
    expect(await settled()).toBe(true)
    // (3000 + 300 × 5) × 7.5 × 0.5, or for the newer one × 2.5 × 0.5.
    expect(await balanceOf(app, by)).toMatchObject({ used: isLost ? 16_875 : 5625 })
    expect(await heldOf(by)).toBe(0)
  },
)

test('results that have fewer answers than counted for three days are charged for those there are', async () => {
  const [by, model] = [await holder(app), 'claude-opus-4-6', await channelThat('lineless=99', 'claude-opus-4-6')]
  const requests = [1, 2].map((at) => ask('x [[usage=1000:100]]', `few-${at}`, model))
  await libraryOf(by).messages.batches.create({ requests })
  for (let round = 0; round < 3; round += 1) await pollBatches(app.services)
  expect(await balanceOf(app, by)).toMatchObject({ used: 0 })
  await agedBy('73 hours', by)
  await pollBatches(app.services)
  expect(await balanceOf(app, by)).toMatchObject({ used: 1875, quota: 10_000_000 - 1875 })
})

test('a batch holds its bytes, their value, and twice what is sent until it has been answered', async () => {
  const by = await holder(app)
  const model = 'claude-opus-4-1-20250805'
  const setting = JSON.stringify({ system_prompt: 'p'.repeat(20_000) })
  const baseUrl = app.upstream.withDirectives('gate=weighed')
  // Before the channel of another test that serves this model, too.
  await app.make.channel({ type: 14, models: model, setting, baseUrl, priority: 1 })
  await app.settled()
  const requests = Array.from({ length: 100 }, (_, at) => ask('x'.repeat(5000), `long-${at}`, model))
  const bytes = Buffer.from(JSON.stringify({ requests }))
  const heldBytes = () => app.services.bodies.budget.heldBytes
  const made = call(app, by, 'POST /v1/messages/batches', { requests })
  // The channel's own prompt stands in each of them.
  const least = bytes.length + weighJson(bytes).bytes + 2 * (bytes.length + 100 * 20_000)
  await expect.poll(heldBytes).toBeGreaterThanOrEqual(least - 20_000)
  app.upstream.openGate('weighed')
  expect((await made).status).toBe(200)
  await expect.poll(heldBytes).toBe(0)
})
