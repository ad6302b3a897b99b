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

const refusalOf = async (api: Api, path: string): Promise<unknown> => {
  const procedure = path.split('.').reduce<unknown>((level, name) => (level as Record<string, unknown>)[name], api)
  const error = await (procedure as (input: unknown) => Promise<unknown>)({ nothing: 'that fits' }).then(
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

it('refuses an ordinary user every procedure of administration', async () => {
  const user = await app.trpc(await app.person())
  for (const path of paths.filter((name) => name.startsWith('admin.'))) {
    expect([path, await refusalOf(user, path)]).toEqual([path, 'session.role_insufficient'])
  }
})
