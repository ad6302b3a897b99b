import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { afterAll, beforeEach, describe, expect, it, test } from 'vitest'
import { refused } from '#test/support/console-app.ts'
import { issuerByDocument, issuerByEndpoint } from '#features/identities/service/oidc-issuer.ts'
import { startReceiver } from '#test/support/receiver.ts'
import { startOidc } from '#test/support/sign-in/oidc-server.ts'
import { createVisits } from '#test/support/sign-in/visits.ts'
import { call, startSignInWorld } from '#test/support/sign-in/world.ts'

const world = await startSignInWorld()
afterAll(() => world[Symbol.asyncDispose]())
beforeEach(() => world.reset())

const { newUser, setOut, finish, signIn, userOf } = createVisits(() => world)

describe('OIDC without a configuration document', () => {
  it('signs in by its three endpoints', async () => {
    await world.setOptions({
      'oidc.well_known': '',
      'oidc.authorization_endpoint': `${world.oidc.url}/auth`,
      'oidc.token_endpoint': `${world.oidc.url}/token`,
      'oidc.user_info_endpoint': `${world.oidc.url}/me`,
      'oidc.client_secret': 'the client secret',
    })
    const id = newUser('oidc')
    expect((await signIn(world.browser(), 'oidc')).body['success']).toBe(true)
    expect(await userOf('oidc', id)).toBeDefined()
  })

  it('says that its configuration cannot be read, be it away, of another issuer or no configuration', async () => {
    await using liar = await startReceiver()
    const documents = [
      { body: { issuer: 'https://elsewhere.example', authorization_endpoint: 'x', token_endpoint: 'y' } },
      { body: ['no configuration'] },
      { status: 500 },
    ]
    for (const document of documents) {
      liar.answerWith(() => document)
      const wellKnown = `${liar.url}/.well-known/openid-configuration`
      await world.setOptions({ 'oidc.well_known': wellKnown, 'oidc.client_secret': 'the client secret' })
      expect(await call(world.browser(), 'auth.oauth.start', { provider: 'oidc' })).toMatchObject({
        code: 'oidc.discovery_failed',
      })
    }
  })

  it('has its configuration read once for many who set out at once, and again where it could not be read', async () => {
    await using counting = await startReceiver()
    const endpoint = (name: string) => `${counting.url}/${name}`
    const good = { issuer: counting.url, authorization_endpoint: endpoint('auth'), token_endpoint: endpoint('token') }
    counting.answerWith(() => ({ status: 500, delayMs: 200 }))
    const wellKnown = endpoint('.well-known/openid-configuration')
    await world.setOptions({ 'oidc.well_known': wellKnown, 'oidc.client_secret': 'the client secret' })
    const twentySetOut = () =>
      Promise.all(Array.from({ length: 20 }, () => call(world.browser(), 'auth.oauth.start', { provider: 'oidc' })))
    expect((await twentySetOut()).map(({ code }) => code)).toEqual(Array(20).fill('oidc.discovery_failed'))
    const failed = counting.received.length
    counting.answerWith(() => ({ body: good, delayMs: 200 }))
    expect((await twentySetOut()).map(({ status }) => status)).toEqual(Array(20).fill(200))
    expect(counting.received.length - failed).toBe(1)
  })

  it('is tried with a code that cannot be good: a provider that knows us refuses the code, one that does not refuses us', async () => {
    const options = world.app.trpc(await world.app.make.user({ role: 100 })).admin.options
    expect(await options.testOidc.mutate()).toMatchObject({ tokenEndpoint: `${world.oidc.url}/token` })
    await world.setOptions({ 'oidc.client_secret': 'another secret' })
    await expect(options.testOidc.mutate()).rejects.toThrow('OIDC 服务器不接受客户端 ID 或密钥：invalid_client')
    await world.setOptions({ 'oidc.well_known': 'http://127.0.0.1:9/.well-known/openid-configuration' })
    await expect(options.testOidc.mutate()).rejects.toThrow('获取 OIDC 配置失败')
    await expect(options.testOidc.mutate(), 'with its cause').rejects.toThrow('ECONNREFUSED')
    await using page = await startReceiver()
    page.answerWith(() => ({ status: 404 }))
    await world.setOptions({ 'oidc.well_known': `${page.url}/.well-known/openid-configuration` })
    await expect(options.testOidc.mutate()).rejects.toThrow('status 404')
  })

  it('says where its endpoints are before it is saved, to root alone, and nothing else of what stands at an address', async () => {
    const { discoverOidc } = world.app.trpc(await world.app.make.user({ role: 100 })).admin.options
    await world.sql(`delete from options where key like 'oidc.%'`)
    await world.app.services.options.reload()
    expect(await discoverOidc.mutate({ address: world.oidc.wellKnown })).toEqual({
      authorizationEndpoint: `${world.oidc.url}/auth`,
      tokenEndpoint: `${world.oidc.url}/token`,
      userInfoEndpoint: `${world.oidc.url}/me`,
    })
    const admin = world.app.trpc(await world.app.make.user({ role: 10 })).admin.options
    await expect(admin.discoverOidc.mutate({ address: world.oidc.wellKnown })).rejects.toThrow('无权')
    await using page = await startReceiver()
    const address = `${page.url}/page`
    for (const [reply, reason] of [
      [{ body: { authorization_endpoint: `${page.url}/auth`, secret: 'of the page' } }, 'names no endpoints'],
      [{ body: { authorization_endpoint: 1, token_endpoint: 2 } }, 'names no endpoints'],
      [{ status: 302, headers: { location: world.oidc.wellKnown } }, 'status 302'],
    ] as const) {
      page.answerWith(() => reply)
      await expect(discoverOidc.mutate({ address })).rejects.toThrow(
        new RegExp(`^获取 OIDC 配置失败.*：the (OIDC )?configuration.* ${reason}$`),
      )
    }
    for (const [elsewhere, reason] of [
      ['http://169.254.169.254/latest', '不能指向链路本地地址'],
      ['file:///etc/passwd', '必须以 http:// 或 https:// 开头'],
      ['nowhere', '必须以 http:// 或 https:// 开头'],
    ] as const)
      await expect(discoverOidc.mutate({ address: elsewhere })).rejects.toThrow(reason)
    expect(page.received).toHaveLength(3)
  })

  it('is tried with the address of ours that sign-ins come back to, also where none is configured', async () => {
    await using provider = await startReceiver()
    const endpoint = (name: string) => `${provider.url}/${name}`
    provider.answerWith(({ path }) =>
      path === '/token'
        ? { status: 400, body: { error: 'invalid_grant' } }
        : {
            body: { issuer: provider.url, authorization_endpoint: endpoint('auth'), token_endpoint: endpoint('token') },
          },
    )
    const root = await world.app.make.user({ role: 100 })
    await world.setOptions({
      ServerAddress: '',
      'oidc.well_known': endpoint('.well-known/openid-configuration'),
      'oidc.client_secret': 'the client secret',
    })
    await world.app.trpc(root).admin.options.testOidc.mutate()
    const asked = provider.received.find(({ path }) => path === '/token')?.text
    expect(new URLSearchParams(asked).get('redirect_uri')).toBe(`${world.app.url}/oauth/oidc`)
  })

  it('does not send the secret to a host that was put in the old one’s place', async () => {
    await using other = await startReceiver()
    const root = await world.app.make.user({ role: 100 })
    const value = `${other.url}/.well-known/openid-configuration`
    await world.app.trpc(root).admin.options.update.mutate({ key: 'oidc.well_known', value })
    expect(world.app.services.options.get('oidc.client_secret')).toBe('')
  })
})

