import { createHmac, hash } from 'node:crypto'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { refused } from '#test/support/console-app.ts'
import { call, type SignInWorld, startSignInWorld, type WorldBrowser } from '#test/support/sign-in/world.ts'

const world = await startSignInWorld({ TRUST_PROXY: '127.0.0.1' })
afterAll(() => world[Symbol.asyncDispose]())
beforeEach(() => world.reset())

let networks = 0
/** Wrong codes of one test do not use up the attempts of another. */
const elsewhere = () => ({ headers: { 'x-forwarded-for': `10.${(networks += 1)}.0.1` } })

type Person = Awaited<ReturnType<SignInWorld['app']['make']['user']>>

async function signedIn(): Promise<{ person: Person; browser: WorldBrowser }> {
  const person = await world.app.make.user()
  const browser = world.browser()
  browser.become(person.id, person.sessionId)
  return { person, browser }
}

const columnOf = async (id: number, column: string) =>
  (await world.sql(`select ${column} as value from users where id = $1`, [id]))[0]?.['value']

describe('a WeChat code', () => {
  const come = (browser: WorldBrowser, code: string, sending = elsewhere()) =>
    browser.get('/api/oauth/wechat', { query: { code }, ...sending })
  const bind = (browser: WorldBrowser, code: string) =>
    browser.get('/api/oauth/wechat/bind', { query: { code }, ...elsewhere() })
  const wrongCode = refused('验证码错误或已过期')

  it('makes an account at first, signs in to it the next time, and counts once', async () => {
    world.wechat.assign('111111', 'wx-first')
    const first = await come(world.browser(), ' 111111 ')
    const { id } = first.data as { id: number }
    expect(first.body).toMatchObject({ success: true, data: { role: 1, status: 1, wechat_id: '' } })
    expect(await world.sql('select username, wechat_id, password_hash from users where id = $1', [id])).toEqual([
      { username: `wechat_${id}`, wechat_id: 'wx-first', password_hash: null },
    ])
    expect(await come(world.browser(), '111111')).toMatchObject(wrongCode)
    world.wechat.assign('222222', 'wx-first')
    expect((await come(world.browser(), '222222')).data).toMatchObject({ id })
  })

  it('is asked for with the secret of the server that knows it, and nothing is asked without a code', async () => {
    const asked = world.wechat.asked.length
    expect(await come(world.browser(), '')).toMatchObject(wrongCode)
    expect(world.wechat.asked).toHaveLength(asked)
    await come(world.browser(), 'a&b=c')
    expect(world.wechat.asked.at(-1)?.headers.authorization).toBe('the wechat token')
    expect([...(world.wechat.asked.at(-1)?.url.searchParams ?? [])]).toEqual([['code', 'a&b=c']])
  })

  it('lets in nobody who is banned, who left, or whom a closed site does not know', async () => {
    world.wechat.assign('1', 'wx-second')
    const { id } = (await come(world.browser(), '1')).data as { id: number }
    const again = () => {
      world.wechat.assign('2', 'wx-second')
      return come(world.browser(), '2')
    }
    await world.sql('update users set status = 2 where id = $1', [id])
    expect(await again()).toMatchObject(refused('账号已被封禁'))
    await world.sql('update users set status = 1, deleted_at = now() where id = $1', [id])
    expect(await again()).toMatchObject(refused('用户已注销'))
    await world.setOptions({ RegisterEnabled: 'false' })
    world.wechat.assign('3', 'wx-stranger')
    expect(await come(world.browser(), '3')).toMatchObject(refused('管理员已关闭新用户注册'))
    await world.setOptions({ WeChatAuthEnabled: 'false' })
    expect(await come(world.browser(), '3')).toMatchObject(refused('管理员未开启通过微信登录及注册'))
  })

  it('signs in to a demonstration site, where it makes no account and binds nothing', async () => {
    world.wechat.assign('1', 'wx-demo')
    const { id } = (await come(world.browser(), '1')).data as { id: number }
    const { browser } = await signedIn()
    await world.setOptions({ DemoSiteEnabled: 'true' })
    const readOnly = { status: 405, body: { success: false, message: '本站仅作演示之用，无服务端！' } }
    world.wechat.assign('2', 'wx-demo')
    expect((await come(world.browser(), '2')).data).toMatchObject({ id })
    world.wechat.assign('3', 'wx-unknown')
    expect(await come(world.browser(), '3')).toMatchObject(readOnly)
    expect(await bind(browser, '3')).toMatchObject(readOnly)
    expect(await world.sql("select id from users where wechat_id = 'wx-unknown'")).toEqual([])
  })

  it('binds for the session, without the user-id header, and never what belongs to somebody', async () => {
    const { person, browser } = await signedIn()
    browser.become(null)
    world.wechat.assign('1', 'wx-bound')
    expect((await bind(browser, '1')).body).toEqual({ success: true, message: '' })
    expect(await columnOf(person.id, 'wechat_id')).toBe('wx-bound')
    const other = (await signedIn()).browser
    world.wechat.assign('2', 'wx-bound')
    expect(await bind(other, '2')).toMatchObject(refused('该微信账户已被绑定'))
    world.wechat.assign('3', 'wx-other')
    expect(await bind(browser, '3')).toMatchObject(refused('当前账户已绑定其他微信账户，请先解除绑定'))
    expect((await bind(world.browser(), '4')).status).toBe(401)
  })

  it('of one person, bound by fifty at once, is bound by one', async () => {
    const people = await Promise.all(Array.from({ length: 50 }, signedIn))
    people.forEach((_, at) => world.wechat.assign(`many-${at}`, 'wx-many'))
    const replies = await Promise.all(people.map(({ browser }, at) => bind(browser, `many-${at}`)))
    expect(replies.filter(({ body }) => body['success'])).toHaveLength(1)
    expect(replies.filter(({ body }) => body['message'] === '该微信账户已被绑定')).toHaveLength(49)
  })

  it.each(['broken', 'page', 'gone'] as const)(
    'of a server that is %s lets nobody in, and the try does not count',
    async (behaviour) => {
      world.wechat.behave(behaviour)
      const sending = elsewhere()
      expect(await come(world.browser(), '1', sending)).toMatchObject(refused('无法连接至微信服务器，请稍后重试！'))
      world.wechat.behave('normal')
      world.wechat.assign('1', 'wx-patient')
      expect((await come(world.browser(), '1', sending)).body['success']).toBe(true)
    },
  )

  it('is guessed at ten times from one network, and the server is asked no more often', async () => {
    const asked = world.wechat.asked.length
    const sending = elsewhere()
    for (let guess = 0; guess < 10; guess += 1)
      expect(await come(world.browser(), `guess-${guess}`, sending)).toMatchObject(wrongCode)
    world.wechat.assign('right', 'wx-guessed')
    expect((await come(world.browser(), 'right', sending)).status).toBe(429)
    expect(world.wechat.asked).toHaveLength(asked + 10)
  })
})

