import { request } from 'node:http'
import { beforeEach, describe, expect, it } from 'vitest'
import { type ConsoleApp, startConsole, startFileConsole } from '#test/support/console-app.ts'

const app = await startFileConsole()

describe('GET /api/status', () => {
  it('has every documented key and never a null', async () => {
    const { status, body, data, headers } = await app.browser().get('/api/status')
    expect(status).toBe(200)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(body).toMatchObject({ success: true, message: '' })
    const types = Object.fromEntries(
      Object.entries(data as object).map(([key, value]) => [key, Array.isArray(value) ? 'array' : typeof value]),
    )
    expect(types).toEqual({
      version: 'string',
      start_time: 'number',
      system_name: 'string',
      logo: 'string',
      footer_html: 'string',
      server_address: 'string',
      price: 'number',
      min_topup: 'number',
      top_up_link: 'string',
      docs_link: 'string',
      enable_online_topup: 'boolean',
      quota_per_unit: 'number',
      display_in_currency: 'boolean',
      enable_batch_update: 'boolean',
      enable_drawing: 'boolean',
      enable_task: 'boolean',
      enable_data_export: 'boolean',
      data_export_default_time: 'string',
      default_collapse_sidebar: 'boolean',
      mj_notify_enabled: 'boolean',
      chats: 'array',
      demo_site_enabled: 'boolean',
      self_use_mode_enabled: 'boolean',
      setup: 'boolean',
      check_in_enabled: 'boolean',
      aff_enabled: 'boolean',
      email_verification: 'boolean',
      turnstile_check: 'boolean',
      turnstile_site_key: 'string',
      github_oauth: 'boolean',
      github_client_id: 'string',
      linuxdo_oauth: 'boolean',
      linuxdo_client_id: 'string',
      linuxdo_minimum_trust_level: 'number',
      log_chat_content_enabled: 'boolean',
      oidc_enabled: 'boolean',
      oidc_client_id: 'string',
      oidc_authorization_endpoint: 'string',
      wechat_login: 'boolean',
      wechat_qrcode: 'string',
      telegram_oauth: 'boolean',
      telegram_bot_name: 'string',
    })
  })

  it('never shows a secret option, only whether payment is complete', async () => {
    await app.setOptions({ PayAddress: 'https://pay.example', EpayId: '1000', EpayKey: 'epay-secret' })
    const { data, text } = await app.browser().get('/api/status')
    expect(data).toMatchObject({ enable_online_topup: true })
    expect(text).not.toContain('epay-secret')
  })

  it('answers with and without the closing slash', async () => {
    expect((await app.browser().get('/api/status/')).status).toBe(200)
  })
})

describe('what the site shows of its settings', () => {
  it.each([
    ['SystemName', 'Acme', 'system_name', 'Acme'],
    ['Logo', 'https://x.example/l.png', 'logo', 'https://x.example/l.png'],
    ['Footer', '<b>foot</b>', 'footer_html', '<b>foot</b>'],
    ['ServerAddress', 'https://gw.example/', 'server_address', 'https://gw.example'],
    ['TopUpLink', 'https://shop.example', 'top_up_link', 'https://shop.example'],
    ['general_setting.docs_link', 'https://docs.example', 'docs_link', 'https://docs.example'],
    ['Price', '6.5', 'price', 6.5],
    ['MinTopUp', '3', 'min_topup', 3],
    ['QuotaPerUnit', '1000', 'quota_per_unit', 1000],
    ['DisplayInCurrencyEnabled', 'false', 'display_in_currency', false],
    ['DrawingEnabled', 'false', 'enable_drawing', false],
    ['TaskEnabled', 'false', 'enable_task', false],
    ['DataExportEnabled', 'false', 'enable_data_export', false],
    ['DataExportDefaultTime', 'week', 'data_export_default_time', 'week'],
    ['DefaultCollapseSidebar', 'true', 'default_collapse_sidebar', true],
    ['MjNotifyEnabled', 'true', 'mj_notify_enabled', true],
    ['Chats', '[{"Chat":"https://chat.example/"}]', 'chats', [{ Chat: 'https://chat.example/' }]],
    ['CheckInEnabled', 'true', 'check_in_enabled', true],
    ['AffEnabled', 'false', 'aff_enabled', false],
    ['EmailVerificationEnabled', 'true', 'email_verification', true],
    ['TurnstileSiteKey', 'site-key', 'turnstile_site_key', 'site-key'],
    ['GitHubClientId', 'gh-client', 'github_client_id', 'gh-client'],
    ['LinuxDOClientId', 'ld-client', 'linuxdo_client_id', 'ld-client'],
    ['LinuxDOMinimumTrustLevel', '2', 'linuxdo_minimum_trust_level', 2],
    ['LogChatContentEnabled', 'true', 'log_chat_content_enabled', true],
    ['oidc.client_id', 'oidc-client', 'oidc_client_id', 'oidc-client'],
    ['oidc.authorization_endpoint', 'https://id.example/a', 'oidc_authorization_endpoint', 'https://id.example/a'],
    ['WeChatAccountQRCodeImageURL', 'https://x.example/q.png', 'wechat_qrcode', 'https://x.example/q.png'],
    ['TelegramBotName', 'a_bot', 'telegram_bot_name', 'a_bot'],
  ] as const)('%s %s is told as %s', async (key, value, field, shown) => {
    const root = await app.signedIn(await app.person({ role: 100 }))
    expect((await root.put('/api/option/', { key, value })).body).toMatchObject({ success: true })
    expect((await app.browser().get('/api/status')).data).toMatchObject({ [field]: shown })
    await app.sql('delete from options where key = $1', [key])
    await app.services.options.reload()
  })
})

