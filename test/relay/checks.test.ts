import { describe, expect, test } from 'vitest'
import { errors, type ErrorCode } from '#core/errors.ts'
import { admissionChecks } from '#scripts/reference/admission.ts'
import type { TestToken } from '#test/support/factories.ts'
import { setOptions, withOptions } from './serve.ts'
import { chat, consumed, eventually, say, type CallerDialect, callerDialects } from './caller-dialects.ts'
import { startBalancedApp } from './relay-world.ts'

const app = await startBalancedApp()
await app.make.channel()
await app.make.channel({ models: 'disabled-model', status: 2 })

const codesOnPage = admissionChecks.map(({ code }) => code)

/** Which check of docs/reference/admission.md says so. */
const checkThatSays = (message: string): ErrorCode | undefined =>
  codesOnPage.find((code) => {
    const parts = errors[code].message.split(/\{\w+\}/)
    let from = 0
    return parts.every((part) => {
      const at = message.indexOf(part, from)
      from = at + part.length
      return at >= 0
    })
  })

const set = async (table: 'tokens' | 'users', id: number, changes: Record<string, unknown>) => {
  const names = Object.keys(changes)
  const assignments = names.map((name, index) => `"${name}" = $${index + 2}`).join(', ')
  await app.pool.query(`update ${table} set ${assignments} where id = $1`, [id, ...Object.values(changes)])
  app.services[table].drop(id)
}