describe('an OIDC provider that signs with the secret of the client', () => {
  it('signs people in', async () => {
    const client = { id: 'the client', secret: 'the client secret', redirectUris: [`${world.app.url}/oauth/oidc`] }
    await using other = await startOidc(client, { signsWithSecret: true })
    const sub = newUser('oidc')
    other.be({ sub, email: 'by-secret@x.example' })
    await world.setOptions({ 'oidc.well_known': other.wellKnown, 'oidc.client_secret': client.secret })
    expect((await signIn(world.browser(), 'oidc')).body['success']).toBe(true)
    expect(await userOf('oidc', sub)).toMatchObject({ oidc_issuer: other.url })
  })

  it.each([
    { what: 'another secret', isIn: false, secret: 'another secret' },
    { what: 'no secret', isIn: false, secret: '' },
    { what: 'no secret, of a client that has none', isIn: false, secret: '', own: '' },
    { what: 'nothing at all', isIn: false, alg: 'none' },
    { what: 'the secret, though it has a key', isIn: false, algorithms: ['HS256', 'RS256'] },
    { what: 'the secret, without saying what it signs with', isIn: false, algorithms: undefined },
    { what: 'the secret', isIn: true },
  ])('signs nobody in whose token is signed with anything else: $what', async ({ isIn, ...token }) => {
    const usual = { secret: 'the client secret', own: 'the client secret', alg: 'HS256', algorithms: ['HS256'] }
    const { secret, own, alg, algorithms } = { ...usual, ...token }
    await using provider = await startReceiver()
    const endpoint = (name: string) => `${provider.url}/${name}`
    const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const [document, sub] = [endpoint('.well-known/openid-configuration'), newUser('oidc')]
    let nonce: string | null = null
    const idToken = () => {
      const seconds = Math.floor(Date.now() / 1000)
      const claims = { iss: provider.url, aud: 'the client', sub, nonce, iat: seconds, exp: seconds + 600 }
      const signed = `${encoded({ alg })}.${encoded({ ...claims, email: `${sub}@x.example` })}`
      const signature = alg === 'none' ? '' : createHmac('sha256', secret).update(signed).digest('base64url')
      return `${signed}.${signature}`
    }
    provider.answerWith(({ path }) => ({
      body:
        path === '/token'
          ? { access_token: 'a', token_type: 'bearer', id_token: idToken() }
          : {
              issuer: provider.url,
              authorization_endpoint: endpoint('auth'),
              token_endpoint: endpoint('token'),
              jwks_uri: endpoint('keys'),
              id_token_signing_alg_values_supported: algorithms,
            },
    }))
    await world.setOptions({ 'oidc.well_known': document, 'oidc.client_secret': own })
    const browser = world.browser()
    const { data } = await call(browser, 'auth.oauth.start', { provider: 'oidc' })
    const asked = new URL((data as { address: string }).address).searchParams
    nonce = asked.get('nonce')
    const reply = await finish(browser, 'oidc', { code: 'a code', state: asked.get('state') ?? '' })
    expect(reply.body['success']).toBe(isIn)
    expect((await userOf('oidc', sub)) !== undefined).toBe(isIn)
  })
})

