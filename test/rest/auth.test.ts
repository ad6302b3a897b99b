import { afterEach, describe, expect, it } from 'vitest'
import { startConsole, startFileConsole, refused } from '#test/support/console-app.ts'

const app = await startFileConsole()
await app.sql("insert into setup_records (id, version, initialized_at) values (1, '0', now())")
afterEach(() => app.sql('delete from options').then(() => app.services.options.reload()))

const failed = '用户名或密码错误，或账号已被封禁'

describe('POST /api/user/login', () => {
  it('answers with the login user and a session of thirty days that scripts cannot read', async () => {
    const person = await app.person({ role: 10, group: 'vip', email: 'who@x.example' })
    const reply = await app.browser().login(person)
    expect(reply.body).toEqual({
      success: true,
      message: '',
      data: {
        id: person.id,
        username: person.username,
        password: '',
        display_name: person.username,
        role: 10,
        status: 1,
        email: '',
        github_id: '',
        oidc_id: '',
        wechat_id: '',
        telegram_id: '',
        linux_do_id: '',
        verification_code: '',
        access_token: null,
        quota: 0,
        used_quota: 0,
        request_count: 0,
        group: 'vip',
        aff_code: '',
        aff_count: 0,
        aff_quota: 0,
        aff_history_quota: 0,
        inviter_id: 0,
        DeletedAt: null,
        setting: '',
        last_check_in_time: null,
      },
    })
    const [cookie] = reply.headers.getSetCookie()
    expect(cookie).toMatch(/^session=[\w-]{43}; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Strict$/i)
  })

  it('sends its cookie over TLS alone where the proxy in front says that it came by TLS, which nobody else can say', async () => {
    const behindProxy = await startConsole({ TRUST_PROXY: '1' })
    const cookieOf = async (at: typeof app, proto: string) => {
      const { username, password } = await at.person()
      const headers = { 'x-forwarded-proto': proto, 'x-forwarded-for': '203.0.113.9' }
      const reply = await at.browser().post('/api/user/login', { username, password }, { headers })
      return reply.headers.getSetCookie().join()
    }
    expect(await cookieOf(behindProxy, 'https')).toMatch(/^session=[\w-]{43}; .*HttpOnly; Secure; SameSite=Strict$/i)
    expect(await cookieOf(behindProxy, 'http')).toMatch(/HttpOnly; SameSite=Strict$/i)
    expect(await cookieOf(app, 'https')).toMatch(/HttpOnly; SameSite=Strict$/i)
    await behindProxy[Symbol.asyncDispose]()
  })

  it('takes the e-mail address in any letter case, and spaces around it', async () => {
    const person = await app.person({ email: 'Mixed@X.example', emailNormalized: 'mixed@x.example' })
    const reply = await app.browser().login({ username: ' mIXED@x.example ', password: person.password })
    expect(reply.data).toMatchObject({ id: person.id })
  })

  it('is not shut to an address by somebody who took it as a username', async () => {
    const owner = await app.person({ email: 'a@b.example', emailNormalized: 'a@b.example' })
    await app.person({ username: 'a@b.example', passwordHash: null })
    expect((await app.browser().login({ username: 'a@b.example', password: owner.password })).data).toMatchObject({
      id: owner.id,
    })
  })

  it('says one thing of unknown, wrong, banned, deleted and password-less accounts', async () => {
    const person = await app.person()
    const banned = await app.person({ status: 2 })
    const deleted = await app.person({ deletedAt: new Date() })
    const external = await app.person({ passwordHash: null })
    for (const attempt of [
      { username: 'nobody-here', password: person.password },
      { username: person.username, password: 'wrong password' },
      banned,
      deleted,
      external,
      { username: 'a\0b', password: 'wrong password' },
      { username: 'x'.repeat(5000), password: 'wrong password' },
    ]) {
      expect(await app.browser().login(attempt)).toMatchObject(refused(failed))
    }
  })

  it.each([{}, { username: '', password: 'x' }, { username: null, password: null }, { username: 'x' }])(
    'asks for what is missing in %j',
    async (body) => {
      expect(await app.browser().post('/api/user/login', body)).toMatchObject(refused('请输入用户名和密码！'))
    },
  )

  it('can be switched off', async () => {
    await app.setOptions({ PasswordLoginEnabled: 'false' })
    const person = await app.person()
    expect(await app.browser().login(person)).toMatchObject(refused('管理员已关闭密码登录'))
  })

  it('starts a new session, so that a planted one is worth nothing', async () => {
    const person = await app.person()
    const browser = await app.signedIn(person)
    const planted = browser.session()
    await browser.login(person)
    expect(browser.session()).not.toBe(planted)
    const thief = app.browser()
    thief.become(person.id, planted)
    expect((await thief.get('/api/user/self')).status).toBe(401)
  })

  it('lets callers elsewhere use up their own attempts, never those of root elsewhere', async () => {
    const behindProxy = await startConsole({ TRUST_PROXY: '1' })
    const root = await behindProxy.person({ role: 100 })
    const from = (ip: string) => ({ headers: { 'x-forwarded-for': ip } })
    const attempt = (ip: string, password: string) =>
      behindProxy.browser().post('/api/user/login', { username: root.username, password }, from(ip))
    for (let count = 0; count < 10; count += 1) await attempt('203.0.113.7', 'wrong password')
    expect(await attempt('203.0.113.7', root.password)).toMatchObject({ status: 429, text: '' })
    expect((await attempt('198.51.100.1', root.password)).body['success']).toBe(true)
    // Addresses of one IPv6 network are one caller.
    for (let count = 0; count < 10; count += 1) await attempt(`2001:db8::${count}`, 'wrong password')
    expect((await attempt('2001:db8::ffff', root.password)).status).toBe(429)
    await behindProxy[Symbol.asyncDispose]()
  })

  it('counts sensitive calls of one address and then answers 429 without a body', async () => {
    const limited = await startConsole({ CRITICAL_RATE_LIMIT: '3' })
    const statuses = []
    for (let count = 0; count < 4; count += 1) {
      statuses.push((await limited.browser().login({ username: `n${count}`, password: 'wrong password' })).status)
    }
    expect(statuses).toEqual([200, 200, 200, 429])
    await limited[Symbol.asyncDispose]()
  })
})

