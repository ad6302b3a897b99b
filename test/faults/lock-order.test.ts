import pg from 'pg'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { connect, type Database } from '#db/orm.ts'
import { createCooldownRecords } from '#features/channels/service/cooldowns.ts'
import { createSecrets } from '#features/secrets/service.ts'
import { removeConversationItem } from '#features/stored-responses/conversations.ts'
import { rememberAnswers } from '#features/stored-responses/service.ts'
import { keepPresence } from '#features/system/presence.ts'
import { settlePending } from '#features/tasks/service/charges.ts'
import { createDatabase, type TestDatabase } from '#test/support/database.ts'
import { untilSomebodyWaits } from '#test/support/processes.ts'

let own: TestDatabase
let database: Database
/** Another process, in the middle of its transaction. */
let other: pg.Client
const secrets = createSecrets('a secret key of tests')

beforeAll(async () => {
  own = await createDatabase()
  database = await connect(own.connection, 2)
  other = new pg.Client(own.connection)
  await other.connect()
})
afterEach(() => other.query('rollback'))
afterAll(async () => {
  await Promise.all([other.end(), database.close()])
  await own[Symbol.asyncDispose]()
})

const places = { userId: 1, channelId: 1, keyHmac: '', model: '' }
const ids = Array.from({ length: 20 }, (_, at) => `cntr_${String(at).padStart(2, '0')}`)

/** `first` is locked before `later`, by everybody. */
const orders = [
  {
    what: 'an item of a conversation',
    rows: `insert into conversations (id, user_id, sealed_metadata) values ('conv', 1, '');
      insert into conversation_items (conversation_id, position, id, bytes, sealed) values ('conv', 1, 'item', 1, '')`,
    first: `conversations where id = 'conv'`,
    later: 'conversation_items',
    act: () =>
      removeConversationItem({ pool: database.pool, secrets }, { id: 'conv', userId: 1, days: 30, item: 'item' }),
  },
  {
    what: 'several answers of an upstream',
    rows: `insert into upstream_objects (id, user_id, channel_id, key_hmac) select 'cntr_' || to_char(n, 'FM00'), 1, 1, ''
      from generate_series(0, 19) n`,
    first: `upstream_objects where id = 'cntr_00'`,
    later: `upstream_objects where id <> 'cntr_00'`,
    act: () => rememberAnswers(database.pool, { ...places, ids: ids.toReversed() }),
  },
  {
    what: 'the tasks of a process that is gone',
    rows: `insert into drawing_tasks (id, user_id, action, charge_pending) values (2, 1, 'IMAGINE', true), (1, 1, 'IMAGINE', true)`,
    first: 'drawing_tasks where id = 1',
    later: 'drawing_tasks where id = 2',
    act: () => settlePending({ database }),
  },
]

test.each(orders)(
  'whoever waits for $what has nothing locked that comes after',
  async ({ rows, first, later, act }) => {
    await other.query(rows)
    await other.query(`begin; select from ${first} for update`)
    const acted = act()
    await untilSomebodyWaits(database.pool)
    await other.query(`select from ${later} for update nowait; commit`)
    await acted
  },
)

const tidying = [
  {
    what: 'cooldowns of processes that are gone',
    rows: `insert into channel_cooldowns values (1, 0, 'gpt-4o', 2, now() - interval '2 hours', 503, ''),
      (1, 0, 'gpt-4o', 3, now() - interval '2 hours', 503, '')`,
    held: 'channel_cooldowns where node_id = 2',
    act: async () => {
      const records = createCooldownRecords(
        database.pool,
        () => 1,
        () => {},
      )
      records.put({ channelId: 1, key: 0, model: 'gpt-4o' }, { until: new Date(), status: 503, reason: '' })
      await records.flushed()
    },
    left: { table: 'channel_cooldowns', column: 'node_id', values: [1, 2] },
  },
  {
    what: 'processes that are gone',
    rows: `insert into nodes (id, host, pid, role, version, started_at, seen_at)
      select n, '', 1, '', '', now(), now() - interval '2 hours' from generate_series(2, 3) n`,
    held: 'nodes where id = 2',
    act: async () => {
      const connections = { open: 0, idle: 0, waiting: 0 }
      const figures = { callsUnderWay: 0, ledgerQueue: 0, bodyBytes: 0, cooldowns: 0, connections }
      const node = { id: 1, role: '', version: '', startedAt: new Date() }
      const presence = await keepPresence({ pool: database.pool, node, folder: '.', read: () => figures })
      await presence.stop()
    },
    left: { table: 'nodes', column: 'id', values: [2] },
  },
]

test.each(tidying)('whoever removes $what waits for nobody who has one locked', async ({ rows, held, act, left }) => {
  await other.query(rows)
  await other.query(`begin; select from ${held} for update`)
  await act()
  const { rows: found } = await other.query(`select ${left.column} as value from ${left.table} order by 1`)
  expect(found.map(({ value }) => value)).toEqual(left.values)
})
