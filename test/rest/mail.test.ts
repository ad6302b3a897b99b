import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { codeOf, startConsole, refused } from '#test/support/console-app.ts'
import { startMailServer, textOf } from '#test/support/mail-server.ts'

const smtp = await startMailServer()
const app = await startConsole()
await app.sql("insert into setup_records (id, version, initialized_at) values (1, '0', now())")
afterAll(async () => {
  await smtp.close()
  await app[Symbol.asyncDispose]()
})
beforeEach(async () => {
  smtp.mails.length = 0
  smtp.refuse(false)
  await app.sql('delete from options')
  await app.setOptions({
    SMTPServer: '127.0.0.1',
    SMTPPort: String(smtp.port),
    SMTPFrom: 'gateway@x.example',
    ServerAddress: 'https://gateway.example',
  })
})

const arrived = async (): Promise<string> => {
  await expect.poll(() => smtp.mails.length).toBeGreaterThan(0)
  return textOf(smtp.mails.at(-1)?.source ?? '')
}
let serial = 0
const newAddress = () => `person${(serial += 1)}@x.example`
const verification = (email: string) => app.browser().get('/api/verification', { query: { email } })
const mailedCode = async (email: string): Promise<string> => {
  smtp.mails.length = 0
  expect((await verification(email)).body).toEqual({ success: true, message: '' })
  return /[：:]([0-9a-f]{6})\b/.exec(await arrived())?.[1] ?? 'no code'
}
const wrongCode = refused('验证码错误或已过期')

describe('mail settings', () => {
  it('send no password to a server that offers no TLS, unless it is on this machine', async () => {
    const lines: string[] = []
    const plain = createServer((socket) => {
      socket.on('error', () => {}).write('220 here\r\n')
      socket.on('data', (chunk) => {
        const line = chunk.toString()
        lines.push(line)
        const answer = line.startsWith('EHLO')
          ? '250-here\r\n250 AUTH PLAIN LOGIN'
          : line.startsWith('AUTH')
            ? '535 no'
            : '502 no'
        socket.write(`${answer}\r\n`)
      })
    }).listen(0, '0.0.0.0')
    await once(plain, 'listening')
    await app.setOptions({ SMTPPort: String((plain.address() as AddressInfo).port), SMTPAccount: 'a', SMTPToken: 'p' })
    const options = (await app.trpc(await app.person({ role: 100 }))).admin.options
    const hasAuthenticated = async (server: string) => {
      await app.setOptions({ SMTPServer: server })
      lines.length = 0
      await expect(options.testMail({ to: 'operator@x.example' })).rejects.toThrow(/^邮件发送失败：/)
      return lines.some((line) => line.startsWith('AUTH'))
    }
    expect(await hasAuthenticated('127.0.0.2')).toBe(false)
    expect(lines).toContainEqual(expect.stringMatching(/^STARTTLS/))
    expect(await hasAuthenticated('127.0.0.1')).toBe(true)
    plain.close()
  })

  it('that lead to a server that never comes to an end keep nobody waiting for ever', async () => {
    const total = new AbortController()
    const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(total.signal)
    const sockets: Socket[] = []
    // A greeting that goes on line after line, each in time.
    const endless = createServer((socket) => {
      sockets.push(socket.on('error', () => {}))
      socket.write('220-still greeting\r\n', () => total.abort())
    }).listen(0, '127.0.0.1')
    await once(endless, 'listening')
    await app.setOptions({ SMTPPort: String((endless.address() as AddressInfo).port) })
    const options = (await app.trpc(await app.person({ role: 100 }))).admin.options
    await expect(options.testMail({ to: 'operator@x.example' })).rejects.toThrow(/abort/i)
    expect(timeout).toHaveBeenCalledWith(60_000)
    timeout.mockRestore()
    for (const socket of sockets) socket.destroy()
    endless.close()
  })

  it('let through the domains of the list alone, and their subdomains not', async () => {
    await app.setOptions({ EmailDomainRestrictionEnabled: 'true', EmailDomainWhitelist: 'only.example,too.example' })
    expect(await verification(`p${Date.now()}@too.example`)).toMatchObject({ body: { success: true } })
    expect(await verification('p@other.example')).toMatchObject(refused('该邮箱的域名不在白名单中'))
  })

  it('speak TLS from the first byte where they say so, which a plain server does not answer', async () => {
    const options = (await app.trpc(await app.person({ role: 100 }))).admin.options
    await app.setOptions({ SMTPSSLEnabled: 'true' })
    await expect(options.testMail({ to: 'operator@x.example' })).rejects.toThrow(/^邮件发送失败：/)
    await app.setOptions({ SMTPSSLEnabled: 'false' })
    await options.testMail({ to: 'operator@x.example' })
  })

  it('greet the server by the host of the site’s address, and by none that is no name', async () => {
    for (const [address, greeting] of [
      ['https://gateway.example:8443/sub', 'gateway.example'],
      ['http://198.51.100.7', expect.not.stringContaining('198.51.100.7')],
      ['http://localhost:3000', expect.not.stringMatching(/^localhost$/)],
    ]) {
      await app.setOptions({ ServerAddress: String(address) })
      await mailedCode(newAddress())
      expect(smtp.mails[0]?.greeting).toEqual(greeting)
    }
  })

  it('sign in with account and credential where there is an account, and name the account as sender', async () => {
    const options = (await app.trpc(await app.person({ role: 100 }))).admin.options
    await app.setOptions({ SMTPFrom: '', SMTPAccount: 'mailer@x.example', SMTPToken: 'a credential' })
    await expect(options.testMail({ to: 'operator@x.example' })).rejects.toThrow(/^邮件发送失败：/)
    await app.setOptions({ SMTPAccount: '' })
    await expect(options.testMail({ to: 'operator@x.example' })).rejects.toThrow('管理员未配置邮件服务器')
  })
})