describe('the pages', () => {
  it.each([
    ['/api/notice', 'Notice'],
    ['/api/about', 'About'],
    ['/api/home_page_content', 'HomePageContent'],
  ] as const)('%s is "" while unset, then what root wrote', async (path, key) => {
    expect((await app.browser().get(path)).body).toEqual({ success: true, message: '', data: '' })
    await app.setOptions({ [key]: '# 你好' })
    expect((await app.browser().get(path)).data).toBe('# 你好')
  })
})

describe('GET /api/status/test', () => {
  it('answers an administrator and refuses others', async () => {
    const admin = await app.signedIn(await app.person({ role: 10 }))
    const reply = await admin.get('/api/status/test')
    expect(reply).toMatchObject({ status: 200, body: { success: true } })
    expect(reply.body['message']).not.toBe('')
    expect('data' in reply.body).toBe(false)
    const user = await app.signedIn(await app.person())
    expect(await user.get('/api/status/test')).toMatchObject({ status: 200, body: { success: false } })
    expect((await app.browser().get('/api/status/test')).status).toBe(401)
  })
})

describe('setup', () => {
  const form = {
    username: ' boss ',
    password: 'a good password',
    confirmPassword: 'a good password',
    SelfUseModeEnabled: true,
    DemoSiteEnabled: false,
  }
  let fresh: ConsoleApp
  beforeEach(async () => {
    fresh = await startConsole()
    return () => fresh[Symbol.asyncDispose]()
  })

  it('makes the one root with its quota booked, saves both modes and is done', async () => {
    const browser = fresh.browser()
    expect((await browser.get('/api/setup')).data).toEqual({
      status: false,
      root_init: false,
      database_type: 'postgres',
    })
    const reply = await browser.post('/api/setup', form)
    expect(reply).toMatchObject({ status: 200, body: { success: true } })
    expect(reply.body['message']).not.toBe('')
    expect('data' in reply.body).toBe(false)
    expect(
      await fresh.sql('select username, display_name, role, status, "group", quota, must_change_password from users'),
    ).toEqual([
      {
        username: 'boss',
        display_name: 'Root User',
        role: 100,
        status: 1,
        group: 'default',
        quota: '100000000',
        must_change_password: false,
      },
    ])
    expect(await fresh.sql('select kind, amount from grants')).toEqual([{ kind: 'setup', amount: '100000000' }])
    expect((await browser.get('/api/status')).data).toMatchObject({
      setup: true,
      self_use_mode_enabled: true,
      demo_site_enabled: false,
    })
    expect((await browser.get('/api/setup')).data).toEqual({ status: true, root_init: false, database_type: '' })
    expect((await browser.login({ username: 'boss', password: 'a good password' })).data).toMatchObject({ role: 100 })
  })

  it('twenty at once make one root', async () => {
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        fresh.browser().post('/api/setup', { ...form, username: `boss${index}` }),
      ),
    )
    expect(replies.filter((reply) => reply.status === 200)).toHaveLength(1)
    expect(replies.filter((reply) => reply.status === 400)).toHaveLength(19)
    expect(await fresh.sql('select count(*)::int as roots from users')).toEqual([{ roots: 1 }])
    expect(await fresh.sql('select count(*)::int as grants from grants')).toEqual([{ grants: 1 }])
  })

  it('cannot run again, not even with other words', async () => {
    await fresh.browser().post('/api/setup', form)
    const again = await fresh.browser().post('/api/setup', { ...form, username: 'second' })
    expect(again).toMatchObject({ status: 400, body: { success: false } })
    expect(await fresh.sql('select username from users')).toEqual([{ username: 'boss' }])
  })

  it.each([
    ['a blank name', { username: '   ' }, '请输入管理员用户名'],
    ['a long name', { username: 'thirteen chars' }, '用户名不能超过 12 个字符'],
    ['a short password', { password: 'short', confirmPassword: 'short' }, '密码长度至少为 8 个字符'],
    ['two passwords', { confirmPassword: 'something else' }, '两次输入的密码不一致'],
  ])('refuses %s with 400 and changes nothing', async (_name, change, message) => {
    const reply = await fresh.browser().post('/api/setup', { ...form, ...change })
    expect(reply).toMatchObject({ status: 400, body: { success: false } })
    expect(reply.body['message']).toBe(message)
    expect(await fresh.sql('select id from users')).toEqual([])
    expect((await fresh.browser().get('/api/setup')).data).toMatchObject({ status: false })
  })

  it('refuses a body that is no JSON with 400', async () => {
    expect((await fresh.browser().post('/api/setup', '{"username":')).status).toBe(400)
  })

  it('does not ask for an account where a root exists', async () => {
    await fresh.person({ username: 'elder', role: 100 })
    expect((await fresh.browser().get('/api/setup')).data).toMatchObject({ status: false, root_init: true })
    const reply = await fresh.browser().post('/api/setup', { SelfUseModeEnabled: false, DemoSiteEnabled: true })
    expect(reply.status).toBe(200)
    expect(await fresh.sql('select username from users')).toEqual([{ username: 'elder' }])
  })

  it('warns of a password that everybody tries first', async () => {
    await fresh.browser().post('/api/setup', { ...form, password: '12345678', confirmPassword: '12345678' })
    expect(await fresh.sql('select must_change_password from users')).toEqual([{ must_change_password: true }])
  })

  it('wants the printed token from whoever comes through a proxy or from afar', async () => {
    const { ensureSetupToken } = await import('#features/site/setup-service.ts')
    const headers = { 'x-forwarded-for': '203.0.113.9' }
    const [first, second] = [await ensureSetupToken(fresh.services), await ensureSetupToken(fresh.services)]
    expect(first).toMatch(/^[\w-]{32}$/)
    expect((await fresh.browser().post('/api/setup', form, { headers })).status).toBe(403)
    expect((await fresh.browser().post('/api/setup', form, { headers, query: { token: 'x'.repeat(32) } })).status).toBe(
      403,
    )
    const stored = await fresh.sql('select code_hash from one_time_codes')
    expect(JSON.stringify(stored)).not.toContain(second)
    // The token of an earlier start, or of another machine's, counts as well.
    expect((await fresh.browser().post('/api/setup', form, { headers, query: { token: first ?? '' } })).status).toBe(
      200,
    )
    expect(await ensureSetupToken(fresh.services)).toBeNull()
    expect(await fresh.sql('select * from one_time_codes')).toEqual([])
  })

  const setUpUnder = (headers: Record<string, string>, query = '') => {
    const { promise, resolve, reject } = Promise.withResolvers<number>()
    const sending = request(`${fresh.url}/api/setup${query}`, { method: 'POST', headers }, (reply) => {
      reply.resume()
      reply.on('end', () => resolve(reply.statusCode ?? 0))
    })
    sending.on('error', reject)
    sending.end(JSON.stringify(form))
    return promise
  }

  it('is not taken over by another machine whose proxy stands on this machine and adds no header', async () => {
    const { ensureSetupToken } = await import('#features/site/setup-service.ts')
    const token = await ensureSetupToken(fresh.services)
    const foreignHeaders: Record<string, string>[] = [
      { host: 'gateway.example' },
      { host: 'gateway.example:3000' },
      { host: '192.168.1.5:3000' },
      { host: 'localhost.evil.example' },
      { host: 'localhost', via: '1.1 proxy' },
    ]
    for (const headers of foreignHeaders) expect(await setUpUnder(headers)).toBe(403)
    // Refused as the act of another site, in the envelope.
    await setUpUnder({ host: 'localhost', origin: 'https://evil.example' })
    expect(await fresh.sql('select id from users')).toEqual([])
    expect(await setUpUnder({ host: 'gateway.example' }, `?token=${token}`)).toBe(200)
  })

  it('is open to who opens it on this machine, in any letter case', async () => {
    expect(await setUpUnder({ host: 'LocalHost:3000' })).toBe(200)
  })

  it('comes first: before it nobody can register and take a name', async () => {
    const input = { username: 'operator', password: 'long enough' }
    const refusal = await fresh.browser().post('/api/user/register', input)
    expect(refusal.body).toMatchObject({ success: false, message: '系统尚未初始化' })
    expect(await fresh.sql('select * from users')).toEqual([])
  })

  it('counts as done at a start that finds a root without a record', async () => {
    const { recordSetupIfRootExists } = await import('#features/site/setup-service.ts')
    await recordSetupIfRootExists(fresh.services)
    expect((await fresh.browser().get('/api/setup')).data).toMatchObject({ status: false })
    await fresh.person({ role: 100 })
    await Promise.all([recordSetupIfRootExists(fresh.services), recordSetupIfRootExists(fresh.services)])
    expect((await fresh.browser().get('/api/setup')).data).toMatchObject({ status: true })
    expect(await fresh.sql('select id, version from setup_records')).toEqual([{ id: 1, version: '0.0.0-test' }])
  })

  it('lets nobody in under well-known names before it ran', async () => {
    for (const password of ['123456', '12345678', 'password', 'root']) {
      expect((await fresh.browser().login({ username: 'root', password })).body['success']).toBe(false)
    }
  })
})

