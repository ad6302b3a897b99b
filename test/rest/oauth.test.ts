import { afterAll, beforeEach, describe, expect, it, test } from 'vitest'
import { refused } from '#test/support/console-app.ts'
import { columnOf, createVisits } from '#test/support/sign-in/visits.ts'
import { call, startSignInWorld, travel, type WorldBrowser } from '#test/support/sign-in/world.ts'
import { long } from '#test/support/long.ts'

const world = await startSignInWorld()
afterAll(() => world[Symbol.asyncDispose]())
beforeEach(() => world.reset())

const { newUser, setOut, finish, signIn, userOf } = createVisits(() => world)
const wrongState = { status: 403, body: { success: false, message: '登录状态校验失败，请重新登录' } }

describe.each(['github', 'oidc', 'linuxdo'] as const)('signing in by %s', (provider) => {
  it('makes an account at first, which the next time is signed in to under a new session', async () => {
    const id = newUser(provider)
    const browser = world.browser()
    const reply = await signIn(browser, provider)
    const user = await userOf(provider, id)
    expect(reply).toMatchObject({
      status: 200,
      body: { success: true, message: '' },
      data: { id: user?.['id'], username: user?.['username'], role: 1, status: 1, group: 'default', github_id: '' },
    })
    expect(user).toMatchObject({ role: 1, status: 1, password_hash: null })
    browser.become(Number(user?.['id']))
    expect((await browser.get('/api/user/self')).data).toMatchObject({ [columnOf(provider)]: id })

    const [again, before] = [world.browser(), await world.sql('select count(*) from users')]
    const second = await signIn(again, provider)
    expect(second.data).toMatchObject({ id: user?.['id'] })
    expect(await world.sql('select count(*) from users')).toEqual(before)
    expect(again.session()).not.toBe(browser.session())
  })

  it('makes no account while registration is closed, and signs in those it knows', async () => {
    const known = newUser(provider)
    await signIn(world.browser(), provider)
    await world.setOptions({ RegisterEnabled: 'false' })
    expect((await signIn(world.browser(), provider)).body['success']).toBe(true)
    const unregistered = newUser(provider)
    expect(await signIn(world.browser(), provider)).toMatchObject(refused('管理员已关闭新用户注册'))
    expect(await userOf(provider, unregistered)).toBeUndefined()
    expect(await userOf(provider, known)).toBeDefined()
  })

  it('carries an invitation through', async () => {
    const inviter = await world.app.make.user()
    const code = `C${provider.slice(0, 3)}`
    await world.sql('update users set aff_code = $2 where id = $1', [inviter.id, code])
    await world.setOptions({ QuotaForInviter: '30', QuotaForInvitee: '20' })
    const id = newUser(provider)
    const browser = world.browser()
    await finish(browser, provider, await setOut(browser, provider, code))
    expect(await userOf(provider, id)).toMatchObject({ inviter_id: inviter.id, quota: '20' })
    expect(await world.sql('select aff_count, aff_quota from users where id = $1', [inviter.id])).toEqual([
      { aff_count: 1, aff_quota: '30' },
    ])
  })

  it('takes a code that cannot be an invitation for none', async () => {
    const [code, id, browser] = ['a'.repeat(300), newUser(provider), world.browser()]
    expect((await browser.get('/api/oauth/state', { query: { aff: code } })).body).toMatchObject({ success: true })
    const reply = await finish(browser, provider, await setOut(browser, provider, code))
    expect(reply.body['success']).toBe(true)
    expect(await userOf(provider, id)).toMatchObject({ inviter_id: 0 })
  })

  it('binds for whoever is signed in and says the word that clients compare', async () => {
    const id = newUser(provider)
    const person = await world.app.make.user()
    const browser = world.browser()
    browser.become(person.id, person.sessionId)
    const reply = await signIn(browser, provider)
    expect(reply.body).toEqual({ success: true, message: 'bind' })
    expect(await userOf(provider, id)).toMatchObject({ id: person.id })
    expect(
      await world.sql('select action, target_id, after from audit_entries where actor_id = $1', [person.id]),
    ).toEqual([
      { action: 'account.bind', target_id: String(person.id), after: expect.objectContaining({ [provider]: id }) },
    ])
    expect((await signIn(world.browser(), provider)).data).toMatchObject({ id: person.id })
  })

  it('binds for whoever has a second factor only after a recent proof, however the browser set out', async () => {
    const id = newUser(provider)
    const person = await world.app.make.user()
    await world.sql(`insert into authenticators (user_id, secret_encrypted, confirmed_at) values ($1, '', now())`, [
      person.id,
    ])
    const browser = world.browser()
    browser.become(person.id, person.sessionId)
    expect((await signIn(browser, provider)).body['success']).toBe(false)
    expect(await userOf(provider, id)).toBeUndefined()
    const proveFor = (minutes: number) =>
      world.sql('update sessions set verified_at = now() - make_interval(mins => $2) where user_id = $1', [
        person.id,
        minutes,
      ])
    // One that runs out on the way spends neither the state nor the code.
    await proveFor(5)
    const back = await setOut(browser, provider)
    await proveFor(11)
    expect((await finish(browser, provider, back)).body['success']).toBe(false)
    await proveFor(0)
    expect((await finish(browser, provider, back)).body).toEqual({ success: true, message: 'bind' })
    expect(await userOf(provider, id)).toMatchObject({ id: person.id })
  })

  it('refuses to bind what belongs to somebody, also to somebody who left', async () => {
    const id = newUser(provider)
    await signIn(world.browser(), provider)
    const person = await world.app.make.user()
    const browser = world.browser()
    browser.become(person.id, person.sessionId)
    expect((await signIn(browser, provider)).body['message']).toMatch(/^该 .+ 账户已被绑定$/)
    await world.sql(`update users set deleted_at = now() where ${columnOf(provider)} = $1`, [id])
    expect((await signIn(browser, provider)).body['message']).toMatch(/^该 .+ 账户已被绑定$/)
    expect(await signIn(world.browser(), provider)).toMatchObject(refused('用户已注销'))
  })

  it('never swaps one bound account for another', async () => {
    const first = newUser(provider)
    const browser = world.browser()
    const reply = await signIn(browser, provider)
    browser.become((reply.data as { id: number }).id)
    newUser(provider)
    expect((await signIn(browser, provider)).body['message']).toMatch(/^当前账户已绑定其他/)
    expect(await userOf(provider, first)).toMatchObject({ id: (reply.data as { id: number }).id })
  })

  it('lets nobody in who is banned', async () => {
    const id = newUser(provider)
    await signIn(world.browser(), provider)
    await world.sql(`update users set status = 2 where ${columnOf(provider)} = $1`, [id])
    expect(await signIn(world.browser(), provider)).toMatchObject(refused('账号已被封禁'))
  })

  it('is asked for under the id that the provider gave this site', async () => {
    const key = { github: 'GitHubClientId', oidc: 'oidc.client_id', linuxdo: 'LinuxDOClientId' } as const
    await world.setOptions({ [key[provider]]: 'another client' })
    const { data } = await call(world.browser(), 'auth.oauth.start', { provider })
    const { address } = data as { address: string }
    expect(new URL(address).searchParams.get('client_id')).toBe('another client')
  })

  it('signs in to a demonstration site, where it makes no account and binds for root alone', async () => {
    newUser(provider)
    await signIn(world.browser(), provider)
    const [person, root] = [await world.app.make.user(), await world.app.make.user({ role: 100 })]
    const [bound, rootBrowser] = [world.browser(), world.browser()]
    bound.become(person.id, person.sessionId)
    rootBrowser.become(root.id, root.sessionId)
    await world.setOptions({ DemoSiteEnabled: 'true' })
    const readOnly = { status: 405, body: { success: false, message: '本站仅作演示之用，无服务端！' } }
    expect((await signIn(world.browser(), provider)).body).toMatchObject({ success: true })
    const unknown = newUser(provider)
    expect(await signIn(world.browser(), provider)).toMatchObject(readOnly)
    expect(await signIn(bound, provider)).toMatchObject(readOnly)
    expect(await userOf(provider, unknown)).toBeUndefined()
    expect((await signIn(rootBrowser, provider)).body).toEqual({ success: true, message: 'bind' })
    expect(await userOf(provider, unknown)).toMatchObject({ id: root.id })
    expect((await signIn(world.browser(), provider)).data).toMatchObject({ id: root.id })
  })

  it('is refused while it is switched off, at the start and at the end', async () => {
    newUser(provider)
    const browser = world.browser()
    const back = await setOut(browser, provider)
    const key = { github: 'GitHubOAuthEnabled', oidc: 'oidc.enabled', linuxdo: 'LinuxDOOAuthEnabled' } as const
    await world.setOptions({ [key[provider]]: 'false' })
    expect((await finish(browser, provider, back)).body['message']).toMatch(/^管理员未开启通过 .+ 登录及注册$/)
    expect(await call(browser, 'auth.oauth.start', { provider })).toMatchObject({ code: 'oauth.disabled' })
  })

  it('says what the provider refused, and spends the state on it', async () => {
    const browser = world.browser()
    const { data: state } = await browser.get('/api/oauth/state')
    const denied = { state: String(state), error: 'access_denied', error_description: 'The user said no' }
    expect((await finish(browser, provider, denied)).body['message']).toMatch(/拒绝了授权：The user said no$/)
    expect(await finish(browser, provider, denied)).toMatchObject(wrongState)
  })

  it('takes no code twice', async () => {
    newUser(provider)
    const browser = world.browser()
    const back = await setOut(browser, provider)
    expect((await finish(browser, provider, back)).body['success']).toBe(true)
    const thief = world.browser()
    const { state } = await setOut(thief, provider)
    expect((await finish(thief, provider, { ...back, state: state ?? '' })).body).toMatchObject({ success: false })
  })

  it.runIf(long || provider === 'github')(
    'makes one account of fifty first sign-ins at once, and lets them all in',
    async () => {
      const id = newUser(provider)
      const browsers = Array.from({ length: 50 }, () => world.browser())
      const backs = await Promise.all(browsers.map((browser) => setOut(browser, provider)))
      const replies = await Promise.all(
        browsers.map((browser, index) => finish(browser, provider, backs[index] as Record<string, string>)),
      )
      const user = await userOf(provider, id)
      expect(replies.map(({ data }) => (data as { id: number } | undefined)?.id)).toEqual(Array(50).fill(user?.['id']))
    },
  )
})

