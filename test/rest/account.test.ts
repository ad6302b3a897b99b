import { describe, expect, it } from 'vitest'
import { startFileConsole, refused } from '#test/support/console-app.ts'

const app = await startFileConsole()
const rootPerson = await app.person({ role: 100 })
const root = await app.signedIn(rootPerson)

const row = async (id: number) => (await app.sql('select * from users where id = $1', [id]))[0]

describe('GET /api/user/self', () => {
  it('has every documented key', async () => {
    const person = await app.person({
      email: 'me@x.example',
      githubId: '77',
      quota: 1000,
      usedQuota: 5,
      requestCount: 2,
      affCode: 'zzzz',
      affCount: 1,
      affQuota: 10,
      affHistoryQuota: 20,
      inviterId: 3,
      lastCheckInAt: new Date('2025-01-02T03:04:05Z'),
    })
    const reply = await (await app.signedIn(person)).get('/api/user/self')
    expect(reply.body).toEqual({
      success: true,
      message: '',
      data: {
        id: person.id,
        username: person.username,
        password: '',
        display_name: person.username,
        role: 1,
        status: 1,
        email: 'me@x.example',
        github_id: '77',
        oidc_id: '',
        wechat_id: '',
        telegram_id: '',
        linux_do_id: '',
        verification_code: '',
        access_token: null,
        quota: 1000,
        used_quota: 5,
        request_count: 2,
        group: 'default',
        aff_code: 'zzzz',
        aff_count: 1,
        aff_quota: 10,
        aff_history_quota: 20,
        inviter_id: 3,
        DeletedAt: null,
        setting: '',
        last_check_in_time: '2025-01-02T03:04:05.000Z',
      },
    })
    expect(reply.text).not.toContain('argon2')
  })
})

describe('PUT /api/user/self', () => {
  it('changes name and password without asking, leaves blanks alone and signs out other browsers', async () => {
    const person = await app.person()
    const [here, elsewhere] = [await app.signedIn(person), await app.signedIn(person)]
    await here.put('/api/user/self', { username: '', display_name: 'New name', password: '' })
    expect(await row(person.id)).toMatchObject({ username: person.username, display_name: 'New name' })
    expect((await elsewhere.get('/api/user/self')).status).toBe(200)
    const reply = await here.put('/api/user/self', { username: 'renamed', password: 'another pass' })
    expect(reply.body).toEqual({ success: true, message: '' })
    expect((await here.get('/api/user/self')).data).toMatchObject({ username: 'renamed' })
    expect((await elsewhere.get('/api/user/self')).status).toBe(401)
    expect((await app.browser().login({ username: 'renamed', password: 'another pass' })).body['success']).toBe(true)
    expect((await app.browser().login({ username: 'renamed', password: person.password })).body['success']).toBe(false)
  })

  it('ignores everything an account may not give itself', async () => {
    const person = await app.person()
    const browser = await app.signedIn(person)
    const before = await row(person.id)
    await browser.put('/api/user/self', {
      id: rootPerson.id,
      role: 100,
      status: 3,
      quota: 1e9,
      used_quota: 0,
      group: 'svip',
      email: 'other@x.example',
      inviter_id: 1,
      aff_quota: 5,
      DeletedAt: 'x',
      display_name: 'fine',
    })
    expect(await row(person.id)).toEqual({ ...before, display_name: 'fine' })
  })

  it.each([
    [{ username: 'thirteen chars' }, '用户名不能超过 12 个字符'],
    [{ display_name: 'x'.repeat(21) }, '显示名称不能超过 20 个字符'],
    [{ password: 'short' }, '密码长度应为 8 到 20 个字符'],
  ])('refuses %j', async (body, message) => {
    const browser = await app.signedIn(await app.person())
    expect(await browser.put('/api/user/self', body)).toMatchObject(refused(message))
  })

  it('refuses a name that somebody has', async () => {
    const browser = await app.signedIn(await app.person())
    expect(await browser.put('/api/user/self', { username: rootPerson.username })).toMatchObject(
      refused('用户名已存在，或已注销'),
    )
  })
})

