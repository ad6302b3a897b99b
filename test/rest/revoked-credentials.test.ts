import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { hashPassword } from '#features/auth/password.ts'
import { createSecrets } from '#features/secrets/service.ts'
import { type App, startApp } from '#test/support/app.ts'
import type { TestUser } from '#test/support/factories.ts'

/** Two nodes on one database: what one changes the other must not honour any more. */

const here = await startApp()
const there = await startApp({ on: here, environment: { TRUST_PROXY: '1' } })
const root = await here.make.user({ role: 100 })
afterAll(async () => {
  await there[Symbol.asyncDispose]()
  await here[Symbol.asyncDispose]()
})

const oldPassword = 'the old password'
const newPassword = 'the new password'

async function owner() {
  const user = await here.make.user()
  const email = `${user.username}@x.example`.toLowerCase()
  await here.pool.query('update users set password_hash = $2, email = $3, email_normalized = $3 where id = $1', [
    user.id,
    await hashPassword(oldPassword),
    email,
  ])
  return { ...user, email }
}

async function linkFor(email: string): Promise<string> {
  const hash = createSecrets('the key of the test installation').hmac(`password-reset:${email}:link`)
  await here.pool.query(
    `insert into one_time_codes (purpose, subject, code_hash, attempts, created_at, expires_at)
     values ('password-reset', $1, $2, 0, now(), now() + interval '10 minutes')`,
    [email, hash],
  )
  return 'link'
}

const byToken = async (app: App, user: TestUser) => (await app.rest(user, 'GET', '/api/user/self')).json['success']
const bySession = (app: App, user: TestUser) =>
  app
    .trpc(user)
    .user.account.get.query()
    .then(
      () => true,
      () => false,
    )

type Owner = Awaited<ReturnType<typeof owner>>
const routes: [string, { change: (user: Owner) => Promise<unknown>; keepsSession: boolean }][] = [
  [
    'its owner in the console',
    {
      change: (user) =>
        here.trpc(user).user.account.update.mutate({ password: newPassword, currentPassword: oldPassword }),
      keepsSession: true,
    },
  ],
  [
    'a script with that very token',
    { change: (user) => here.rest(user, 'PUT', '/api/user/self', { password: newPassword }), keepsSession: false },
  ],
  [
    'an administrator in the console',
    {
      change: (user) => here.trpc(root).admin.users.update.mutate({ id: user.id, password: newPassword }),
      keepsSession: false,
    },
  ],
  [
    'an administrator’s script',
    {
      change: (user) =>
        here.rest(root, 'PUT', '/api/user/', { id: user.id, username: user.username, password: newPassword }),
      keepsSession: false,
    },
  ],
  [
    'a mailed link',
    {
      change: async (user) =>
        here.trpc().auth.resetPassword.mutate({ email: user.email, token: await linkFor(user.email) }),
      keepsSession: false,
    },
  ],
]

test.each(routes)(
  'a password changed by %s ends the system access token and other sessions on every node',
  async (_who, route) => {
    const user = await owner()
    expect([await byToken(here, user), await byToken(there, user), await bySession(there, user)]).toEqual([
      true,
      true,
      true,
    ])
    await route.change(user)
    expect([await byToken(here, user), await byToken(there, user)]).toEqual([false, false])
    expect(await bySession(there, user)).toBe(route.keepsSession)
    const { rows } = await here.pool.query('select access_token_hash from users where id = $1', [user.id])
    expect(rows).toEqual([{ access_token_hash: null }])
  },
)

const passwordChange = (id: number) =>
  here.trpc(root).admin.users.update.mutate({ id, password: newPassword, quota: 10_000_000 })

test('a system access token that is asked for while the password changes does not outlive it', async () => {
  for (let round = 0; round < 3; round += 1) {
    const user = await owner()
    const asks = Array.from({ length: 10 }, () => there.trpc(user).user.account.createAccessToken.mutate())
    const [, ...made] = await Promise.allSettled([passwordChange(user.id), ...asks])
    const tokens = made.flatMap((one) => (one.status === 'fulfilled' ? [String(one.value)] : []))
    for (const accessToken of tokens) expect(await byToken(there, { ...user, accessToken })).toBe(false)
    expect(await byToken(there, user)).toBe(false)
  }
})

