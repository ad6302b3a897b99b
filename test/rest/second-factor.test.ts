import { type TOTP, URI } from 'otpauth'
import { describe, expect, it } from 'vitest'
import { wrongPassword } from '#test/support/wrong-password.ts'
import { type Browser, type ConsoleApp, type Person, startFileConsole, refused } from '#test/support/console-app.ts'

const app = await startFileConsole()

type Codes = { backup_codes: string[] }
type Enrolled = {
  person: Person
  browser: Browser
  codes: string[]
  password: () => string
  wrong: string
}

/** It is taken as early as this, and longest. */
const nextPassword = (generator: TOTP) => generator.generate({ timestamp: Date.now() + 30_000 })

/** Somebody whose app shows one-time passwords; the first is used up. */
async function enrolled(fields: Parameters<ConsoleApp['person']>[0] = {}): Promise<Enrolled> {
  const person = await app.person(fields)
  const browser = await app.signedIn(person)
  const { qr_code_data: uri } = (await browser.post('/api/user/2fa/setup')).data as { qr_code_data: string }
  const generator = URI.parse(uri) as TOTP
  const password = () => nextPassword(generator)
  const reply = await browser.post('/api/user/2fa/enable', { code: password() })
  return { person, browser, codes: (reply.data as Codes).backup_codes, password, wrong: wrongPassword(generator) }
}

/** As if enough time had gone by for another one-time password. */
const laterPasswords = (person: Person) =>
  app.sql('update authenticators set last_step = last_step - 4 where user_id = $1', [person.id])

/** A browser that sent the password and is asked for the second step. */
async function halfSignedIn({ person }: Enrolled): Promise<Browser> {
  const browser = app.browser()
  const reply = await browser.login(person)
  expect(reply.body).toMatchObject({ success: true, data: { require_2fa: true } })
  browser.become(person.id)
  return browser
}

const secondStep = (browser: Browser, code: string) => browser.post('/api/user/login/2fa', { code })

describe('setting up an authenticator', () => {
  it('wants the password of whoever signed in more than ten minutes ago', async () => {
    const person = await app.person()
    const browser = await app.signedIn(person)
    await app.sql(`update sessions set created_at = now() - interval '11 minutes' where user_id = $1`, [person.id])
    const unconfirmed = refused('请先确认是您本人：输入密码，或重新登录后再试')
    expect(await browser.post('/api/user/2fa/setup')).toMatchObject(unconfirmed)
    const api = await app.trpc(person)
    await app.sql(`update sessions set created_at = now() - interval '11 minutes' where user_id = $1`, [person.id])
    await expect(api.user.secondFactor.setUpAuthenticator()).rejects.toThrow(unconfirmed.body.message)
    await expect(api.user.secondFactor.passkeys.options()).rejects.toThrow(unconfirmed.body.message)
    await expect(api.user.secondFactor.confirmPassword({ password: 'wrong password' })).rejects.toThrow(
      '当前密码不正确',
    )
    await api.user.secondFactor.confirmPassword({ password: person.password })
    expect(await api.user.secondFactor.setUpAuthenticator()).toMatchObject({ secret: expect.any(String) })
    // Where there is a second factor the password is no proof of it.
    const other = (await enrolled()).person
    const elsewhere = await app.trpc(other)
    await expect(elsewhere.user.secondFactor.confirmPassword({ password: other.password })).rejects.toThrow(
      '此操作需要先完成两步验证',
    )
  })

  it('counts from the first one-time password that is entered, and gives ten recovery codes once', async () => {
    const person = await app.person()
    const browser = await app.signedIn(person)
    const setUp = (await browser.post('/api/user/2fa/setup')).data as { secret: string; qr_code_data: string }
    expect(setUp.qr_code_data).toContain(setUp.secret)
    expect((await browser.get('/api/user/2fa/status')).data).toMatchObject({ enabled: false })
    const generator = URI.parse(setUp.qr_code_data) as TOTP
    for (const code of [wrongPassword(generator), '００００００', '12345']) {
      expect(await browser.post('/api/user/2fa/enable', { code })).toMatchObject(refused('验证码错误，或已使用过'))
    }
    expect((await app.browser().login(person)).data).toMatchObject({ id: person.id })
    const code = nextPassword(generator)
    const { backup_codes: codes } = (await browser.post('/api/user/2fa/enable', { code })).data as Codes
    expect(new Set(codes).size).toBe(10)
    expect((await browser.get('/api/user/2fa/status')).data).toMatchObject({
      enabled: true,
      backup_codes_remaining: 10,
    })
    expect((await app.browser().login(person)).data).toEqual({ require_2fa: true })
  })

  it('keeps neither the secret nor a recovery code readable', async () => {
    const { person, codes } = await enrolled()
    const rows = await app.sql(
      `select secret_encrypted as text from authenticators where user_id = $1
       union all select code_hash from recovery_codes where user_id = $1`,
      [person.id],
    )
    expect(rows).toHaveLength(11)
    for (const code of codes) expect(JSON.stringify(rows)).not.toContain(code)
  })
})