describe.each(long ? (['github', 'oidc'] as const) : (['oidc'] as const))('binding %s, fifty at once,', (provider) => {
  it('gives one identity to one of fifty people', async () => {
    const id = newUser(provider)
    const people = await Promise.all(Array.from({ length: 50 }, () => world.app.make.user()))
    const browsers = people.map((person) => {
      const browser = world.browser()
      browser.become(person.id, person.sessionId)
      return browser
    })
    const backs = await Promise.all(browsers.map((browser) => setOut(browser, provider)))
    const replies = await Promise.all(
      browsers.map((browser, index) => finish(browser, provider, backs[index] as Record<string, string>)),
    )
    expect(replies.filter(({ body }) => body['message'] === 'bind')).toHaveLength(1)
    expect(replies.filter(({ body }) => String(body['message']).endsWith('账户已被绑定'))).toHaveLength(49)
    expect(await world.sql(`select count(*)::int from users where ${columnOf(provider)} = $1`, [id])).toEqual([
      { count: 1 },
    ])
    expect(
      await world.sql(`select 1 from audit_entries where action = 'account.bind' and after ->> $1 = $2`, [
        provider,
        id,
      ]),
    ).toHaveLength(1)
  })

  it('gives one account one of several identities', async () => {
    const person = await world.app.make.user()
    const browser = world.browser()
    browser.become(person.id, person.sessionId)
    const backs: Record<string, string>[] = []
    for (let count = 0; count < 10; count += 1) {
      newUser(provider)
      backs.push(await setOut(browser, provider))
    }
    const replies = await Promise.all(backs.map((back) => finish(browser, provider, back)))
    expect(replies.filter(({ body }) => body['message'] === 'bind')).toHaveLength(1)
  })
})