describe.each(callerDialects)('in $dialect', (by: CallerDialect) => {
  let met: (ErrorCode | undefined)[] = []
  const refusal = async (token: TestToken, ask: Partial<Parameters<typeof say>[2]> = {}) => {
    const reply = await say(app, by, { token, ...ask })
    const { message, kind, code } = by.readError(await reply.json())
    const id = reply.headers.get('x-request-id')
    expect(message.endsWith(` (request id: ${id})`), message).toBe(true)
    expect(kind).toBe(by.kindOf(reply.status))
    const check = checkThatSays(message)
    if (check !== met.at(-1)) met.push(check)
    return {
      status: reply.status,
      message: message.slice(0, message.lastIndexOf(' (request id')),
      ...(code ? { code } : {}),
    }
  }
  const withCode = (code: string) => (by.kindOf(400) === 'gateway_error' ? { code } : {})

  test('a call that every check would refuse gets each refusal in the documented order', async () => {
    met = []
    const user = await app.make.user({ role: 1 })
    const token = await app.make.token(user, {
      status: 4,
      expiresAt: new Date(Date.now() - 1000),
      remainQuota: 0,
      unlimited: false,
      allowIps: '10.1.2.3',
      group: 'nowhere',
      modelLimits: '',
    })
    await app.pool.query('update users set status = 2 where id = $1', [user.id])
    const pinned = `${token.key}-999999`
    const mask = `${token.key.slice(0, 3)}***${token.key.slice(-3)}`

    expect(await refusal(token, { key: '' })).toEqual({ status: 401, message: '缺少访问令牌' })
    expect(await refusal(token, { key: 'x'.repeat(48) })).toEqual({ status: 401, message: '令牌无效' })
    const exhausted = { status: 401, message: `令牌额度已耗尽 [sk-${mask}]` }
    expect(await refusal(token, { key: pinned })).toEqual(exhausted)
    await set('tokens', token.id, { status: 3 })
    expect(await refusal(token, { key: pinned })).toEqual({ status: 401, message: '令牌已过期' })
    await set('tokens', token.id, { status: 2 })
    expect(await refusal(token, { key: pinned })).toEqual({ status: 401, message: '令牌不可用' })
    await set('tokens', token.id, { status: 1 })
    expect(await refusal(token, { key: pinned })).toEqual({ status: 401, message: '令牌已过期' })
    expect(await statusOf(token)).toBe(3)
    await set('tokens', token.id, { status: 1, expires_at: null })
    expect(await refusal(token, { key: pinned })).toEqual(exhausted)
    expect(await statusOf(token)).toBe(4)
    await set('tokens', token.id, { status: 1, remain_quota: 1_000_000 })
    expect(await refusal(token, { key: pinned })).toEqual({ status: 403, message: '账号已被封禁' })
    await set('users', user.id, { status: 1 })
    expect(await refusal(token, { key: pinned })).toEqual({ status: 403, message: '仅管理员可以指定渠道' })

    await set('users', user.id, { role: 10 })
    await set('tokens', token.id, { rate_limit_enabled: true, rate_limit_count: 1, rate_limit_period: 3600 })
    await setOptions(app, {
      ModelRequestRateLimitEnabled: 'true',
      ModelRequestRateLimitCount: '1',
      ModelRequestRateLimitDurationMinutes: '60',
    })
    const forbiddenAddress = { status: 403, message: '当前 IP 不在该令牌的白名单内' }
    expect(await refusal(token, { key: pinned })).toEqual(forbiddenAddress)
    // Met too early: the limits had room for one call.
    met.pop()
    expect(await refusal(token, { key: pinned })).toEqual({
      status: 429,
      message: 'rate limit of this key exceeded',
      ...withCode('rate_limit_exceeded'),
    })
    await set('tokens', token.id, { rate_limit_enabled: false })
    expect(await refusal(token, { key: pinned })).toEqual({
      status: 429,
      message: '请求过多：60 分钟内最多 1 次（含失败请求）',
    })
    await setOptions(app, { ModelRequestRateLimitEnabled: 'false' })
    expect(await refusal(token, { key: pinned, body: '{"broken' })).toEqual(forbiddenAddress)

    await set('tokens', token.id, { allow_ips: '10.1.2.3\n127.0.0.0/8' })
    expect((await refusal(token, { key: pinned, body: '{"broken' })).message).toMatch(/^请求无法解析: /)
    expect(await refusal(token, { key: pinned, model: 'm'.repeat(129) })).toEqual({
      status: 400,
      message: '模型名称不能超过 128 个字符',
    })
    expect(await refusal(token, { key: pinned })).toEqual({ status: 403, message: '令牌所属分组 nowhere 不可用' })
    await set('tokens', token.id, { group: 'shut' })
    await setOptions(app, { UserUsableGroups: '{"default":"","shut":""}' })
    expect(await refusal(token, { key: pinned })).toEqual({ status: 403, message: '分组 shut 已停用' })
    await set('tokens', token.id, { group: '' })
    expect(await refusal(token, { key: pinned })).toEqual({ status: 400, message: '指定的渠道编号无效' })
    expect(await refusal(token, { key: `${token.key}-one` })).toEqual({ status: 400, message: '指定的渠道编号无效' })
    expect(await refusal(token, { key: `${token.key}-2` })).toEqual({ status: 403, message: '指定的渠道未启用' })
    const model = 'disabled-model'
    expect(await refusal(token, { model })).toEqual({ status: 403, message: '令牌未允许任何模型' })
    await set('tokens', token.id, { model_limits: 'gpt-4o-mini' })
    expect(await refusal(token, { model })).toEqual({ status: 403, message: `令牌无权使用模型 ${model}` })
    await set('tokens', token.id, { model_limits: model })
    await setOptions(app, { SensitiveWords: 'plover' })
    expect(await refusal(token, { model, text: 'the plover' })).toMatchObject({
      status: 400,
      message: 'the request contains sensitive words',
    })
    expect(await refusal(token, { model })).toEqual({
      status: 503,
      message: `分组 default 中没有支持模型 ${model} 的渠道`,
      ...withCode('model_not_found'),
    })

    // The last of the checks: routing names a channel that is not there.
    const { channels } = app.services
    app.services.channels = { ...channels, channel: () => undefined }
    await set('tokens', token.id, { model_limits_enabled: false })
    try {
      expect(await refusal(token)).toEqual({ status: 503, message: '渠道数据不一致，请联系管理员' })
    } finally {
      app.services.channels = channels
    }
    expect(met).toEqual(codesOnPage.filter((code) => met.includes(code)))
    expect(met.length).toBeGreaterThan(20)
  })

  test('a token whose owner is deleted is refused without a message of the database', async () => {
    const user = await app.make.user()
    const token = await app.make.token(user)
    await app.pool.query('update users set deleted_at = now() where id = $1', [user.id])
    expect(await refusal(token)).toEqual({ status: 500, message: '数据库错误，无法读取令牌所属用户' })
  })

  test('refusals for lack of quota name the balance and the amount needed', async () => {
    const poor = await app.make.token(await app.make.user({ quota: 0 }))
    expect(await refusal(poor)).toEqual({
      status: 403,
      message: 'insufficient user quota',
      ...withCode('insufficient_user_quota'),
    })
    const text = 'word '.repeat(2000)
    const user = await app.make.user({ quota: 10 })
    expect((await refusal(await app.make.token(user), { text })).message).toMatch(
      /^user quota \$0\.000020 is below the required \$0\.000\d{3}$/,
    )
    const rich = await app.make.user()
    const capped = await app.make.token(rich, { remainQuota: 10 })
    const answer = await refusal(capped, { text })
    expect(answer).toMatchObject({ status: 403, ...withCode('pre_consume_token_quota_failed') })
    expect(answer.message).toMatch(/^token quota \$0\.000020 is below the required \$0\.000\d{3}$/)
  })
})

