import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Pool } from 'pg'
import { afterAll, expect, test } from 'vitest'
import { createSecrets } from '#features/secrets/service.ts'
import { createChannelTable } from '#relay/routing/channel-table.ts'
import { createDatabase, endPool } from '../support/database.ts'
import { processorMs } from '#server/processor-time.ts'

/** What no call may notice; the strict bound is for a quiet machine. */
const longestBlockMs = process.env['STRICT_TIMES'] === '1' ? 20 : 100

const channels = 10_000
const modelsEach = 100

const secrets = createSecrets('a key')

const database = await createDatabase()
const pool = new Pool({ ...database.connection, max: 3 })
// Half of the models are known to every channel, half to some.
await pool.query(
  `insert into channels (type, name, key_encrypted, base_url, models, "group", priority)
   select 1, 'channel ' || n, $1, 'http://localhost', (
     select string_agg(case when m <= $3 / 2 then 'a-model-of-everybody-' || m else 'a-model-of-some-' || (n * 7 + m) % 5000 end, ',')
     from generate_series(1, $3::int) m), 'default', n % 3
   from generate_series(1, $2::int) n`,
  [secrets.encrypt('sk-key'), channels, modelsEach],
)
afterAll(async () => {
  await endPool(pool)
  await database[Symbol.asyncDispose]()
})

const makeTable = () =>
  createChannelTable({
    pool,
    secrets,
    splitKeys: (_type, text) => [text],
    onBadChannel: (id, error) => {
      throw new Error(`channel ${id}`, { cause: error })
    },
    onIgnored: () => {},
  })

/** The longest turn of the event loop, for which nothing else could run; the shortest of several runs. */
async function longestBlock(what: string, run: () => Promise<unknown>): Promise<number> {
  const longest: number[] = []
  const startedAt = processorMs()
  for (let round = 0; round < 3; round += 1) {
    let over = false
    const done = run().finally(() => {
      over = true
    })
    let most = 0
    for (let since = processorMs(); !over;) {
      await new Promise((resolve) => setImmediate(resolve))
      const now = processorMs()
      most = Math.max(most, now - since)
      since = now
    }
    await done
    longest.push(most)
  }
  const took = (processorMs() - startedAt) / longest.length
  const turns = longest.map((ms) => ms.toFixed(1)).join(', ')
  process.stdout.write(`${what}: ${took.toFixed(0)} ms of work, in turns of at most ${turns} ms\n`)
  return Math.min(...longest)
}

const heapMb = (): number => {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  return process.memoryUsage().heapUsed / 1e6
}

test('ten thousand channels of a hundred models are read, compared and changed without blocking the event loop', async () => {
  const before = heapMb()
  const table = makeTable()
  await table.reload()
  const grown = heapMb() - before
  process.stdout.write(`${channels} channels of ${modelsEach} models take ${grown.toFixed(0)} MB\n`)
  expect(grown).toBeLessThan(150)
  expect(table.tiers('default', 'a-model-of-everybody-1').flat()).toHaveLength(channels)

  expect(await longestBlock('first load', () => makeTable().reload())).toBeLessThan(longestBlockMs)
  expect(await longestBlock('nothing changed', () => table.reload())).toBeLessThan(longestBlockMs)
  const { rows } = await pool.query<{ id: number }>('select id from channels order by id')
  const touch = async (count: number): Promise<void> => {
    const ids = rows.slice(0, count).map(({ id }) => id)
    await pool.query('update channels set weight = weight + 1 where id = any ($1::int[])', [ids])
    await table.reload(ids)
  }
  expect(await longestBlock('one channel changed', () => touch(1))).toBeLessThan(longestBlockMs)
  expect(await longestBlock('a thousand channels changed', () => touch(1000))).toBeLessThan(longestBlockMs)
  expect(
    await longestBlock('first call of a model', async () => {
      await touch(1)
      table.tiers('default', 'a-model-of-everybody-2')
    }),
  ).toBeLessThan(longestBlockMs)
  expect(table.tiers('default', 'a-model-of-everybody-1').flat()).toHaveLength(channels)
  expect(table.channel(rows[0]?.id ?? 0)?.weight).toBeGreaterThan(0)

  const calls = 1000
  const startedAt = processorMs()
  for (let call = 0; call < calls; call += 1) expect(table.isListed('default', `nobody-has-${call}`)).toBe(false)
  const each = (processorMs() - startedAt) / calls
  process.stdout.write(`whether anybody has a model: ${(each * 1000).toFixed(0)} µs\n`)
  expect(each).toBeLessThan(0.5)
  expect(table.isListed('default', 'a-model-of-everybody-1')).toBe(true)
})

test('the look of every minute reads what changed, and nothing else', async () => {
  const table = makeTable()
  await table.reload()
  const { rows } = await pool.query<{ id: number }>('select id from channels order by id limit 5')
  const [edited = 0, removed = 0, keyed = 0, used = 0, untouched = 0] = rows.map(({ id }) => id)
  const at = (id: number) => table.channel(id)
  const before = { used: at(used), untouched: at(untouched) }
  await pool.query("update channels set name = 'another' where id = $1", [edited])
  await pool.query('delete from channels where id = $1', [removed])
  await pool.query(`insert into channel_keys (channel_id, position, key_hmac, status) values ($1, 0, '', 3)`, [keyed])
  await pool.query('update channels set used_quota = used_quota + 1, response_time_ms = 5 where id = $1', [used])
  await table.reload()
  expect(at(edited)?.name).toBe('another')
  expect(at(removed)).toBeUndefined()
  expect(at(keyed)?.keys).toMatchObject([{ enabled: false }])
  // The very same objects: these rows were not read again.
  expect(at(used)).toBe(before.used)
  expect(at(untouched)).toBe(before.untouched)
  expect(table.tiers('default', 'a-model-of-everybody-1').flat()).toHaveLength(channels - 2)
  await pool.query('delete from channel_keys where channel_id = $1', [keyed])
  await table.reload()
  expect(at(keyed)?.keys).toMatchObject([{ enabled: true }])
})
