import { type TOTP, URI } from 'otpauth'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { roles } from '#core/roles.ts'
import { setOptions } from '#test/relay/serve.ts'
import type { TestUser } from '#test/support/factories.ts'
import { startMailServer, textOf } from '#test/support/mail-server.ts'
import { accessTable, refusalOf, routesOf } from './access-table.ts'
import { callRest } from './callers.ts'
import { type SeededApp, startSeededApp } from './seeded-app.ts'
import { objectsOf } from './objects.ts'
import { restCalls, type RestSending } from './rest-calls.ts'
import { inParallel } from './walk.ts'
import { provedForms, refusal, wireForms } from './wire-forms.ts'

let world: SeededApp
beforeAll(async () => {
  world = await startSeededApp()
})
afterAll(() => world[Symbol.asyncDispose]())

/** Some of them act, although they are asked for as reads are. */
const isRead = (key: string) =>
  key.startsWith('GET') && !/update_balance|user\/token|user\/logout|oauth\/state|channel\/test$/.test(key)

const now = () => Math.floor(Date.now() / 1000)
const everything = { page_size: '100', start_timestamp: '1', end_timestamp: '9999999999' }
/** What makes a read answer with as much as there is. */
const widest: Readonly<Record<string, () => Record<string, string>>> = {
  'GET /api/user/': () => everything,
  'GET /api/log/': () => everything,
  'GET /api/log/self': () => everything,
  'GET /api/log/search': () => ({ keyword: '6' }),
  'GET /api/data/': () => everything,
  'GET /api/data/self': () => ({ start_timestamp: String(now() - 2_500_000), end_timestamp: String(now()) }),
  'GET /api/channel/': () => everything,
  'GET /api/redemption/': () => everything,
}

function checked(key: string, form: z.ZodType | undefined, { status, text }: { status: number; text: string }) {
  if (form === undefined) return [`${key} has no form`]
  const { error } = form.safeParse(text.startsWith('{') ? JSON.parse(text) : text)
  const shown = text.slice(0, 200)
  if (status !== 200) return [`${key}: ${status} ${shown}`]
  return (error?.issues ?? [])
    .slice(0, 5)
    .map(({ path, message }) => `${key} ${path.join('.')}: ${message} in ${shown}`)
}

/** Of the token that somebody has longest, which has calls in the log. */
async function ownKey(person: TestUser | null): Promise<string> {
  const { text } = await callRest(world.app, person, { key: 'GET /api/token/', query: { size: '100' } })
  return (JSON.parse(text) as { data?: { key: string }[] }).data?.at(-1)?.key ?? 'none'
}

const isEmptyList = (text: string): boolean => /"(?:data|items)":\[\]/.test(text)

/** A channel's test says how long it took in a refusal too. */
const timed = refusal.extend({ time: z.number() })

test('every documented read answers root, an administrator and a user in the form that clients read, and others with a bare refusal', async () => {
  const { app, people } = world
  const wrong: string[] = []
  const [empty, filled] = [new Set<string>(), new Set<string>()]
  const ordinary = await app.make.user()
  const reads = Object.keys(wireForms).filter(isRead)
  await inParallel(reads, async (key) => {
    const row = accessTable.rest[key]
    if (!row) return void wrong.push(`${key} is not served`)
    const isOfOwner = row.role === 'user'
    for (const actor of ['root', 'admin', 'user', 'anonymous'] as const) {
      const person = actor === 'anonymous' ? null : people[actor]
      const sending = (await restCalls[key]?.(objectsOf(app, isOfOwner ? (person?.id ?? 0) : ordinary.id))) ?? {}
      const query = key === 'GET /api/log/token' ? { key: await ownKey(person) } : (widest[key]?.() ?? sending.query)
      const answer = await callRest(app, person, { key, ...sending, ...(query ? { query } : {}) })
      if (refusalOf(row, actor) === undefined) {
        if (isEmptyList(answer.text)) empty.add(key)
        else filled.add(key)
        wrong.push(...checked(`${key} of ${actor}`, wireForms[key], answer))
        continue
      }
      const form = key.startsWith('GET /api/channel/test/') ? timed : refusal
      const status = actor === 'anonymous' ? 401 : 200
      const isBare = answer.status === status && form.safeParse(JSON.parse(answer.text)).success
      if (!isBare) wrong.push(`${key} refuses ${actor} with ${answer.status} ${answer.text.slice(0, 200)}`)
    }
  })
  expect(wrong).toEqual([])
  // A form that held nothing proves nothing.
  expect([...empty].filter((key) => !filled.has(key))).toEqual([])
})

/** What the other suites ask for in a way that is refused. */
const sendings: Readonly<Record<string, RestSending>> = {
  'POST /api/user/login': { body: { username: 'xiaochen', password: 'demo-password' } },
  'PUT /api/channel/tag': { body: { tag: 'sample', priority: 1 } },
  'DELETE /api/log/': { query: { target_timestamp: '1000.5' } },
  'POST /api/user/aff_transfer': { body: { quota: 500_000 } },
}