describe('a demonstration site', () => {
  it('refuses every change with 405 but for those of root, and lets people come and go', async () => {
    await using demo = await startConsole()
    const root = await demo.person({ role: 100 })
    const admin = await demo.person({ role: 10 })
    await demo.setOptions({ DemoSiteEnabled: 'true' })
    const text = '本站仅作演示之用，无服务端！'
    const browser = demo.browser()
    expect((await browser.login(admin)).body).toMatchObject({ success: true })
    const reply = await browser.post('/api/user/', { username: 'new', password: 'long enough' })
    expect(reply).toMatchObject({ status: 405, body: { success: false, message: text } })
    expect(await browser.put('/api/user/self', { display_name: 'x' })).toMatchObject({ status: 405 })
    await expect((await demo.trpc(admin)).user.account.overwrite({ displayName: 'x' })).rejects.toMatchObject({
      code: 'METHOD_NOT_SUPPORTED',
      message: text,
    })
    expect((await browser.get('/api/user/')).status).toBe(200)
    expect((await browser.get('/api/user/logout')).body).toMatchObject({ success: true })
    expect(
      (await (await demo.signedIn(root)).put('/api/option/', { key: 'DemoSiteEnabled', value: 'false' })).body,
    ).toMatchObject({ success: true })
    const later = await demo.signedIn(admin)
    expect(await later.put('/api/user/self', { display_name: 'x' })).toMatchObject({ status: 200 })
  })
})