describe('an OIDC provider that was put in the place of another', () => {
  it('signs nobody in to the accounts of the former, though its subjects are called the same', async () => {
    const sub = newUser('oidc')
    const owner = await world.app.make.user()
    const own = world.browser()
    own.become(owner.id, owner.sessionId)
    expect((await signIn(own, 'oidc')).body['message']).toBe('bind')
    await using other = await startOidc({
      id: 'the client',
      secret: 'the client secret',
      redirectUris: [`${world.app.url}/oauth/oidc`],
    })
    other.be({ sub, email: 'stranger@x.example' })
    await world.setOptions({ 'oidc.well_known': other.wellKnown, 'oidc.client_secret': 'the client secret' })
    const signedUp = (await signIn(world.browser(), 'oidc')).data as { id: number }
    expect(signedUp.id).not.toBe(owner.id)
    expect(await world.sql('select oidc_issuer from users where oidc_id = $1 order by id', [sub])).toEqual([
      { oidc_issuer: world.oidc.url },
      { oidc_issuer: other.url },
    ])
    // What the former provider said of somebody is no way to sign in any more.
    await world.sql(`update users set github_id = 'only', password_hash = null where id = $1`, [owner.id])
    expect(await call(own, 'user.account.bindings.unbind', { provider: 'github' })).toMatchObject({
      code: 'identity.only_way',
    })
    await world.switchOn()
    expect((await signIn(world.browser(), 'oidc')).data).toMatchObject({ id: owner.id })
  })

  it('leaves to whoever was bound before issuers were kept the provider that is set then', async () => {
    const migration = readFileSync(new URL('../../db/migrations/0055-oidc-issuers.sql', import.meta.url), 'utf8')
    const update = /^update "users"[^;]*;/m.exec(migration)?.[0] ?? ''
    const issuerAfter = async (key: string, value: string) => {
      await world.sql(`delete from options where key like 'oidc.%'`)
      await world.sql('insert into options (key, value) values ($1, $2)', [key, value])
      await world.sql(update)
      return (await world.sql('select distinct oidc_issuer from users where oidc_id is not null'))[0]?.['oidc_issuer']
    }
    await world.sql('update users set oidc_id = null')
    newUser('oidc')
    await signIn(world.browser(), 'oidc')
    expect(await issuerAfter('oidc.well_known', 'https://id.example/realm//.well-known/openid-configuration')).toBe(
      'https://id.example/realm',
    )
    expect(await issuerAfter('oidc.user_info_endpoint', 'https://id.example:8443/me?x')).toBe('https://id.example:8443')
    // As the endpoints' host is read ever after.
    for (const [endpoint, host] of [
      ['https://ID.Example:443/Me', 'https://id.example'],
      ['HTTP://id.example:80', 'http://id.example'],
      ['http://id.example:443/me', 'http://id.example:443'],
    ] as const) {
      expect(await issuerAfter('oidc.user_info_endpoint', endpoint)).toBe(host)
      expect(issuerByEndpoint(endpoint)).toBe(host)
    }
    const elsewhere = 'https://id.example/configuration'
    expect(await issuerAfter('oidc.well_known', elsewhere)).toBe(elsewhere)
    expect(issuerByDocument(elsewhere)).toBe(elsewhere)
  })
})