describe('the state', () => {
  it('is twelve characters in the documented reply, and kept as a hash', async () => {
    const { body } = await world.browser().get('/api/oauth/state')
    expect(body).toEqual({ success: true, message: '', data: expect.stringMatching(/^[0-9A-Za-z]{12}$/) })
    expect(JSON.stringify(await world.sql('select * from oauth_states'))).not.toContain(body['data'])
  })

  it.each<[string, (browser: WorldBrowser, back: Record<string, string>) => Promise<{ status: number }>]>([
    ['is missing', (browser, back) => finish(browser, 'github', { code: back['code'] ?? '' })],
    ['is made up', (browser, back) => finish(browser, 'github', { ...back, state: 'abcdefghijkl' })],
    ['was another browser’s', (_browser, back) => finish(world.browser(), 'github', back)],
    ['was made for another provider', (browser, back) => finish(browser, 'linuxdo', back)],
    [
      'has been used',
      async (browser, back) => {
        await finish(browser, 'github', { ...back, code: '' })
        return finish(browser, 'github', back)
      },
    ],
    [
      'has run out',
      async (browser, back) => {
        await world.sql("update oauth_states set expires_at = expires_at - interval '10 minutes'")
        return finish(browser, 'github', back)
      },
    ],
  ])('lets nobody in when it %s', async (_what, attempt) => {
    newUser('github')
    const browser = world.browser()
    const asked = world.github.asked.length
    const back = await setOut(browser, 'github')
    expect(await attempt(browser, back)).toMatchObject(wrongState)
    // Nothing but the browser's own visit reached the provider.
    expect(world.github.asked.length - asked).toBe(1)
  })

  it('serves one of fifty who bring it at once', async () => {
    newUser('github')
    const browser = world.browser()
    const back = await setOut(browser, 'github')
    const replies = await Promise.all(Array.from({ length: 50 }, () => finish(browser, 'github', back)))
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(replies.filter(({ status }) => status === 403)).toHaveLength(49)
  })

  it('of somebody signed in binds nothing for the next who signs in there', async () => {
    const [first, second] = [await world.app.make.user(), await world.app.make.user()]
    const id = newUser('github')
    const browser = world.browser()
    browser.become(first.id, first.sessionId)
    const back = await setOut(browser, 'github')
    browser.become(second.id, second.sessionId)
    expect(await finish(browser, 'github', back)).toMatchObject(wrongState)
    expect(await userOf('github', id)).toBeUndefined()
  })

  it('is not started or ended by another site', async () => {
    const foreign = { headers: { 'sec-fetch-site': 'cross-site' } }
    expect((await world.browser().get('/api/oauth/state', foreign)).body['message']).toBe('请求来源不受信任')
    const browser = world.browser()
    const query = await setOut(browser, 'github')
    expect((await browser.get('/api/oauth/github', { query, ...foreign })).body['message']).toBe('请求来源不受信任')
  })
})

