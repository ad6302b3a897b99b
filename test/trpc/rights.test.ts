import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Api, appRouter } from '#server/app-router.ts'
import { type ConsoleApp, startConsole } from '#test/support/console-app.ts'

let app: ConsoleApp

beforeAll(async () => {
  app = await startConsole()
})
afterAll(() => app[Symbol.asyncDispose]())

/** Procedures that anyone may call; a new one has to be written down here. */
const open = [
  'auth.login',
  'auth.logout',
  'auth.oauth.finish',
  'auth.oauth.start',
  'auth.oauth.state',
  'auth.register',
  'auth.requestPasswordReset',
  'auth.resetPassword',
  'auth.sendVerificationCode',
  'auth.telegram',
  'auth.wechat',
  'auth.whoami',
  'public.groups.list',
  'public.models.pricing',
  'public.secondFactor.finishByCode',
  'public.secondFactor.finishByPasskey',
  'public.secondFactor.finishOptions',
  'public.secondFactor.loginByPasskey',
  'public.secondFactor.passkeyOptions',
  'site.about',
  'site.homePageContent',
  'site.notice',
  'site.setup',
  'site.setupStatus',
  'site.status',
]
/** Outside `user`, yet only for whoever signed in. */
const signedIn = ['auth.bindEmail']

const paths = Object.keys(appRouter._def.procedures)

const refusalOf = async (api: Api, path: string, input: object = { nothing: 'that fits' }): Promise<unknown> => {
  const procedure = path.split('.').reduce<unknown>((level, name) => (level as Record<string, unknown>)[name], api)
  const error = await (procedure as (given: unknown) => Promise<unknown>)(input).then(
    () => null,
    (thrown: unknown) => thrown,
  )
  const { cause } = (error ?? {}) as { cause?: { code?: string } }
  return cause?.code ?? null
}

it('sorts every procedure into those for anyone, for users and for administrators', () => {
  const known = (path: string) => /^(user|admin)\./.test(path) || open.includes(path) || signedIn.includes(path)
  expect(paths.filter((path) => !known(path))).toEqual([])
  expect(open.filter((path) => !paths.includes(path))).toEqual([])
})

it('asks strangers to sign in, whatever else is wrong with the call', async () => {
  const stranger = await app.trpc(null)
  for (const path of paths.filter((name) => !open.includes(name))) {
    expect([path, await refusalOf(stranger, path)]).toEqual([path, 'session.required'])
  }
})

it('finds nothing that belongs to somebody else by its number', async () => {
  const owner = await app.person()
  const own = await app.trpc(owner)
  const token = await own.user.tokens.create({ name: 'mine', unlimitedQuota: true })
  const root = await app.trpc(await app.person({ role: 100 }))
  const message = await root.admin.messages.create({
    title: 'Hello',
    content: 'you alone',
    format: 'plain',
    recipients: { userIds: [owner.id] },
  })
  await app.sql(
    `insert into passkeys (user_id, name, credential_id, public_key, site) values ($1, 'phone', 'theirs', '', 'localhost')`,
    [owner.id],
  )
  await app.sql(
    `insert into top_up_orders (user_id, quota, currency, money_minor, gateway, trade_no)
     values ($1, 100, 'CNY', 730, 'epay', 'THEIRS')`,
    [owner.id],
  )
  await app.sql(
    `insert into logs (user_id, username, type, content, request_id) values ($1, $2, 2, '', 'their-request')`,
    [owner.id, owner.username],
  )
  const [passkey] = await app.sql('select id from passkeys where user_id = $1', [owner.id])
  const [session] = await app.sql('select public_id from sessions where user_id = $1', [owner.id])
  const inputs: Record<string, object> = {
    'tokens.get': token,
    'tokens.reveal': token,
    'tokens.update': { ...token, name: 'stolen' },
    'tokens.setStatus': { id: token.id, status: 2 },
    'tokens.rotate': { id: token.id, graceSeconds: 0 },
    'tokens.remove': token,
    'messages.get': message,
    'messages.markRead': message,
    'orders.get': { tradeNo: 'THEIRS' },
    'logs.get': { requestId: 'their-request' },
    'secondFactor.passkeys.rename': { id: passkey?.['id'], name: 'stolen' },
    'secondFactor.passkeys.remove': { id: passkey?.['id'] },
    'sessions.revoke': { id: session?.['public_id'] },
  }
  const thief = await app.trpc(await app.person())
  for (const [path, input] of Object.entries(inputs))
    expect([path, await refusalOf(thief, `user.${path}`, input)]).toEqual([
      path,
      expect.stringMatching(/not_found$|order_unknown$/),
    ])
  expect(await own.user.tokens.get({ id: token.id })).toMatchObject({ name: 'mine', status: 1 })
  expect(await own.user.messages.unreadCount()).toBe(1)
})

it('refuses an ordinary user every procedure of administration', async () => {
  const user = await app.trpc(await app.person())
  for (const path of paths.filter((name) => name.startsWith('admin.'))) {
    expect([path, await refusalOf(user, path)]).toEqual([path, 'session.role_insufficient'])
  }
})
