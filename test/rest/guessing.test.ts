import { createTRPCClient, httpBatchLink } from '@trpc/client'
import superjson from 'superjson'
import { expect, test } from 'vitest'
import { hashPassword } from '#features/auth/password.ts'
import type { AppRouter } from '#server/app-router.ts'
import { startApp, type App } from '#test/support/app.ts'
import { startFileConsole } from '#test/support/console-app.ts'

const app = await startFileConsole({ TRUST_PROXY: '1' })

const times = <Result>(count: number, act: (index: number) => Promise<Result>) =>
  Promise.all(Array.from({ length: count }, (_, index) => act(index)))
const from = (ip: string) => ({ headers: { 'x-forwarded-for': ip } })
const login = (ip: string, username: string, password = 'wrong password') =>
  app.browser().post('/api/user/login', { username, password }, from(ip))
const tried = (replies: { status: number }[]) => replies.filter(({ status }) => status === 200).length

test('of sixty logins at once from one IPv6 network ten are tried, and the right password is not found by them', async () => {
  const { username, password } = await app.person()
  const replies = await times(60, (index) => login(`2001:db8:0:1::${index + 1}`, username))
  expect(tried(replies)).toBe(10)
  expect((await login('2001:db8:0:1:ffff::1', username, password)).status).toBe(429)
  expect((await login('2001:db8:0:2::1', username, password)).body['success']).toBe(true)
})

test('letter case and look-alike letters of a name make no further attempts', async () => {
  const names = ['somebody', 'SOMEBODY', 'Somebody', 'ｓomebody']
  expect(tried(await times(40, (index) => login('203.0.113.20', names[index % 4] ?? '')))).toBe(10)
})

test('name and mail address of an account are one in the count, on one network and on many', async () => {
  const mail = 'twice@x.example'
  const { username, password } = await app.person({ email: mail, emailNormalized: mail })
  const names = [username, mail, ` ${mail.toUpperCase()}`, username.toUpperCase()]
  expect(tried(await times(40, (index) => login('203.0.113.60', names[index % 4] ?? '')))).toBe(10)
  for (const name of [username, mail]) expect((await login('203.0.113.60', name, password)).status).toBe(429)

  for (let network = 0; network < 4; network += 1) await times(10, () => login(`198.51.101.${network}`, mail))
  expect(tried(await times(10, () => login('198.51.101.99', username)))).toBe(2)
  expect((await login('192.0.2.2', mail, password)).body['success']).toBe(true)
})

test('who is sent away because too many sign in at once has not tried', async () => {
  const { username } = await app.person()
  let isOver = false
  // Whoever is done comes again: the queue stays full for as long as the logins take to come.
  const signIn = (): Promise<unknown> =>
    hashPassword('somebody else').then(
      () => (isOver ? '' : signIn()),
      () => '',
    )
  const crowd = times(102, signIn)
  const sentAway = await times(10, () => login('203.0.113.70', username))
  isOver = true
  expect(sentAway.filter(({ status }) => status === 503)).not.toEqual([])
  await crowd
  const replies = await times(30, () => login('203.0.113.70', username))
  expect(tried(sentAway) + tried(replies)).toBe(10)
})

test('one network has thirty attempts at whatever accounts', async () => {
  expect(tried(await times(40, (index) => login('203.0.113.30', `name${index}`)))).toBe(30)
})

test('successes count for nothing', async () => {
  const person = await app.person()
  for (let count = 0; count < 12; count += 1) {
    expect((await login('203.0.113.40', person.username, person.password)).body['success']).toBe(true)
  }
})

test('guessed at from many networks, an account leaves each few attempts, and its owner always one', async () => {
  const root = await app.person({ role: 100 })
  for (let network = 0; network < 6; network += 1) {
    await times(10, () => login(`198.51.100.${network}`, root.username))
  }
  expect(tried(await times(10, () => login('198.51.100.99', root.username)))).toBe(2)
  expect((await login('192.0.2.1', root.username, root.password)).body['success']).toBe(true)
  expect((await login('198.51.100.99', root.username, root.password)).status).toBe(429)
})

test('a stolen session tries ten current passwords, at once as in turn, and cannot shut its owner out elsewhere', async () => {
  const person = await app.person()
  const change = async (ip: string, currentPassword: string) => {
    const client = { ip, userAgent: '', secure: false, loopback: false, origin: '' }
    const api = await app.trpc(person, { client })
    return api.user.account.update({ password: 'a new password', currentPassword }).then(
      () => 'changed',
      (error: { cause?: { code?: string } }) => error.cause?.code,
    )
  }
  const outcomes = await times(30, () => change('203.0.113.50', 'wrong password'))
  expect(outcomes.filter((outcome) => outcome === 'user.password_wrong')).toHaveLength(10)
  expect(outcomes.filter((outcome) => outcome === 'rate_limited')).toHaveLength(20)
  expect(await change('203.0.113.51', person.password)).toBe('changed')
})

test('five wrong mail codes are tried of fifty at once', async () => {
  await app.sql(
    `insert into one_time_codes (purpose, subject, code_hash, attempts, created_at, expires_at)
     values ('email', 'wanted@x.example', $1, 0, now(), now() + interval '10 minutes')`,
    [app.services.secrets.hmac('email:wanted@x.example:code')],
  )
  const browser = await app.signedIn(await app.person())
  await times(50, () => browser.get('/api/oauth/email/bind', { query: { email: 'wanted@x.example', code: 'zzzzzz' } }))
  expect(await app.sql("select attempts from one_time_codes where subject = 'wanted@x.example'")).toEqual([
    { attempts: 5 },
  ])
})

test('every login of a batch counts', async () => {
  const app: App = await startApp()
  try {
    await app.make.user({ username: 'victim' })
    const anonymous = createTRPCClient<AppRouter>({
      links: [httpBatchLink({ url: `${app.url}/trpc`, transformer: superjson, headers: { origin: app.url } })],
    })
    const outcomes = await times(40, () =>
      anonymous.auth.login.mutate({ username: 'victim', password: 'wrong password' }).catch((error) => error.data),
    )
    expect(outcomes.filter(({ domainCode }) => domainCode === 'login.failed')).toHaveLength(10)
    expect(outcomes.filter(({ domainCode }) => domainCode === 'rate_limited')).toHaveLength(30)
  } finally {
    await app[Symbol.asyncDispose]()
  }
})