describe('WeChat codes', () => {
  it('are guessed at a hundred times in a quarter of an hour, from however many networks', async () => {
    const asked = world.wechat.asked.length
    const come = (at: number) =>
      world.browser().get('/api/oauth/wechat', {
        query: { code: `guess-${at}` },
        headers: { 'x-forwarded-for': `2001:db8:0:${at.toString(16)}::1` },
      })
    const replies = await Promise.all(Array.from({ length: 120 }, (_, at) => come(at)))
    // Wrong codes of the tests before count as well.
    expect(replies.filter(({ status }) => status === 429).length).toBeGreaterThanOrEqual(20)
    expect(world.wechat.asked.length - asked).toBeLessThanOrEqual(100)
    expect((await come(121)).status).toBe(429)
  })
})

describe('what Telegram signed', () => {
  const seconds = () => Math.floor(Date.now() / 1000)
  let serial = 0
  /** What the widget hands over for somebody. */
  function widget(fields: Record<string, string> = {}, token = '123456:TEST'): Record<string, string> {
    const signed = { id: '4242', first_name: 'Ann', auth_date: String(seconds()), photo_url: `x${serial}`, ...fields }
    serial += 1
    const lines = Object.entries(signed).map(([name, value]) => `${name}=${value}`)
    const text = lines.toSorted().join('\n')
    return {
      ...signed,
      hash: createHmac('sha256', hash('sha256', token, 'buffer'))
        .update(text)
        .digest('hex'),
    }
  }
  const come = (query: Record<string, string>) => world.browser().get('/api/oauth/telegram/login', { query })
  const bind = (browser: WorldBrowser, query: Record<string, string>) =>
    browser.get('/api/oauth/telegram/bind', { query })
  const expired = refused('Telegram 授权已过期，请重试')
  const bound = async (id: string) => {
    const { person, browser } = await signedIn()
    await world.sql('update users set telegram_id = $2 where id = $1', [person.id, id])
    return { person, browser }
  }

  it('binds by leading the browser back to the personal settings, and signs in after that', async () => {
    const { person, browser } = await signedIn()
    browser.become(null)
    expect(await come(widget())).toMatchObject(refused('该 Telegram 账户未绑定'))
    const reply = await bind(browser, widget())
    expect([reply.status, reply.headers.get('location')]).toEqual([302, '/app/me'])
    expect(await columnOf(person.id, 'telegram_id')).toBe('4242')
    expect((await come(widget({ lang: 'en' }))).data).toMatchObject({ id: person.id })
  })

  it('signs in to a demonstration site, where it binds nothing', async () => {
    const { person } = await bound('58')
    const { browser } = await signedIn()
    await world.setOptions({ DemoSiteEnabled: 'true' })
    expect((await come(widget({ id: '58' }))).data).toMatchObject({ id: person.id })
    expect(await bind(browser, widget({ id: '59' }))).toMatchObject({ status: 405 })
  })

  it('counts for five minutes', async () => {
    const { person } = await bound('51')
    const aged = (age: number) => come(widget({ id: '51', auth_date: String(seconds() - age) }))
    expect((await aged(240)).data).toMatchObject({ id: person.id })
    expect(await aged(305)).toMatchObject(expired)
    expect(await aged(-90)).toMatchObject(expired)
    expect(await aged(Number.NaN)).toMatchObject(expired)
  })

  it('counts once, also for fifty who bring it at once, and for login and binding together', async () => {
    await bound('52')
    const signed = widget({ id: '52' })
    const replies = await Promise.all(Array.from({ length: 50 }, () => come(signed)))
    expect(replies.filter(({ body }) => body['success'])).toHaveLength(1)
    expect(await come(signed)).toMatchObject(expired)
    const again = widget({ id: '53' })
    const { browser } = await signedIn()
    expect((await bind(browser, again)).status).toBe(302)
    expect(await come(again)).toMatchObject(expired)
    // The letter case of the signature makes no other of it.
    const upper = widget({ id: '52' })
    expect((await come(upper)).body['success']).toBe(true)
    expect(await come({ ...upper, hash: (upper['hash'] ?? '').toUpperCase() })).toMatchObject(expired)
  })

  it('is nobody’s where it was signed for another bot, changed, or not signed', async () => {
    await bound('54')
    const { hash: _, ...unsigned } = widget({ id: '54' })
    const forgeries: Record<string, string>[] = [
      widget({ id: '54' }, '654321:OTHER'),
      { ...widget({ id: '55' }), id: '54' },
      { ...widget({ id: '54', auth_date: '1' }), auth_date: String(seconds()) },
      unsigned,
      { ...widget({ id: '54' }), extra: 'field' },
    ]
    for (const forgery of forgeries) expect(await come(forgery)).toMatchObject(refused('Telegram 登录校验失败'))
  })

  it('lets in nobody who is banned or who left, and never binds what belongs to somebody', async () => {
    const { person } = await bound('56')
    const other = (await signedIn()).browser
    expect(await bind(other, widget({ id: '56' }))).toMatchObject(refused('该 Telegram 账户已被绑定'))
    await world.sql('update users set status = 2 where id = $1', [person.id])
    expect(await come(widget({ id: '56' }))).toMatchObject(refused('账号已被封禁'))
    await world.sql('update users set status = 1, deleted_at = now() where id = $1', [person.id])
    expect(await come(widget({ id: '56' }))).toMatchObject(refused('用户已注销'))
    expect((await bind(world.browser(), widget())).status).toBe(401)
    await world.setOptions({ TelegramOAuthEnabled: 'false' })
    expect(await come(widget({ id: '56' }))).toMatchObject(refused('管理员未开启通过 Telegram 登录及注册'))
  })

  it('of one person, bound by fifty at once, is bound by one', async () => {
    const people = await Promise.all(Array.from({ length: 50 }, signedIn))
    const replies = await Promise.all(people.map(({ browser }) => bind(browser, widget({ id: '57' }))))
    expect(replies.filter(({ status }) => status === 302)).toHaveLength(1)
    expect(replies.filter(({ body }) => body['message'] === '该 Telegram 账户已被绑定')).toHaveLength(49)
  })
})