test('every documented change answers in the form that clients read', async () => {
  const { app } = world
  const wrong: string[] = []
  for (const key of Object.keys(wireForms).filter((key) => !isRead(key))) {
    const role = accessTable.rest[key]?.role
    const user = await app.make.user({ role: role === 'root' ? roles.root : role === 'admin' ? roles.admin : 1 })
    const about = objectsOf(app, role === 'user' ? user.id : (await app.make.user()).id)
    await app.pool.query('update users set aff_quota = 500000 where id = $1', [user.id])
    const upstream = { body: { type: 1, key: 'sk-x', base_url: app.upstream.url } }
    const own = key.endsWith('channel/fetch_models') ? upstream : sendings[key]
    const sending = own ?? (await restCalls[key]?.(about)) ?? {}
    wrong.push(
      ...checked(key, wireForms[key], await callRest(app, role === 'anyone' ? null : user, { key, ...sending })),
    )
  }
  expect(wrong).toEqual([])
})

/** Goes through what is answered only in its order: each step needs what an earlier one gave. */
async function prove({ app, people }: SeededApp, smtp: Awaited<ReturnType<typeof startMailServer>>) {
  const wrong: string[] = []
  const asked = new Set<string>()
  const ask = async (key: string, sending: RestSending & { headers?: Record<string, string> } = {}) => {
    const answer = await callRest(app, people.user, { key, ...sending })
    asked.add(key)
    wrong.push(...checked(key, provedForms[key], answer))
    return (JSON.parse(answer.text) as { data: Record<string, string> }).data
  }
  const mailed = async (pattern: RegExp) => {
    await expect.poll(() => smtp.mails.length).toBe(1)
    return pattern.exec(textOf(smtp.mails.pop()?.source ?? ''))?.[1] ?? ''
  }
  // What came before may have taken longer than a sign-in counts as a proof.
  await app.pool.query('update sessions set created_at = now()')
  const { qr_code_data: uri = '' } = await ask('POST /api/user/2fa/setup')
  // The next one: it is taken as early as this, and longest.
  const nextCode = (URI.parse(uri) as TOTP).generate({ timestamp: Date.now() + 30_000 })
  const first = await ask('POST /api/user/2fa/enable', { body: { code: nextCode } })
  const { backup_codes: codes } = await ask('POST /api/user/2fa/backup_codes', {
    body: { code: first['backup_codes']?.[0] },
  })
  await ask('POST /api/verify', { body: { code: codes?.[0] } })
  const { headers } = await fetch(`${app.url}/api/user/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'xiaochen', password: 'demo-password' }),
  })
  const cookie = headers.getSetCookie()[0]?.split(';')[0] ?? ''
  await ask('POST /api/user/login/2fa', { body: { code: codes?.[1] }, headers: { cookie } })
  await ask('POST /api/user/2fa/disable', { body: { code: codes?.[2] } })

  const query = { email: 'someone@x.example' }
  await ask('GET /api/verification', { query })
  const code = await mailed(/[：:]([0-9a-f]{6})\b/)
  await ask('GET /api/oauth/email/bind', { query: { ...query, code } })
  await ask('GET /api/reset_password', { query })
  const token = await mailed(/[?&]token=(\w+)/)
  await ask('POST /api/user/reset', { body: { ...query, token } })
  return { wrong, asked }
}

test('what has to be proved by a code or a mail answers in the form that clients read', async () => {
  const smtp = await startMailServer()
  await setOptions(world.app, {
    SMTPServer: '127.0.0.1',
    SMTPPort: String(smtp.port),
    SMTPFrom: 'gateway@x.example',
    ServerAddress: 'https://gateway.example',
  })
  const { wrong, asked } = await prove(world, smtp)
  await smtp.close()
  expect(wrong).toEqual([])
  expect([...asked]).toEqual(Object.keys(provedForms))
})

/** Their forms are held where what they need is there: an empty installation, providers, payments. */
const elsewhere = {
  'test/rest/site.test.ts': ['POST /api/setup'],
  'test/rest/oauth.test.ts': ['GET /api/oauth/github', 'GET /api/oauth/linuxdo', 'GET /api/oauth/oidc'],
  'test/rest/messengers.test.ts': [
    'GET /api/oauth/telegram/bind',
    'GET /api/oauth/telegram/login',
    'GET /api/oauth/wechat',
    'GET /api/oauth/wechat/bind',
  ],
  'test/payments/epay.test.ts': ['GET /api/user/epay/notify', 'POST /api/user/epay/notify'],
  'test/payments/stripe.test.ts': ['POST /api/user/stripe/webhook'],
}

test('no documented path is without its form but these', () => {
  const without = routesOf.rest().filter((key) => !(key in wireForms) && !(key in provedForms))
  expect(without.toSorted()).toEqual(Object.values(elsewhere).flat().toSorted())
})
