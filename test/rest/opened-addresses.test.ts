import { describe, expect, it } from 'vitest'
import { refused, startFileConsole } from '#test/support/console-app.ts'

const app = await startFileConsole()
const refusal = refused('请求来源不受信任')
const browserName = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0' }

/** What a browser sends with an address that did not come from our own pages; over plain http it sends no `sec-fetch-site`. */
const openedElsewhere: [string, Record<string, string>][] = [
  ['by a mail program', { ...browserName, 'sec-fetch-site': 'none' }],
  ['by another site', { ...browserName, 'sec-fetch-site': 'cross-site' }],
  ['by another name of this domain', { ...browserName, 'sec-fetch-site': 'same-site' }],
  ['by whatever it was, over plain http', browserName],
  ['by another site, over plain http', { ...browserName, referer: 'http://evil.example/page' }],
  ['by another site’s script, over plain http', { ...browserName, origin: 'http://evil.example' }],
]

/** The documented paths that change something and name nobody in a header, with what they say once they are let in. */
const paths: [string, string][] = [
  ['/api/oauth/email/bind', '验证码错误或已过期'],
  ['/api/oauth/wechat/bind', '管理员未开启通过微信登录及注册'],
  ['/api/oauth/telegram/bind', '管理员未开启通过 Telegram 登录及注册'],
  ['/api/oauth/wechat', '管理员未开启通过微信登录及注册'],
  ['/api/oauth/telegram/login', '管理员未开启通过 Telegram 登录及注册'],
]
const query = { email: 'm@evil.example', code: '123abc' }

describe.each(paths)('the address %s', (path, within) => {
  it.each(openedElsewhere)('opened %s does nothing', async (_, headers) => {
    const browser = await signedIn()
    expect(await browser.get(path, { query, headers })).toMatchObject(refusal)
  })

  it('is served to our own pages, to programs with a cookie, and to whoever names the user', async () => {
    const browser = await signedIn()
    const { host } = new URL(app.url)
    const trusted: Record<string, string>[] = [
      { ...browserName, 'sec-fetch-site': 'same-origin' },
      { ...browserName, referer: `http://${host}/app/me` },
      { ...browserName, origin: `http://${host}` },
      { ...browserName, 'new-api-user': '-1' },
      { 'user-agent': 'curl/8.5.0' },
      {},
    ]
    for (const headers of trusted)
      expect(await browser.get(path, { query, headers }), JSON.stringify(headers)).toMatchObject(refused(within))
  })
})

it('a system access token is no cookie that a browser sends by itself: its scripts are served whatever they call themselves', async () => {
  const person = await app.person()
  const headers = { authorization: String((await (await app.signedIn(person)).get('/api/user/token')).data) }
  const asked = { query, headers: { ...headers, ...browserName } }
  expect(await app.browser().get('/api/oauth/wechat', asked)).toMatchObject(refused('管理员未开启通过微信登录及注册'))
})

/** A browser whose cookie is all that says who it is. */
async function signedIn() {
  const browser = await app.signedIn(await app.person())
  browser.become(null)
  return browser
}