describe('a browser that writes the provider’s address itself', () => {
  it('signs in by the documented state, without PKCE and nonce', async () => {
    const id = newUser('oidc')
    const browser = world.browser()
    const { data: state } = await browser.get('/api/oauth/state')
    const address = new URL(`${world.oidc.url}/auth`)
    for (const [name, value] of Object.entries({
      client_id: 'the client',
      redirect_uri: `${world.app.url}/oauth/oidc`,
      response_type: 'code',
      scope: 'openid profile email',
      state: String(state),
    })) {
      address.searchParams.set(name, value)
    }
    const back = await travel(address.href)
    const reply = await finish(browser, 'oidc', { code: back.get('code') ?? '', state: back.get('state') ?? '' })
    expect(reply.data).toMatchObject({ id: (await userOf('oidc', id))?.['id'] })
  })

  it('cannot spend a code there that was asked for with PKCE elsewhere', async () => {
    for (const provider of ['oidc', 'github'] as const) {
      newUser(provider)
      const stolen = await setOut(world.browser(), provider)
      const thief = world.browser()
      const { data: state } = await thief.get('/api/oauth/state')
      const reply = await finish(thief, provider, { ...stolen, state: String(state) })
      expect(reply.body['message']).toMatch(/授权码无效或已被使用/)
    }
  })
})

