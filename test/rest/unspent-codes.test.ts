import { afterAll, beforeEach, expect, it } from 'vitest'
import { hashPassword } from '#features/auth/password.ts'
import { startConsole } from '#test/support/console-app.ts'
import { startMailServer, textOf } from '#test/support/mail-server.ts'

const smtp = await startMailServer()
const app = await startConsole()
await app.sql("insert into setup_records (id, version, initialized_at) values (1, '0', now())")
await app.setOptions({
  SMTPServer: '127.0.0.1',
  SMTPPort: String(smtp.port),
  SMTPFrom: 'gateway@x.example',
  EmailVerificationEnabled: 'true',
})
afterAll(async () => {
  await smtp.close()
  await app[Symbol.asyncDispose]()
})
beforeEach(() => void (smtp.mails.length = 0))

async function mailed(path: string, email: string, secret: RegExp): Promise<string> {
  expect((await app.browser().get(path, { query: { email } })).body).toMatchObject({ success: true })
  const received = () => smtp.mails.find(({ to }) => to.includes(email))
  await expect.poll(received).toBeDefined()
  return secret.exec(textOf(received()?.source ?? ''))?.[1] ?? 'none'
}
const codeFor = (email: string) => mailed('/api/verification', email, /[：:]([0-9a-f]{6})\b/)
const linkFor = (email: string) => mailed('/api/reset_password', email, /token=([0-9a-f]{32})/)
const register = (username: string, email: string, code: string) =>
  app.browser().post('/api/user/register', { username, password: 'long enough', email, verification_code: code })

/** While so many passwords are being hashed that no other is taken. */
async function whileBusy<Result>(act: () => Promise<Result>): Promise<Result> {
  let isOver = false
  const hashOthers = async (): Promise<void> => {
    while (!isOver) await hashPassword('somebody else')
  }
  const others = Array.from({ length: 102 }, hashOthers)
  try {
    return await act()
  } finally {
    isOver = true
    await Promise.all(others)
  }
}

it('neither a code nor a link is spent while no password can be hashed', async () => {
  const [newAddress, email] = ['busy@x.example', 'forgetful@x.example']
  await app.person({ email, emailNormalized: email })
  const [code, token] = [await codeFor(newAddress), await linkFor(email)]
  const acts = [
    () => register('busy', newAddress, code),
    () => app.browser().post('/api/user/reset', { email, token }),
  ] as const
  const during = await whileBusy(() => Promise.all(acts.map((act) => act())))
  expect(during.map(({ status }) => status)).toEqual([503, 503])
  for (const act of acts) expect((await act()).body).toMatchObject({ success: true })
})

it('a code is not spent on a name that somebody else takes at the same moment', async () => {
  const people = await Promise.all(
    ['left@x.example', 'right@x.example'].map(async (email) => ({ email, code: await codeFor(email) })),
  )
  const replies = await Promise.all(people.map(({ email, code }) => register('wanted', email, code)))
  const loser = people[replies.findIndex(({ body }) => body['success'] === false)]
  expect(replies.filter(({ body }) => body['success'])).toHaveLength(1)
  expect((await register('another', loser?.email ?? '', loser?.code ?? '')).body['success']).toBe(true)
})

it('a code is not spent on an address that the account may not have, and wrong ones are counted all the same', async () => {
  const email = 'late@x.example'
  const code = await codeFor(email)
  const other = await app.person({ email, emailNormalized: email })
  const browser = await app.signedIn(await app.person({}))
  const bind = (typed: string) => browser.get('/api/oauth/email/bind', { query: { email, code: typed } })
  expect((await bind(code)).body['success']).toBe(false)
  await app.sql("update users set email = '', email_normalized = null where id = $1", [other.id])
  for (let count = 0; count < 4; count += 1) expect((await bind('zzzzzz')).body['success']).toBe(false)
  expect((await bind(code)).body['success']).toBe(true)
})