describe('DELETE /api/user/self', () => {
  it('keeps the row, marks it and ends every session', async () => {
    const person = await app.person()
    const [here, elsewhere] = [await app.signedIn(person), await app.signedIn(person)]
    expect((await here.delete('/api/user/self')).body).toEqual({ success: true, message: '' })
    expect((await row(person.id))?.['deleted_at']).not.toBeNull()
    for (const browser of [here, elsewhere]) expect((await browser.get('/api/user/self')).status).toBe(401)
    expect((await app.browser().login(person)).body['success']).toBe(false)
  })

  it('frees the name, keeps the address taken, and leaves what was booked and logged under the old number', async () => {
    const person = await app.person({ username: 'returner', email: 'r@x.example', emailNormalized: 'r@x.example' })
    await app.sql(`insert into grants (kind, key, user_id, amount) values ('admin_edit', 'returner', $1, 7)`, [
      person.id,
    ])
    await app.sql(`insert into logs (user_id, type, username) values ($1, 4, 'returner')`, [person.id])
    await (await app.signedIn(person)).delete('/api/user/self')
    const successor = { username: person.username, password: 'long enough' }
    expect((await root.post('/api/user/', successor)).body).toMatchObject({ success: true })
    expect((await app.browser().login(person)).body['success']).toBe(false)
    expect((await app.browser().login(successor)).body['success']).toBe(true)
    expect(await row(person.id)).toMatchObject({ email_normalized: 'r@x.example', password_hash: null })
    expect(await app.sql('select amount::int from grants where user_id = $1', [person.id])).toEqual([{ amount: 7 }])
    expect(await app.sql('select username from logs where user_id = $1', [person.id])).toEqual([
      { username: 'returner' },
    ])
  })

  it('is written down', async () => {
    const person = await app.person()
    await (await app.signedIn(person)).delete('/api/user/self')
    expect(await app.sql('select action, target_name from audit_entries where actor_id = $1', [person.id])).toEqual([
      { action: 'account.delete', target_name: person.username },
    ])
  })

  it('is not for root', async () => {
    expect(await root.delete('/api/user/self')).toMatchObject(refused('不能对超级管理员进行此操作'))
  })
})

describe('PUT /api/user/setting', () => {
  const base = { quota_warning_threshold: 1000, accept_unset_model_ratio_model: true, show_ip_in_logs: true }

  it('is built from scratch, keeps the secret encrypted and gives it back to its owner only', async () => {
    const person = await app.person()
    const browser = await app.signedIn(person)
    const saved = async () =>
      JSON.parse(String(((await browser.get('/api/user/self')).data as { setting: string }).setting)) as unknown
    const reply = await browser.put('/api/user/setting', {
      ...base,
      notify_type: 'webhook',
      webhook_url: 'https://hook.example/x',
      webhook_secret: 'hook-secret',
      notification_email: 'ignored@x.example',
    })
    expect(reply.body).toMatchObject({ success: true })
    expect(reply.body['message']).not.toBe('')
    expect(await saved()).toEqual({
      ...base,
      notify_type: 'webhook',
      webhook_url: 'https://hook.example/x',
      webhook_secret: 'hook-secret',
    })
    expect(JSON.stringify(await row(person.id))).not.toContain('hook-secret')
    expect((await root.get(`/api/user/${person.id}`)).text).not.toContain('hook-secret')
    await browser.put('/api/user/setting', {
      notify_type: 'email',
      quota_warning_threshold: 5.5,
      notification_email: 'me@x.example',
      webhook_url: 'https://ignored.example',
    })
    expect(await saved()).toEqual({
      notify_type: 'email',
      quota_warning_threshold: 5.5,
      notification_email: 'me@x.example',
      accept_unset_model_ratio_model: false,
      show_ip_in_logs: false,
    })
  })

  it('takes back what it gives, before a threshold was chosen too', async () => {
    const browser = await app.signedIn(await app.person())
    const given = async () =>
      JSON.parse(String(((await browser.get('/api/user/self')).data as { setting: string }).setting)) as object
    await browser.put('/api/user/setting', { notify_type: 'email' })
    const before = await given()
    expect(before).not.toHaveProperty('quota_warning_threshold')
    expect((await browser.put('/api/user/setting', before)).body).toMatchObject({ success: true })
    expect(await given()).toEqual(before)
  })

  it.each([
    [{ notify_type: 'pigeon' }, '无效的通知方式'],
    [{}, '无效的通知方式'],
    [{ notify_type: 'email', quota_warning_threshold: 0 }, '预警阈值必须大于 0'],
    [{ notify_type: 'email', quota_warning_threshold: 'many' }, '预警阈值必须大于 0'],
    [{ notify_type: 'email', notification_email: 'no-address' }, '无效的通知邮箱地址'],
    [{ notify_type: 'webhook' }, 'Webhook 地址必须是以 https:// 开头的有效地址'],
    [{ notify_type: 'webhook', webhook_url: 'http://x.example' }, 'Webhook 地址必须是以 https:// 开头的有效地址'],
  ])('refuses %j', async (change, message) => {
    const browser = await app.signedIn(await app.person())
    expect(await browser.put('/api/user/setting', { ...base, ...change })).toMatchObject(refused(message))
  })
})