test('sensitive calls of one address are counted at every one of these paths', async () => {
  const limited = await startSignInWorld({ CRITICAL_RATE_LIMIT: '3' })
  try {
    const paths = ['state', 'github', 'oidc', 'linuxdo', 'wechat', 'wechat/bind', 'telegram/login', 'telegram/bind']
    const statuses = []
    for (const path of paths) statuses.push((await limited.browser().get(`/api/oauth/${path}`)).status)
    expect(statuses).toEqual([200, 403, 403, 429, 429, 429, 429, 429])
  } finally {
    await limited[Symbol.asyncDispose]()
  }
})

describe('the address that a provider leads back to', () => {
  const configured = 'https://gw.example'
  const leadsBackTo = async (headers: Record<string, string>) => {
    const { body } = await world
      .browser()
      .post('/trpc/auth.oauth.start', { json: { provider: 'linuxdo' } }, { headers })
    const { address } = (body as { result: { data: { json: { address: string } } } }).result.data.json
    return new URL(address).searchParams.get('redirect_uri')
  }
  // The page that asks came by https, whatever the proxy made of its request.
  const fromPage = (origin: string) => ({ origin, 'sec-fetch-site': 'same-origin' })

  it('is the server address behind a proxy that rewrites Host, and the browser’s where people come by another', async () => {
    expect(await leadsBackTo(fromPage(configured))).toBe(`${world.app.url}/oauth/linuxdo`)
    await world.setOptions({ ServerAddress: configured })
    expect(await leadsBackTo(fromPage(configured))).toBe(`${configured}/oauth/linuxdo`)
    expect(await leadsBackTo(fromPage(world.app.url))).toBe(`${world.app.url}/oauth/linuxdo`)
  })

  it('is never one that a header names', async () => {
    await world.setOptions({ ServerAddress: configured })
    const forged = {
      'x-forwarded-host': 'evil.example',
      referer: 'https://evil.example/',
      origin: 'https://evil.example',
    }
    expect(await leadsBackTo({ ...forged, 'sec-fetch-site': 'same-origin' })).toBe(`${world.app.url}/oauth/linuxdo`)
  })

  it('is the server address for browsers that write the provider’s address themselves', async () => {
    await world.setOptions({ ServerAddress: configured })
    const originOf = async (headers: Record<string, string>) => {
      await world.sql('delete from oauth_states')
      await world.browser().get('/api/oauth/state', { headers })
      return (await world.sql('select origin from oauth_states'))[0]?.['origin']
    }
    expect(await originOf({ referer: `${configured}/login`, 'sec-fetch-site': 'same-origin' })).toBe(configured)
    expect(await originOf({})).toBe(configured)
    expect(await originOf({ referer: `${world.app.url}/login` })).toBe(world.app.url)
  })
})