describe('who somebody is', () => {
  it('is identified by the id that never changes, not by a name that somebody else can take over', async () => {
    world.github.be({ id: 900_001, login: 'famous' })
    const owner = await signIn(world.browser(), 'github')
    world.github.be({ id: 900_002, login: 'famous' })
    const signedUp = await signIn(world.browser(), 'github')
    expect(signedUp.data).not.toMatchObject({ id: (owner.data as { id: number }).id })
    world.github.be({ id: 900_001, login: 'renamed' })
    expect((await signIn(world.browser(), 'github')).data).toMatchObject({ id: (owner.data as { id: number }).id })
  })

  it('is never concluded from an e-mail address, verified or not', async () => {
    const owner = await world.app.make.user()
    const email = 'owner@x.example'
    await world.sql('update users set email = $2, email_normalized = $2 where id = $1', [owner.id, email])
    const verified = newUser('oidc', { email: 'Owner@x.example', email_verified: true })
    expect((await signIn(world.browser(), 'oidc')).body['message']).toMatch(/^该 OIDC 账户的邮箱已属于本站的一个账户/)
    expect(await userOf('oidc', verified)).toBeUndefined()
    const unverified = newUser('oidc', { email, email_verified: false })
    const reply = await signIn(world.browser(), 'oidc')
    expect(reply.data).not.toMatchObject({ id: owner.id })
    expect(await userOf('oidc', unverified)).toMatchObject({ email: '', email_normalized: null })
  })

  it.each<[unknown, string]>([
    [true, 'verified1@x.example'],
    ['true', 'verified2@x.example'],
    ['false', ''],
    [1, ''],
    [undefined, ''],
  ])('has an address where the provider says that it is verified, in JSON or as a text: %j', async (claim, email) => {
    const id = newUser('oidc', { email: email || 'unverified@x.example', email_verified: claim })
    expect((await signIn(world.browser(), 'oidc')).body['success']).toBe(true)
    expect(await userOf('oidc', id)).toMatchObject({ email })
  })

  it('has an address that nobody else has, also where twenty come with one at once', async () => {
    const browsers = Array.from({ length: 20 }, () => world.browser())
    const backs: Record<string, string>[] = []
    for (const browser of browsers) {
      newUser('oidc', { email: 'many@x.example', email_verified: true })
      backs.push(await setOut(browser, 'oidc'))
    }
    const replies = await Promise.all(
      browsers.map((browser, index) => finish(browser, 'oidc', backs[index] as Record<string, string>)),
    )
    expect(replies.filter(({ body }) => body['success'])).toHaveLength(1)
    const refusals = replies.flatMap(({ status, body }) =>
      body['success'] ? [] : [`${status} ${String(body['message'])}`],
    )
    for (const refusal of refusals)
      expect(refusal).toMatch(/^200 (该 OIDC 账户的邮箱已属于本站的一个账户|该邮箱地址已被占用)/)
    expect(await world.sql("select 1 from users where email_normalized = 'many@x.example'")).toHaveLength(1)
  })

  it('brings along only an address that the provider has verified', async () => {
    const emails = [
      { email: 'first@gh.example', primary: true, verified: true },
      { email: 'second@gh.example', primary: false, verified: true },
    ]
    const id = newUser('github', { name: 'Ann', emails })
    await signIn(world.browser(), 'github')
    expect(await userOf('github', id)).toMatchObject({ display_name: 'Ann', email: 'first@gh.example' })
    const other = newUser('github', { emails: [{ email: 'un@gh.example', primary: true, verified: false }] })
    await signIn(world.browser(), 'github')
    expect(await userOf('github', other)).toMatchObject({ email: '' })
  })

  it.each([403, 404])(
    'has no address where GitHub refuses them with %d, and one is asked for again where it fails',
    async (emails) => {
      const id = newUser('github', { emails })
      expect((await signIn(world.browser(), 'github')).body['success']).toBe(true)
      expect(await userOf('github', id)).toMatchObject({ email: '' })
      const failing = newUser('github', { emails: 500 })
      expect(await signIn(world.browser(), 'github')).toMatchObject(refused('无法连接至 GitHub 服务器，请稍后重试！'))
      expect(await userOf('github', failing)).toBeUndefined()
    },
  )

  it('is named as at the provider where nobody has the name, and by a number otherwise', async () => {
    const first = newUser('oidc', { preferred_username: 'trinity', name: 'T' })
    await signIn(world.browser(), 'oidc')
    expect(await userOf('oidc', first)).toMatchObject({ username: 'trinity', display_name: 'T' })
    const names = ['trinity', 'Тrinity', 'far too long for a name', 'a@b.example', 'zero\u200bwidth']
    for (const preferred_username of names) {
      const id = newUser('oidc', { preferred_username })
      await signIn(world.browser(), 'oidc')
      expect((await userOf('oidc', id))?.['username']).toMatch(/^oidc_\d+$/)
    }
  })

  it('needs the trust level that the site asks for, which the profile alone has', async () => {
    await world.setOptions({ LinuxDOMinimumTrustLevel: '3' })
    const id = newUser('linuxdo', { trust_level: 2 })
    const browser = world.browser()
    const back = await setOut(browser, 'linuxdo')
    expect(await finish(browser, 'linuxdo', { ...back, trust_level: '4' })).toMatchObject(
      refused('Linux DO 信任等级不足，最低要求 3 级'),
    )
    expect(await userOf('linuxdo', id)).toBeUndefined()
    newUser('linuxdo', { trust_level: 3 })
    expect((await signIn(world.browser(), 'linuxdo')).body['success']).toBe(true)
  })

  it('is incomplete without a number at GitHub or an address at OIDC', async () => {
    newUser('oidc', { email: undefined })
    expect(await signIn(world.browser(), 'oidc')).toMatchObject(refused('OIDC 返回的用户信息不完整'))
    world.github.be({ id: 'octocat' as unknown as number, login: 'octocat' })
    expect(await signIn(world.browser(), 'github')).toMatchObject(refused('GitHub 返回的用户信息不完整'))
  })
})

describe('a provider that is', async () => {
  const impatient = await startSignInWorld({ SIGN_IN_TIMEOUT_SECONDS: '1' })
  afterAll(() => impatient[Symbol.asyncDispose]())
  const visits = createVisits(() => impatient)

  test.each(['silent', 'broken', 'page', 'endless', 'gone'] as const)(
    '%s keeps nobody waiting for longer than is set, and lets nobody in',
    async (behaviour) => {
      await impatient.reset()
      visits.newUser('github')
      visits.newUser('linuxdo')
      const before = await impatient.sql('select count(*) from users')
      const outcomes = await Promise.all(
        (['github', 'linuxdo'] as const).map(async (provider) => {
          const browser = impatient.browser()
          const back = await visits.setOut(browser, provider)
          impatient[provider].behave(behaviour)
          return visits.finish(browser, provider, back)
        }),
      )
      expect(outcomes.map(({ body }) => body['message'])).toEqual([
        '无法连接至 GitHub 服务器，请稍后重试！',
        '无法连接至 Linux DO 服务器，请稍后重试！',
      ])
      expect(await impatient.sql('select count(*) from users')).toEqual(before)
    },
  )
})
