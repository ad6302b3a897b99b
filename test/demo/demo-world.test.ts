import { verify } from '@node-rs/argon2'
import { Pool } from 'pg'
import { expect, test } from 'vitest'
import { demoPassword, seed } from '#test/seed/index.ts'
import { createDatabase, endPool } from '../support/database.ts'
import { ledgerViolations } from '../support/ledger-invariant.ts'

const given = { secretKey: 'the key of the test installation', upstreamUrl: 'http://127.0.0.1:4010' }

test('the demo world has people to sign in as, a month of usage and a balanced ledger', async () => {
  await using database = await createDatabase()
  const world = await seed(database.connection, given)
  const pool = new Pool(database.connection)
  try {
    expect(world.made).toBe(true)
    expect(world.key).toMatch(/^sk-[0-9A-Za-z]{48}$/)
    expect(await ledgerViolations(pool)).toEqual([])
    const { rows: people } = await pool.query('select username, password_hash, quota::float8 from users')
    for (const { username } of world.logins) {
      const person = people.find((row) => row.username === username)
      expect(await verify(person.password_hash, demoPassword)).toBe(true)
    }
    expect(people.every((person) => person.quota >= 0)).toBe(true)
    const { rows } = await pool.query(
      `select count(distinct date_trunc('day', hour))::int as days, count(distinct model_name)::int as models from usage_hourly`,
    )
    expect(rows[0].days).toBeGreaterThan(25)
    expect(rows[0].models).toBeGreaterThan(8)
    // No page of it is empty.
    for (const table of [
      'drawing_tasks',
      'music_tasks',
      'plans',
      'subscriptions',
      'top_up_orders',
      'audit_entries',
      'messages',
    ])
      expect([table, (await pool.query(`select 1 from ${table} limit 3`)).rowCount]).toEqual([table, 3])
  } finally {
    await endPool(pool)
  }
})

test('the demo world is made once and follows its provider to another port', async () => {
  await using database = await createDatabase()
  const first = await seed(database.connection, given)
  const second = await seed(database.connection, { ...given, upstreamUrl: 'http://127.0.0.1:4999' })
  expect(second).toEqual({ ...first, made: false })
  const pool = new Pool(database.connection)
  try {
    const { rows } = await pool.query("select count(*)::int as moved from channels where base_url like '%:4999%'")
    const { rows: all } = await pool.query('select count(*)::int as channels from channels')
    expect(rows[0].moved).toBe(all[0].channels)
  } finally {
    await endPool(pool)
  }
})

test('a database with accounts of its own is never given the demo world', async () => {
  await using database = await createDatabase()
  const pool = new Pool(database.connection)
  await pool.query("insert into users (username) values ('somebody')").finally(() => endPool(pool))
  await expect(seed(database.connection, given)).rejects.toThrow('an empty one')
})