describe('the test mail', () => {
  const root = async () => (await app.trpc(await app.person({ role: 100 }))).admin.options
  it('goes out by the saved settings, and says what the mail server said when it does not', async () => {
    const options = await root()
    await options.testMail({ to: 'operator@x.example' })
    expect(await arrived()).toContain('This is a test mail')
    expect(smtp.mails.at(-1)?.to).toEqual(['operator@x.example'])
    smtp.refuse(true)
    await expect(options.testMail({ to: 'operator@x.example' })).rejects.toThrow(/^邮件发送失败：.*no such mailbox/)
    await app.setOptions({ SMTPServer: '' })
    await expect(options.testMail({ to: 'operator@x.example' })).rejects.toThrow('管理员未配置邮件服务器')
  })
})

describe('the verification code', () => {
  const register = (username: string, fields: Record<string, unknown>) =>
    app.browser().post('/api/user/register', { username, password: 'long enough', ...fields })

  beforeEach(() => app.setOptions({ EmailVerificationEnabled: 'true' }))

  it('proves an address at sign-up, once', async () => {
    const email = newAddress()
    expect(await register('unproved', { email })).toMatchObject(refused('请输入邮箱地址和邮箱验证码'))
    const code = await mailedCode(email)
    expect(smtp.mails.at(-1)?.to).toEqual([email])
    expect(JSON.stringify(await app.sql('select * from one_time_codes'))).not.toContain(code)
    expect((await register('proved', { email, verification_code: code.toUpperCase() })).body['success']).toBe(true)
    expect(await app.sql("select email, email_normalized from users where username = 'proved'")).toEqual([
      { email, email_normalized: email },
    ])
    expect(await register('again', { email, verification_code: code })).toMatchObject(wrongCode)
  })

  it('is not spent on a name that is taken', async () => {
    const email = newAddress()
    const code = await mailedCode(email)
    await app.person({ username: 'occupied' })
    expect((await register('occupied', { email, verification_code: code })).body['success']).toBe(false)
    expect((await register('unoccupied', { email, verification_code: code })).body['success']).toBe(true)
  })

  it('dies after five wrong attempts, from wherever they come', async () => {
    const email = newAddress()
    const code = await mailedCode(email)
    for (let count = 0; count < 5; count += 1) {
      expect(await register('guesser', { email, verification_code: 'zzzzzz' })).toMatchObject(wrongCode)
    }
    expect(await register('guesser', { email, verification_code: code })).toMatchObject(wrongCode)
  })

  it('lives ten minutes by the clock of the database', async () => {
    const email = newAddress()
    const code = await mailedCode(email)
    const age = (minutes: string) =>
      app.sql(`update one_time_codes set expires_at = expires_at - interval '${minutes}'`)
    await age('9 minutes')
    const [left] = await app.sql('select expires_at > now() as alive from one_time_codes where subject = $1', [email])
    expect(left).toEqual({ alive: true })
    await age('61 seconds')
    expect(await register('tardy', { email, verification_code: code })).toMatchObject(wrongCode)
  })

  it('serves one of two who come at once', async () => {
    const email = newAddress()
    const code = await mailedCode(email)
    const replies = await Promise.all(
      ['twin1', 'twin2'].map((name) => register(name, { email, verification_code: code })),
    )
    expect(replies.filter((reply) => reply.body['success'])).toHaveLength(1)
  })

  it('does not tell whether the address has an account', async () => {
    const known = await app.person({ email: 'known@x.example', emailNormalized: 'known@x.example' })
    const [unknownReply, knownReply] = [await verification(newAddress()), await verification('Known@X.example')]
    expect(knownReply.status).toBe(unknownReply.status)
    expect(knownReply.text).toBe(unknownReply.text)
    const mail = await arrived()
    expect(mail).toContain('已经属于')
    expect(mail).not.toMatch(/[：:][0-9a-f]{6}\b/)
    expect(known.id).toBeGreaterThan(0)
  })

  it.each([
    [{}, '', '请输入邮箱！'],
    [{}, 'nonsense', '邮箱地址格式不正确'],
    [{}, `x@${'y'.repeat(60)}.example`, '邮箱地址格式不正确'],
    [{ EmailDomainRestrictionEnabled: 'true' }, 'a@sub.qq.com', '该邮箱的域名不在白名单中'],
    [{ EmailAliasRestrictionEnabled: 'true' }, 'a+b@qq.com', '不允许使用邮箱别名，请去掉地址中的 + 或 .'],
    [{ EmailAliasRestrictionEnabled: 'true' }, 'a.b@qq.com', '不允许使用邮箱别名，请去掉地址中的 + 或 .'],
    [{ SMTPServer: '' }, 'a@qq.com', '管理员未配置邮件服务器'],
  ] as const)('under %j is refused to %s', async (options, email, message) => {
    await app.setOptions(options)
    expect(await verification(email)).toMatchObject(refused(message))
    expect(smtp.mails).toEqual([])
  })

  it('is asked for five times an hour by one network and twenty times by all, apart from mails of the other kind', async () => {
    const email = newAddress()
    for (let count = 0; count < 5; count += 1) expect((await verification(email)).status).toBe(200)
    expect((await verification(email)).status).toBe(429)
    const others = async (act: 'sendVerificationCode' | 'requestPasswordReset', network: number) => {
      const client = { ip: `10.9.${network}.1`, userAgent: '', secure: false, loopback: false, origin: '' }
      return (await app.trpc(null, { client })).auth[act]({ email, turnstile: '' })
    }
    for (let network = 0; network < 15; network += 1) await others('sendVerificationCode', network)
    expect(await codeOf(others('sendVerificationCode', 15))).toBe('rate_limited')
    await others('requestPasswordReset', 15)
  })

  it('says when the mail could not be sent', async () => {
    smtp.refuse(true)
    expect(await verification(newAddress())).toMatchObject(refused('邮件发送失败，请稍后重试'))
  })
})