describe('the second step of the login', () => {
  it('is asked for after the password, and nothing can be done before it', async () => {
    const account = await enrolled()
    const browser = await halfSignedIn(account)
    const paths = ['/api/user/self', '/api/token/', '/api/user/token', '/api/user/2fa/status', '/api/log/self']
    for (const path of paths) expect([path, (await browser.get(path)).status]).toEqual([path, 401])
    expect((await browser.post('/api/verify', { code: account.codes[0] })).status).toBe(401)
    const before = browser.session()
    await laterPasswords(account.person)
    expect((await secondStep(browser, account.password())).data).toMatchObject({ id: account.person.id })
    expect(browser.session()).not.toBe(before)
    expect((await browser.get('/api/user/self')).body['success']).toBe(true)
  })

  it('takes each one-time password once, also for nine at once', async () => {
    const account = await enrolled()
    await laterPasswords(account.person)
    const browsers = await Promise.all(Array.from({ length: 9 }, () => halfSignedIn(account)))
    // Only now: it counts for a minute, which nine sign-ins may take.
    const code = account.password()
    const replies = await Promise.all(browsers.map((browser) => secondStep(browser, code)))
    expect(replies.filter(({ body }) => body['success'])).toHaveLength(1)
    expect(await secondStep(await halfSignedIn(account), code)).toMatchObject(refused('验证码错误，或已使用过'))
  })

  it('takes each recovery code once, also for fifty at once, and writes it down', async () => {
    const account = await enrolled()
    const [code = '', other = ''] = account.codes
    const api = await app.trpc(account.person)
    const uses = await Promise.allSettled(
      Array.from({ length: 50 }, async (_, at) =>
        (await app.trpc(account.person, { client: { ...client, ip: `10.1.${at}.1` } })).user.secondFactor.verify({
          code,
        }),
      ),
    )
    expect(uses.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(await api.user.secondFactor.get()).toMatchObject({ recoveryCodes: 9 })
    expect((await secondStep(await halfSignedIn(account), other.toUpperCase().replace('-', ' '))).body['success']).toBe(
      true,
    )
    expect(
      await app.sql(
        `select target_id from audit_entries where action = 'account.use_recovery_code' and target_id = $1`,
        [String(account.person.id)],
      ),
    ).toHaveLength(2)
  })

  it('ends after five wrong answers and after ten minutes', async () => {
    const account = await enrolled()
    await laterPasswords(account.person)
    const guesser = await halfSignedIn(account)
    for (let count = 0; count < 5; count += 1)
      expect((await secondStep(guesser, account.wrong)).body['success']).toBe(false)
    expect(await secondStep(guesser, account.password())).toMatchObject(
      refused('登录已超时，或错误次数过多，请重新登录'),
    )
    const slow = await halfSignedIn(account)
    await app.sql(`update sign_in_challenges set expires_at = now() where user_id = $1`, [account.person.id])
    expect(await secondStep(slow, account.password())).toMatchObject(refused('登录已超时，或错误次数过多，请重新登录'))
  })

  it('ends when the password is replaced, and when the account is banned or deleted', async () => {
    const root = await app.signedIn(await app.person({ role: 100 }))
    const acts: ((id: number) => Promise<unknown>)[] = [
      (id) => root.put('/api/user/', { id, password: 'another one' }),
      (id) => root.post('/api/user/manage', { id, action: 'disable' }),
      (id) => root.post('/api/user/manage', { id, action: 'delete' }),
    ]
    for (const act of acts) {
      const account = await enrolled()
      const browser = await halfSignedIn(account)
      await act(account.person.id)
      expect((await secondStep(browser, account.codes[0] ?? '')).body['success']).toBe(false)
    }
  })

  it('is for the browser that sent the password alone', async () => {
    const account = await enrolled()
    await halfSignedIn(account)
    expect((await secondStep(app.browser(), account.codes[0] ?? '')).body['success']).toBe(false)
  })
})

describe('what is asked for again', () => {
  it('wants a proof that is at most ten minutes old, of those who have a second factor', async () => {
    const account = await enrolled()
    const { browser } = account
    const act = () => browser.get('/api/user/token')
    expect((await act()).body['success']).toBe(true)
    await app.sql(`update sessions set verified_at = now() - interval '601 seconds' where user_id = $1`, [
      account.person.id,
    ])
    expect(await act()).toMatchObject(refused('此操作需要先完成两步验证'))
    expect((await browser.post('/api/verify', { code: account.codes[0] })).body['success']).toBe(true)
    expect((await act()).body['success']).toBe(true)
    expect((await (await app.signedIn(await app.person())).get('/api/user/token')).body['success']).toBe(true)
  })

  it('is refused to system access tokens of those who have one', async () => {
    const account = await enrolled()
    const token = String((await account.browser.get('/api/user/token')).data)
    const script = app.browser()
    script.become(account.person.id)
    const headers = { authorization: token }
    expect((await script.get('/api/user/self', { headers })).body['success']).toBe(true)
    expect(await script.get('/api/user/token', { headers })).toMatchObject(
      refused('账户开启了两步验证，系统访问令牌不能执行此操作，请登录控制台操作'),
    )
  })

  it('goes with the session that proved it, not with others', async () => {
    const account = await enrolled()
    const other = await app.signedIn(account.person)
    expect(await other.get('/api/user/token')).toMatchObject(refused('此操作需要先完成两步验证'))
  })
})

describe('new recovery codes', () => {
  it('want a code, and the former ones are worth nothing any more', async () => {
    const account = await enrolled()
    const replace = (code = account.wrong) => account.browser.post('/api/user/2fa/backup_codes', { code })
    expect(await replace()).toMatchObject(refused('验证码错误，或已使用过'))
    const { backup_codes: codes } = (await replace(account.codes[0])).data as Codes
    expect(new Set([...codes, ...account.codes]).size).toBe(20)
    const browser = await halfSignedIn(account)
    expect(await secondStep(browser, account.codes[1] ?? '')).toMatchObject(refused('验证码错误，或已使用过'))
    expect((await secondStep(browser, codes[1] ?? '')).body['success']).toBe(true)
  })
})

describe('giving it up', () => {
  it('wants a code, takes the recovery codes along and is recorded', async () => {
    const account = await enrolled()
    expect(await account.browser.post('/api/user/2fa/disable', { code: account.wrong })).toMatchObject(
      refused('验证码错误，或已使用过'),
    )
    const code = account.codes[3]
    expect((await account.browser.post('/api/user/2fa/disable', { code })).body['success']).toBe(true)
    expect((await app.browser().login(account.person)).data).toMatchObject({ id: account.person.id })
    expect(await app.sql('select 1 from recovery_codes where user_id = $1', [account.person.id])).toEqual([])
    const actions = await app.sql('select action from audit_entries where actor_id = $1 order by id', [
      account.person.id,
    ])
    expect(actions.map(({ action }) => action)).toEqual([
      'account.enable_totp',
      'account.use_recovery_code',
      'account.disable_totp',
    ])
  })

  it('is done for somebody who lost it by a higher role alone, and is recorded', async () => {
    const account = await enrolled({ role: 10 })
    const peer = await app.trpc(await app.person({ role: 10 }))
    await expect(peer.admin.secondFactor.reset({ id: account.person.id })).rejects.toMatchObject({
      cause: { code: 'user.target_forbidden' },
    })
    const rootPerson = await app.person({ role: 100 })
    const root = await app.trpc(rootPerson)
    expect(await root.admin.secondFactor.get({ id: account.person.id })).toMatchObject({ authenticator: true })
    await root.admin.secondFactor.reset({ id: account.person.id })
    expect((await app.browser().login(account.person)).data).toMatchObject({ id: account.person.id })
    expect(await app.sql('select action, target_name from audit_entries where actor_id = $1', [rootPerson.id])).toEqual(
      [{ action: 'users.reset_second_factor', target_name: account.person.username }],
    )
  })
})

it('a hundred wrong one-time passwords a day are tried for one account, from however many networks, and recovery codes after them', async () => {
  const account = await enrolled()
  await laterPasswords(account.person)
  const verify = async (at: number, code: string) =>
    (await app.trpc(account.person, { client: { ...client, ip: `2001:db8:${at}::1` } })).user.secondFactor
      .verify({ code })
      .then(
        () => 'verified',
        (error: { cause?: { code?: string } }) => error.cause?.code,
      )
  const outcomes = await Promise.all(Array.from({ length: 120 }, (_, at) => verify(at, account.wrong)))
  expect(outcomes.filter((outcome) => outcome === 'second_factor.code_wrong')).toHaveLength(100)
  expect(outcomes.filter((outcome) => outcome === 'rate_limited')).toHaveLength(20)
  expect(await verify(200, account.password())).toBe('rate_limited')
  expect(await verify(201, account.codes[0] ?? '')).toBe('verified')
})

/** Guesses from many networks, so that it is the code that decides and not the throttle. */
const client = {
  ip: '10.0.0.1',
  userAgent: '',
  secure: false,
  loopback: false,
  origin: 'http://localhost',
}