describe('GET /api/user/logout', () => {
  it('ends the session, even for whoever kept its cookie, and works signed out', async () => {
    const person = await app.person()
    const browser = await app.signedIn(person)
    const session = browser.session()
    expect((await browser.get('/api/user/logout')).body).toEqual({ success: true, message: '' })
    const replay = app.browser()
    replay.become(person.id, session)
    expect((await replay.get('/api/user/self')).status).toBe(401)
    expect((await app.browser().get('/api/user/logout')).body).toEqual({ success: true, message: '' })
  })
})

describe('the bot check', () => {
  const verdict = (success: boolean) => JSON.stringify({ success })

  it('stands before the login and is remembered until it', async () => {
    await app.setOptions({ TurnstileSiteKey: 'site', TurnstileSecretKey: 'secret', TurnstileCheckEnabled: 'true' })
    const person = await app.person()
    const browser = app.browser()
    const sent = () => app.outgoing.requests.length
    expect(await browser.login(person)).toMatchObject(refused('请稍后几秒重试，Turnstile 正在检查用户环境！'))
    expect(sent()).toBe(0)
    app.outgoing.answerWith(() => verdict(false))
    const login = { username: person.username, password: 'wrong password' }
    expect((await browser.post('/api/user/login', login, { query: { turnstile: 'bad' } })).body).toMatchObject({
      message: '人机验证未通过，请刷新页面后重试',
    })
    app.outgoing.answerWith(() => verdict(true))
    const answered = { query: { turnstile: 'good' } }
    expect((await browser.post('/api/user/login', login, answered)).body).toMatchObject({ message: failed })
    const asked = sent()
    expect(Object.fromEntries(new URLSearchParams(app.outgoing.requests.at(-1)?.body))).toEqual({
      secret: 'secret',
      response: 'good',
      remoteip: '127.0.0.1',
    })
    expect((await browser.login(person)).body).toMatchObject({ success: true })
    expect(sent()).toBe(asked)
    await browser.get('/api/user/logout')
    expect((await browser.login(person)).body).toMatchObject({ success: false })
  })

  it('lets one account be made, of however many that one browser asks for at once', async () => {
    await app.setOptions({ TurnstileSiteKey: 'site', TurnstileSecretKey: 'secret', TurnstileCheckEnabled: 'true' })
    app.outgoing.answerWith(() => verdict(true))
    const browser = app.browser()
    const answered = { query: { turnstile: 'good' } }
    const register = (name: string) =>
      browser.post('/api/user/register', { username: name, password: 'a good long one' })
    const first = await browser.post(
      '/api/user/register',
      { username: 'checked', password: 'a good long one' },
      answered,
    )
    expect(first.body).toMatchObject({ success: true })
    expect(await register('unchecked')).toMatchObject(refused('请稍后几秒重试，Turnstile 正在检查用户环境！'))
    await browser.post('/api/user/register', { username: 'checked', password: 'a good long one' }, answered)
    const replies = await Promise.all(Array.from({ length: 20 }, (_, at) => register(`hasty${at}`)))
    expect(replies.filter((reply) => reply.body['success'])).toHaveLength(1)
    // The login that follows a registration needs no other answer.
    expect((await browser.login({ username: 'checked', password: 'a good long one' })).body).toMatchObject({
      success: true,
    })
  })

  it('says so when it cannot be asked', async () => {
    await app.setOptions({ TurnstileSiteKey: 'site', TurnstileSecretKey: 'secret', TurnstileCheckEnabled: 'true' })
    app.outgoing.answerWith(() => {
      throw new Error('unreachable')
    })
    expect(
      await app.browser().post('/api/user/login', { username: 'x', password: 'y' }, { query: { turnstile: 't' } }),
    ).toMatchObject(refused('人机验证服务暂时不可用，请稍后重试'))
  })

  it('does not blame the visitor for a secret that is the wrong one', async () => {
    await app.setOptions({ TurnstileSiteKey: 'site', TurnstileSecretKey: 'secret', TurnstileCheckEnabled: 'true' })
    for (const fault of ['invalid-input-secret', 'missing-input-secret']) {
      app.outgoing.answerWith(() => JSON.stringify({ success: false, 'error-codes': [fault] }))
      expect(
        await app.browser().post('/api/user/login', { username: 'x', password: 'y' }, { query: { turnstile: 't' } }),
      ).toMatchObject(refused('人机验证服务暂时不可用，请稍后重试'))
    }
  })
})

