import { expect, test } from 'vitest'
import { createSecrets, sha256 } from '#features/secrets/service.ts'
import { randomKey } from '../support/factories.ts'
import { type Product, secretKey, startProduct } from '../support/processes.ts'
import { chargeViolations, untilNothingIsHeld } from './ledger-check.ts'
import { callOnce } from './traffic.ts'
import { createWorld } from './world.ts'

const wrongClock = new URL('../support/wrong-clock.mjs', import.meta.url).href
const hour = 3_600_000
const minute = 60_000

test('nodes whose clocks are an hour ahead and an hour behind expire nothing early and nothing late: the database decides', async () => {
  await using world = await createWorld()
  await world.make.channel()
  await world.make.option('CheckInEnabled', 'true')
  const start = (shiftMs: number): Promise<Product> =>
    startProduct({
      isPatient: true,
      environment: {
        ...world.environment,
        WORKERS: '1',
        NODE_OPTIONS: `--import=${wrongClock}`,
        CLOCK_SHIFT_MS: String(shiftMs),
      },
    })
  await using ahead = await start(hour)
  await using behind = await start(-hour)
  expect(ahead.output()).toContain("this machine's clock is not the database's")

  const person = await world.make.user({ quota: 1_000_000_000 })
  const session = async (minutes: number): Promise<string> => {
    const id = randomKey(43)
    await world.pool.query(
      'insert into sessions (id_hash, user_id, expires_at) values ($1, $2, now() + make_interval(mins => $3))',
      [sha256(id), person.id, minutes],
    )
    return id
  }
  const ask = async (product: Product, id: string, path: string, body?: object) => {
    const reply = await fetch(product.url + path, {
      method: body ? 'POST' : 'GET',
      headers: {
        cookie: `session=${id}`,
        'x-user-id': String(person.id),
        'content-type': 'application/json',
        origin: product.url,
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    return (await reply.json()) as { success: boolean }
  }
  const statusOf = async (id: number) =>
    Number((await world.pool.query('select status from tokens where id = $1', [id])).rows[0].status)

  // Tokens.
  const living = await world.make.token(person, { expiresAt: new Date(Date.now() + 30 * minute) })
  const expired = await world.make.token(person, { expiresAt: new Date(Date.now() - 30 * minute) })
  const calls = [
    await callOnce(ahead.url, living, { kind: 'plain' }),
    await callOnce(behind.url, living, { kind: 'plain' }),
  ]
  expect(calls.map(({ status }) => status)).toEqual([200, 200])
  expect(await statusOf(living.id)).toBe(1)
  expect((await callOnce(behind.url, expired, { kind: 'plain' })).status).toBe(401)
  expect(await statusOf(expired.id)).toBe(3)

  // Sessions.
  expect(await ask(ahead, await session(30), '/api/user/self')).toMatchObject({ success: true })
  expect(await ask(behind, await session(-30), '/api/user/self')).toMatchObject({ success: false })

  // One-time codes.
  const email = `${person.username}@example.com`.toLowerCase()
  await world.pool.query('update users set email = $2, email_normalized = $2 where id = $1', [person.id, email])
  const reset = async (product: Product, minutes: number) => {
    const code = randomKey(32)
    await world.pool.query(
      `insert into one_time_codes (purpose, subject, code_hash, attempts, created_at, expires_at)
       values ('password-reset', $1, $2, 0, now(), now() + make_interval(mins => $3))
       on conflict (purpose, subject) do update set code_hash = excluded.code_hash, expires_at = excluded.expires_at`,
      [email, createSecrets(secretKey).hmac(`password-reset:${email}:${code}`), minutes],
    )
    return ask(product, '', '/api/user/reset', { email, token: code })
  }
  expect(await reset(behind, -5)).toMatchObject({ success: false })
  expect(await reset(ahead, 5)).toMatchObject({ success: true })

  // What they write down.
  expect(await ask(ahead, await session(30), '/api/user/check_in', {})).toMatchObject({ success: true })
  const { rows } = await world.pool.query<{ off: number }>(
    `select abs(extract(epoch from at - now()))::float8 as off
     from (select last_check_in_at as at from users where id = $1
           union all select created_at from logs
           union all select accessed_at from tokens where id = $2
           union all select expires_at - interval '30 days' from one_time_codes where purpose = 'setup') stamps`,
    [person.id, living.id],
  )
  expect(rows.length).toBeGreaterThan(4)
  expect(rows.filter(({ off }) => off > 600)).toEqual([])
  await untilNothingIsHeld(world.pool)
  expect(await chargeViolations(world.pool, calls)).toEqual([])
})