describe('whoever sets a site up', () => {
  it('is signed in by it, and sees the first steps ticked by what is there, until they are put away', async () => {
    await using fresh = await startConsole()
    const browser = fresh.browser()
    const account = { username: 'founder', password: 'long enough', confirmPassword: 'long enough' }
    expect((await browser.post('/api/setup', account)).body).toMatchObject({ success: true })
    expect(browser.session()).toBeDefined()
    const [row] = await fresh.sql("select id from users where username = 'founder'")
    browser.become(Number(row?.['id']))
    expect((await browser.get('/api/user/self')).data).toMatchObject({ username: 'founder', role: 100 })
    const api = await fresh.trpc({ id: Number(row?.['id']), username: 'founder', role: 100, password: '' })
    const nothing = { channel: false, test: false, price: false, token: false, call: false, channelId: 0, tokenId: 0 }
    expect(await api.admin.site.firstSteps()).toEqual(nothing)
    const channel = { name: 'a', type: 1, key: 'sk-x', models: ['no-such-model'], groups: ['default'] }
    await api.admin.channels.create(channel)
    const [made] = await fresh.sql('select id from channels')
    const withChannel = { ...nothing, channel: true, channelId: Number(made?.['id']) }
    expect(await api.admin.site.firstSteps()).toEqual(withChannel)
    await api.admin.models.setPrices({ prices: [{ model: 'no-such-model', modelRatio: 1 }] })
    await api.user.tokens.create({ name: 'first' })
    const [token] = await fresh.sql('select id from tokens')
    const withToken = { ...withChannel, price: true, token: true, tokenId: Number(token?.['id']) }
    expect(await api.admin.site.firstSteps()).toEqual(withToken)
    await api.admin.site.dismissFirstSteps()
    expect(await api.admin.site.firstSteps()).toBeNull()
  })
})