test('a name that no channel of the group lists is 404 to clients that take 503 for an outage, a listed one is 503', async () => {
  const token = await app.make.token(await app.make.user())
  await app.make.channel({ models: 'switched-off', status: 2 })
  await app.services.channels.reload()
  for (const by of callerDialects) {
    const isVendor = by.dialect === 'messages' || by.dialect === 'generateContent'
    for (const [model, status] of [
      ['never-listed', isVendor ? 404 : 503],
      ['switched-off', 503],
    ] as const) {
      const reply = await say(app, by, { token, model })
      expect(reply.status, `${by.dialect} ${model}`).toBe(status)
      expect(by.readError(await reply.json())).toMatchObject({ kind: by.kindOf(status) })
      expect(reply.headers.get('x-should-retry')).toBe('false')
    }
  }
})

test.each([
  ['asked for in Chinese', { 'accept-language': 'fr;q=0.1,zh-CN', 'user-agent': 'OpenAI/JS 6' }, 'zh'],
  ['asked for in English', { 'accept-language': 'en-GB,zh;q=0.5' }, 'en'],
  ['asked for in a third language', { 'accept-language': 'de-DE' }, 'en'],
  ['a library that does not ask', { 'user-agent': 'Anthropic/Python 0.88' }, 'en'],
  ['an agent that does not ask', { 'user-agent': 'claude-cli/2.1 (external, cli)', 'accept-language': '*' }, 'en'],
  ['a program that says nothing', {}, 'zh'],
] as const)('a refusal is in one language: %s', async (_says, headers, language) => {
  const token = await app.make.token(await app.make.user())
  const wanted = { zh: '令牌无效', en: 'Invalid token' }
  for (const by of callerDialects) {
    const reply = await say(app, by, { token, key: 'x'.repeat(48), headers })
    const { message } = by.readError(await reply.json())
    expect(message.replace(/ \(request id: .*/, '')).toBe(wanted[language])
  }
})

test('words are looked for where both switches say so, and not in the calls of the exempt group', async () => {
  const token = await app.make.token(await app.make.user({ group: 'vip' }))
  const isRefused = async (options: Record<string, string>): Promise<boolean> => {
    let text = ''
    const on = { CheckSensitiveEnabled: 'true', CheckSensitiveOnPromptEnabled: 'true', SensitiveWords: 'xyzzy' }
    await withOptions(app, { ...on, ...options }, async () => {
      // Nothing serves it, so that what passes ends before an upstream is asked.
      text = await (await say(app, chat, { token, model: 'switched-off', text: 'say xyzzy' })).text()
    })
    return text.includes('sensitive')
  }
  const exempt = { 'global.safe_check_exempt_enabled': 'true', 'global.safe_check_exempt_group': 'vip' }
  expect(await isRefused({})).toBe(true)
  expect(await isRefused({ CheckSensitiveEnabled: 'false' })).toBe(false)
  expect(await isRefused({ CheckSensitiveOnPromptEnabled: 'false' })).toBe(false)
  expect(await isRefused(exempt)).toBe(false)
  expect(await isRefused({ ...exempt, 'global.safe_check_exempt_enabled': 'false' })).toBe(true)
  expect(await isRefused({ ...exempt, 'global.safe_check_exempt_group': 'gold' })).toBe(true)
})

test('paths of Google’s that are not served say so in Google’s form', async () => {
  const token = await app.make.token(await app.make.user())
  for (const path of [
    '/v1beta/files',
    '/v1beta/files/one',
    '/upload/v1beta/files/one',
    '/v1beta/cachedContents',
    '/v1beta/cachedContents/one',
    '/upload/v1beta/files',
  ]) {
    const headers = { authorization: '', 'x-goog-api-key': `sk-${token.key}` }
    const reply = await app.relay(token, path, {}, { headers })
    expect(reply.status).toBe(501)
    expect(await reply.json()).toMatchObject({ error: { code: 501, status: 'UNIMPLEMENTED' } })
  }
})

test('paths of OpenAI’s that are not served say so in its form', async () => {
  const token = await app.make.token(await app.make.user())
  for (const path of ['/v1/fine_tuning/jobs', '/v1/fine-tunes', '/v1/fine-tunes/one']) {
    const reply = await app.relay(token, path, {})
    expect(reply.status).toBe(501)
    expect(await reply.json()).toMatchObject({ error: { code: 'api_not_implemented' } })
  }
})

test('no refusal asked an upstream or left a charge', async () => {
  expect(app.upstream.total).toBe(0)
  expect(await consumed(app)).toEqual([])
})

const statusOf = async (token: TestToken): Promise<number> => {
  const look = async () =>
    (await app.pool.query<{ status: number }>('select status from tokens where id = $1', [token.id])).rows[0]?.status
  return (await eventually(look, (status) => status !== 1)) ?? 0
}