test('a request that was let in before the password was replaced changes nothing after it', async () => {
  const user = await owner()
  const client = await here.pool.connect()
  onTestFinished(() => client.release(true))
  const waitingFor = async (count: number): Promise<void> => {
    const waiting = "select count(*)::int as n from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()" // prettier-ignore
    for (;;) {
      const { rows } = await here.pool.query<{ n: number }>(waiting)
      if ((rows[0]?.n ?? 0) >= count) return
    }
  }
  await client.query('begin')
  await client.query('select 1 from users where id = $1 for update', [user.id])
  const asked = [
    there.rest(user, 'PUT', '/api/user/self', { password: 'one of a thief' }),
    there.rest(user, 'GET', '/api/user/token'),
    there
      .trpc(user)
      .user.account.createAccessToken.mutate()
      .catch(() => null),
    there
      .trpc(user)
      .user.account.update.mutate({ password: 'one of a thief', currentPassword: oldPassword })
      .catch(() => null),
  ]
  await waitingFor(asked.length)
  await client.query("update users set password_hash = 'replaced', access_token_hash = null where id = $1", [user.id])
  await client.query('delete from sessions where user_id = $1', [user.id])
  await client.query('commit')
  await Promise.all(asked)
  const { rows } = await here.pool.query('select password_hash, access_token_hash from users where id = $1', [user.id])
  expect(rows).toEqual([{ password_hash: 'replaced', access_token_hash: null }])
})

test('a log-in with the old password that meets its change is worth nothing after it', async () => {
  for (let round = 0; round < 6; round += 1) {
    const user = await owner()
    const logIn = () =>
      fetch(`${there.url}/api/user/login`, {
        method: 'POST',
        // Wrong attempts of one network are counted; on a slow machine most of these are wrong by then.
        headers: { 'content-type': 'application/json', 'x-forwarded-for': `198.51.100.${round}` },
        body: JSON.stringify({ username: user.username, password: oldPassword }),
      })
    // One after the other, so that some are looking at the old password when the new one comes.
    const logIns = Array.from({ length: 10 }, (_, index) => pause(index * 12).then(logIn))
    const [, ...made] = await Promise.all([passwordChange(user.id), ...logIns])
    const { rows } = await here.pool.query('select 1 from sessions where user_id = $1', [user.id])
    expect(made.map(({ status }) => status)).toEqual(made.map(() => 200))
    expect(rows).toEqual([])
  }
})

test('a changed password makes a mailed link worthless', async () => {
  const user = await owner()
  const token = await linkFor(user.email)
  await here.trpc(user).user.account.update.mutate({ password: newPassword, currentPassword: oldPassword })
  await expect(there.trpc().auth.resetPassword.mutate({ email: user.email, token })).rejects.toThrow('重置链接无效')
})

test('an update without a new password ends nothing', async () => {
  const user = await owner()
  await here.rest(user, 'PUT', '/api/user/self', { display_name: 'New name', password: '' })
  await here.rest(root, 'PUT', '/api/user/', { id: user.id, display_name: 'Newer name', password: '' })
  expect([await byToken(there, user), await bySession(there, user)]).toEqual([true, true])
})

test('a ban and a demotion are heeded by the next request on every node, with session and token', async () => {
  const admin = await here.make.user({ role: 10 })
  const groups = async (app: App) => (await app.rest(admin, 'GET', '/api/group/')).json['success']
  expect([await groups(here), await groups(there)]).toEqual([true, true])
  await here.trpc(root).admin.users.manage.mutate({ id: admin.id, action: 'demote' })
  expect([await groups(here), await groups(there)]).toEqual([false, false])
  expect(await bySession(there, admin)).toBe(true)
  await here.trpc(root).admin.users.manage.mutate({ id: admin.id, action: 'disable' })
  expect([await byToken(there, admin), await bySession(there, admin)]).toEqual([false, false])
})