describe('what is no plain address', () => {
  it.each([
    '<b>a</b>@x.example',
    'a@x.example\r\nBcc: b@x.example',
    'a@x.example,b@x.example',
    '"a b"@x.example',
    // Letters that look like others, in a mailbox and in a domain.
    'аnn@x.example',
    'ａnn@x.example',
    'ann@х.example',
  ])('is mailed nothing and belongs to nobody: %j', async (email) => {
    const noAddress = refused('邮箱地址格式不正确')
    await app.setOptions({ EmailVerificationEnabled: 'true' })
    const browser = await app.signedIn(await app.person())
    expect(await verification(email)).toMatchObject(noAddress)
    expect(await browser.get('/api/reset_password', { query: { email } })).toMatchObject(noAddress)
    expect(await browser.get('/api/oauth/email/bind', { query: { email, code: 'ffffff' } })).toMatchObject(noAddress)
    const form = { username: 'somebody', password: 'long enough', email, verification_code: 'ffffff' }
    expect(await app.browser().post('/api/user/register', form)).toMatchObject(noAddress)
    expect(smtp.mails).toEqual([])
  })
})

describe('GET /api/oauth/email/bind', () => {
  it('binds a proved address to the session’s user, without the user-id header', async () => {
    const person = await app.person()
    const browser = await app.signedIn(person)
    browser.become(null)
    const email = newAddress()
    const code = await mailedCode(email)
    const bind = (query: Record<string, string>) => browser.get('/api/oauth/email/bind', { query })
    expect(await bind({ email, code: 'ffffff' })).toMatchObject(wrongCode)
    expect((await bind({ email, code })).body).toEqual({ success: true, message: '' })
    expect(await app.sql('select email from users where id = $1', [person.id])).toEqual([{ email }])
    expect(
      await app.sql('select action, target_id, before, after from audit_entries where actor_id = $1', [person.id]),
    ).toEqual([{ action: 'account.bind_email', target_id: String(person.id), before: { email: '' }, after: { email } }])
    expect(await bind({ email, code })).toMatchObject(wrongCode)
    expect(await bind({ email: '', code })).toMatchObject(refused('请输入邮箱！'))
  })

  it('gives one address to one account, whatever the letter case', async () => {
    const email = newAddress()
    const code = await mailedCode(email)
    await app.person({ email: email.toUpperCase(), emailNormalized: email })
    const browser = await app.signedIn(await app.person())
    expect(await browser.get('/api/oauth/email/bind', { query: { email, code } })).toMatchObject(
      refused('该邮箱地址已被占用'),
    )
  })

  it('needs a login and no other site', async () => {
    expect(
      (await app.browser().get('/api/oauth/email/bind', { query: { email: 'a@b.example', code: 'x' } })).status,
    ).toBe(401)
    const browser = await app.signedIn(await app.person())
    const reply = await browser.get('/api/oauth/email/bind', {
      query: { email: 'a@b.example', code: 'x' },
      headers: { 'sec-fetch-site': 'cross-site' },
    })
    expect(reply).toMatchObject(refused('请求来源不受信任'))
  })
})