describe.each(['github', 'oidc', 'linuxdo', 'wechat', 'telegram'] as const)('a binding of %s', (provider) => {
  const column = {
    github: 'github_id',
    oidc: 'oidc_id',
    linuxdo: 'linux_do_id',
    wechat: 'wechat_id',
    telegram: 'telegram_id',
  }
  const bind = async (password: string | null) => {
    const { person, browser } = await signedIn()
    await world.sql(`update users set ${column[provider]} = $2, oidc_issuer = $3, password_hash = $4 where id = $1`, [
      person.id,
      `un-${provider}-${person.id}`,
      provider === 'oidc' ? world.oidc.url : '',
      password,
    ])
    return { person, browser, unbind: () => call(browser, 'user.account.bindings.unbind', { provider }) }
  }

  it('is undone by its owner, once, and recorded', async () => {
    const { person, unbind } = await bind('a hash')
    const replies = await Promise.all(Array.from({ length: 10 }, unbind))
    expect(replies.filter(({ code }) => code === null)).toHaveLength(1)
    expect(replies.filter(({ code }) => code === 'identity.not_bound')).toHaveLength(9)
    expect(
      await world.sql(`select ${column[provider]} as id, oidc_issuer from users where id = $1`, [person.id]),
    ).toEqual([{ id: null, oidc_issuer: '' }])
    expect(await world.sql('select action, before from audit_entries where actor_id = $1', [person.id])).toEqual([
      { action: 'account.unbind', before: { [provider]: `un-${provider}-${person.id}` } },
    ])
  })

  it('stays where it is the only way to sign in', async () => {
    const { person, unbind } = await bind(null)
    expect(await unbind()).toMatchObject({ code: 'identity.only_way' })
    expect(await columnOf(person.id, column[provider])).not.toBeNull()
  })
})