describe('POST /api/user/register', () => {
  const form = (username: string) => ({ username, password: 'long enough', password2: 'long enough' })

  it('makes an ordinary user of what it may, and of nothing else', async () => {
    await app.setOptions({ QuotaForNewUser: '5000' })
    const reply = await app.browser().post('/api/user/register', {
      ...form(' newbie '),
      aff_code: null,
      email: 'un@proved.example',
      id: 1,
      role: 100,
      status: 9,
      quota: 999,
      used_quota: 5,
      group: 'svip',
      inviter_id: 7,
    })
    expect(reply.body).toEqual({ success: true, message: '' })
    expect(reply.headers.getSetCookie()).toEqual([])
    const [user] = await app.sql("select * from users where username = 'newbie'")
    expect(user).toMatchObject({
      display_name: 'newbie',
      role: 1,
      status: 1,
      group: 'default',
      quota: '5000',
      used_quota: '0',
      inviter_id: 0,
      email: '',
      email_normalized: null,
      aff_code: expect.stringMatching(/^[0-9A-Za-z]{4}$/),
      password_hash: expect.stringContaining('$argon2id$'),
    })
    expect(user?.['id']).not.toBe(1)
    expect(await app.sql('select kind, key, amount from grants where user_id = $1', [user?.['id']])).toEqual([
      { kind: 'sign_up', key: String(user?.['id']), amount: '5000' },
    ])
    expect(await app.sql('select type, username, content from logs where user_id = $1', [user?.['id']])).toEqual([
      { type: 4, username: 'newbie', content: '新用户注册赠送 $0.010000' },
    ])
    expect((await app.browser().login({ username: 'newbie', password: 'long enough' })).body['success']).toBe(true)
  })

  it('writes no log where there is no gift', async () => {
    await app.browser().post('/api/user/register', form('giftless'))
    expect(
      await app.sql("select l.id from logs l join users u on u.id = l.user_id where u.username = 'giftless'"),
    ).toEqual([])
  })

  it('rewards inviter and invitee once each', async () => {
    await app.setOptions({ QuotaForInviter: '300', QuotaForInvitee: '200', QuotaForNewUser: '100' })
    const inviter = await app.person({ affCode: 'AbC9' })
    await app.browser().post('/api/user/register', { ...form('invited'), aff_code: 'AbC9' })
    expect(
      await app.sql('select quota, aff_count, aff_quota, aff_history_quota from users where id = $1', [inviter.id]),
    ).toEqual([{ quota: '0', aff_count: 1, aff_quota: '300', aff_history_quota: '300' }])
    expect(await app.sql("select quota, inviter_id from users where username = 'invited'")).toEqual([
      { quota: '300', inviter_id: inviter.id },
    ])
    expect(await app.sql('select type from logs where user_id = $1', [inviter.id])).toEqual([{ type: 4 }])
    // Whoever is banned invites nobody.
    await app.sql('update users set status = 2 where id = $1', [inviter.id])
    await app.browser().post('/api/user/register', { ...form('uninvited'), aff_code: 'AbC9' })
    expect(await app.sql('select aff_count, aff_quota from users where id = $1', [inviter.id])).toEqual([
      { aff_count: 1, aff_quota: '300' },
    ])
    expect(await app.sql("select quota, inviter_id from users where username = 'uninvited'")).toEqual([
      { quota: '100', inviter_id: 0 },
    ])
  })

  it('takes a code that cannot be one for none', async () => {
    const reply = await app.browser().post('/api/user/register', { ...form('lured'), aff_code: 'a'.repeat(300) })
    expect(reply.body).toMatchObject({ success: true })
    expect(await app.sql("select inviter_id from users where username = 'lured'")).toEqual([{ inviter_id: 0 }])
  })

  it('rewards an inviter once for an account that fifty ask for at once, and loses none of fifty invited at once', async () => {
    await app.setOptions({ QuotaForInviter: '300', QuotaForInvitee: '200', QuotaForNewUser: '100' })
    const rewardsOf = async (id: number) =>
      (await app.sql('select aff_count, aff_quota::int, quota::int from users where id = $1', [id]))[0]
    const once = await app.person({ affCode: 'oNc1' })
    const same = Array.from({ length: 50 }, () =>
      app.browser().post('/api/user/register', { ...form('once'), aff_code: 'oNc1' }),
    )
    await Promise.all(same)
    expect(await rewardsOf(once.id)).toEqual({ aff_count: 1, aff_quota: 300, quota: 0 })
    expect(await app.sql("select quota::int from users where username = 'once'")).toEqual([{ quota: 300 }])

    const often = await app.person({ affCode: 'oFt1' })
    const each = Array.from({ length: 50 }, (_, index) =>
      app.browser().post('/api/user/register', { ...form(`many${index * 7919}`), aff_code: 'oFt1' }),
    )
    await Promise.all(each)
    const [made] = await app.sql(
      'select count(*)::int as n, sum(quota)::int as quota from users where inviter_id = $1',
      [often.id],
    )
    expect(made).toEqual({ n: 50, quota: 50 * 300 })
    expect(await rewardsOf(often.id)).toEqual({ aff_count: 50, aff_quota: 50 * 300, quota: 0 })
  })

  it.each([{ QuotaForInviter: '0' }, { AffEnabled: 'false', QuotaForInviter: '50' }] as const)(
    'counts an invitation under %j as the switch says',
    async (options) => {
      await app.setOptions(options)
      const inviter = await app.person({ affCode: `I${Object.keys(options).length}xx` })
      const name = `by${Object.keys(options).length}`
      await app.browser().post('/api/user/register', { ...form(name), aff_code: `I${Object.keys(options).length}xx` })
      const counted = !('AffEnabled' in options)
      expect(await app.sql('select aff_count, aff_quota from users where id = $1', [inviter.id])).toEqual([
        { aff_count: counted ? 1 : 0, aff_quota: '0' },
      ])
      expect(await app.sql('select inviter_id from users where username = $1', [name])).toEqual([
        { inviter_id: counted ? inviter.id : 0 },
      ])
    },
  )

  it.each([
    [{ username: '' }, '用户名和密码不能为空！'],
    [{ username: 'thirteen chars' }, '用户名不能超过 12 个字符'],
    [{ password: 'short' }, '密码长度不得小于 8 位！'],
    [{ password: 'x'.repeat(21) }, '密码长度应为 8 到 20 个字符'],
  ])('refuses %j', async (change, message) => {
    expect(await app.browser().post('/api/user/register', { ...form('refusee'), ...change })).toMatchObject(
      refused(message),
    )
  })

  it('gives a name once, also when asked fifty times at once', async () => {
    const replies = await Promise.all(
      Array.from({ length: 50 }, () => app.browser().post('/api/user/register', form('wanted'))),
    )
    expect(replies.filter((reply) => reply.body['success'])).toHaveLength(1)
    expect(replies.find((reply) => !reply.body['success'])?.body['message']).toBe('用户名已存在，或已注销')
  })

  it.each([
    ['RegisterEnabled', '管理员已关闭新用户注册'],
    ['PasswordRegisterEnabled', '管理员已关闭密码注册，请使用第三方账号注册'],
  ] as const)('is closed by %s', async (key, message) => {
    await app.setOptions({ [key]: 'false' })
    expect(await app.browser().post('/api/user/register', form('late'))).toMatchObject(refused(message))
  })
})