describe('the password reset', () => {
  const ask = (email: string, headers: Record<string, string> = {}) =>
    app.browser().get('/api/reset_password', { query: { email }, headers })
  const reset = (email: string, token: string) => app.browser().post('/api/user/reset', { email, token })
  const owner = async () => {
    const email = newAddress()
    return { ...(await app.person({ email, emailNormalized: email })), email }
  }
  const mailedLink = async (email: string, headers?: Record<string, string>) => {
    smtp.mails.length = 0
    expect((await ask(email, headers)).body).toEqual({ success: true, message: '' })
    const link = /https?:\/\/\S+/.exec(await arrived())?.[0] ?? ''
    return { link, token: new URL(link).searchParams.get('token') ?? '' }
  }
  const invalid = refused('重置链接无效或已过期')

  it('turns the mailed link into a new password and signs out everywhere', async () => {
    const person = await owner()
    const browser = await app.signedIn(person)
    const { link, token } = await mailedLink(person.email)
    expect(link).toBe(`https://gateway.example/user/reset?email=${encodeURIComponent(person.email)}&token=${token}`)
    expect(token).toMatch(/^[0-9a-f]{32}$/)
    expect(JSON.stringify(await app.sql('select * from one_time_codes'))).not.toContain(token)
    expect((await browser.get('/api/user/self')).status).toBe(200)
    const reply = await reset(person.email, token)
    expect(reply.data).toMatch(/^[0-9A-Za-z]{12}$/)
    expect((await browser.get('/api/user/self')).status).toBe(401)
    expect((await app.browser().login({ ...person, password: String(reply.data) })).body['success']).toBe(true)
    expect(await reset(person.email, token)).toMatchObject(invalid)
  })

  it('works once for fifty who confirm at once, and the one password it gave signs in', async () => {
    const person = await owner()
    const { token } = await mailedLink(person.email)
    const replies = await Promise.all(Array.from({ length: 50 }, () => reset(person.email, token)))
    const given = replies.filter((reply) => reply.body['success'])
    expect(given).toHaveLength(1)
    expect(replies.filter((reply) => reply.body['message'] === '重置链接无效或已过期')).toHaveLength(49)
    const password = String(given[0]?.data)
    expect((await app.browser().login({ ...person, password })).body['success']).toBe(true)
  })

  it('forgets an older link when a newer one is sent, and one for another address', async () => {
    const [person, other] = [await owner(), await owner()]
    const older = await mailedLink(person.email)
    const newer = await mailedLink(person.email)
    expect(await reset(person.email, older.token)).toMatchObject(invalid)
    expect(await reset(other.email, newer.token)).toMatchObject(invalid)
    expect((await reset(person.email, newer.token)).body['success']).toBe(true)
  })

  it('cannot be invalidated by others who try links', async () => {
    const person = await owner()
    const { token } = await mailedLink(person.email)
    for (let count = 0; count < 6; count += 1) expect(await reset(person.email, 'f'.repeat(32))).toMatchObject(invalid)
    expect((await reset(person.email, token)).body['success']).toBe(true)
  })

  it('never writes the caller’s own host into the link', async () => {
    for (const [address, beginning] of [
      ['https://gateway.example', /^https:\/\/gateway\.example\//],
      ['', /^http:\/\/localhost:\d+\//],
    ] as const) {
      await app.setOptions({ ServerAddress: address })
      const person = await owner()
      const { link } = await mailedLink(person.email, { 'x-forwarded-host': 'evil.example', host: 'evil.example' })
      expect(link).toMatch(beginning)
    }
  })

  it('lives ten minutes by the clock of the database', async () => {
    const people = [await owner(), await owner()] as const
    const tokens = [(await mailedLink(people[0].email)).token, (await mailedLink(people[1].email)).token] as const
    const age = (email: string, interval: string) =>
      app.sql(`update one_time_codes set expires_at = expires_at - interval '${interval}' where subject = $1`, [email])
    await age(people[0].email, '9 minutes')
    await age(people[1].email, '10 minutes')
    expect((await reset(people[0].email, tokens[0])).body['success']).toBe(true)
    expect(await reset(people[1].email, tokens[1])).toMatchObject(invalid)
  })

  it('answers an unknown address the same way, and mails nothing', async () => {
    const person = await owner()
    const [known, unknown] = [await ask(person.email), await ask(newAddress())]
    expect([unknown.status, unknown.text]).toEqual([known.status, known.text])
    await arrived()
    expect(smtp.mails).toHaveLength(1)
  })

  it.each([{}, { email: 'a@b.example' }, { token: 'x' }, { email: '', token: '' }])(
    'wants both parts, not %j',
    async (body) => {
      expect(await app.browser().post('/api/user/reset', body)).toMatchObject(invalid)
    },
  )
})
