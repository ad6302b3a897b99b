import type { OptionKey } from '#core/options/registry/index.ts'
import { setOptionsWithin } from '#features/options/service.ts'
import { startApp } from '../app.ts'
import { createBrowser } from '../console-app.ts'
import { startGitHub, startLinuxDo, startWeChat } from './oauth-servers.ts'
import { startOidc } from './oidc-server.ts'

const client = { id: 'the client', secret: 'the client secret' }
const wechatToken = 'the wechat token'
const botToken = '123456:TEST'

/** The whole product beside every provider it lets people sign in by, all of them switched on. */
export async function startSignInWorld(environment: Record<string, string> = {}) {
  const github = await startGitHub(client)
  const linuxdo = await startLinuxDo(client)
  const wechat = await startWeChat(wechatToken)
  const app = await startApp({
    environment: {
      GITHUB_URL: github.url,
      LINUXDO_URL: linuxdo.url,
      // Crowds of tests are served to the last on a machine that others have busy, too.
      SIGN_IN_TIMEOUT_SECONDS: '300',
      ...environment,
    },
  })
  github.register(`${app.url}/oauth/github`)
  const oidc = await startOidc({ ...client, redirectUris: [`${app.url}/oauth/oidc`] })
  await app.pool.query("insert into setup_records (id, version, initialized_at) values (1, '0', now())")
  const setOptions = async (texts: Partial<Record<OptionKey, string>>) => {
    const { database, secrets, ambient, options } = app.services
    await database.orm.em.fork().transactional(async (em) => {
      await setOptionsWithin({ em, secrets, ambient, actor: null, client: { ip: '127.0.0.1' } }, texts)
    })
    await options.reload()
  }
  /** As the tests find it. */
  const switchOn = () =>
    setOptions({
      GitHubClientId: client.id,
      GitHubClientSecret: client.secret,
      GitHubOAuthEnabled: 'true',
      LinuxDOClientId: client.id,
      LinuxDOClientSecret: client.secret,
      LinuxDOOAuthEnabled: 'true',
      'oidc.client_id': client.id,
      'oidc.client_secret': client.secret,
      'oidc.well_known': oidc.wellKnown,
      'oidc.enabled': 'true',
      WeChatServerAddress: wechat.url,
      WeChatServerToken: wechatToken,
      WeChatAuthEnabled: 'true',
      TelegramBotToken: botToken,
      TelegramBotName: 'test_bot',
      TelegramOAuthEnabled: 'true',
    })
  await switchOn()
  return {
    app,
    github,
    linuxdo,
    wechat,
    oidc,
    switchOn,
    setOptions,
    /** Providers answer and options are as at the start. */
    reset: async () => {
      for (const provider of [github, linuxdo, wechat]) provider.behave('normal')
      await app.pool.query('delete from options')
      await switchOn()
    },
    browser: () => createBrowser(app.url),
    sql: async (text: string, values: unknown[] = []) =>
      (await app.pool.query(text, values)).rows as Record<string, unknown>[],
    [Symbol.asyncDispose]: async () => {
      await app[Symbol.asyncDispose]()
      for (const server of [github, linuxdo, wechat, oidc]) await server[Symbol.asyncDispose]()
    },
  }
}

export type SignInWorld = Awaited<ReturnType<typeof startSignInWorld>>

export type WorldBrowser = ReturnType<typeof createBrowser>

/** The typed client of a browser, with its cookies: what the console itself calls. */
export async function call(browser: WorldBrowser, path: string, input: unknown): Promise<Called> {
  const reply = await browser.post(`/trpc/${path}`, { json: input })
  const { result, error } = reply.body as {
    result?: { data: { json: unknown } }
    error?: { json: { data: { domainCode?: string }; message: string } }
  }
  return { status: reply.status, data: result?.data.json, code: error?.json.data.domainCode ?? null }
}
type Called = { status: number; data: unknown; code: string | null }

/** Follows the browser from the provider's address to the page of ours that it leads back to; gives what stands there. */
export async function travel(address: string): Promise<URLSearchParams> {
  const jar = new Map<string, string>()
  let next = address
  for (let hop = 0; hop < 10; hop += 1) {
    const reply = await fetch(next, {
      redirect: 'manual',
      headers: { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; ') },
    })
    await reply.arrayBuffer()
    for (const cookie of reply.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
      jar.set(name, value)
    }
    const location = reply.headers.get('location')
    if (location === null) throw new Error(`the provider answered ${reply.status}`)
    const target = new URL(location, next)
    if (target.searchParams.has('code') || target.searchParams.has('error')) return target.searchParams
    next = target.href
  }
  throw new Error('the provider leads nowhere')
}
