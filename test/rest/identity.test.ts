import { describe, expect, it } from 'vitest'
import { type Browser, startFileConsole } from '#test/support/console-app.ts'

const app = await startFileConsole()

describe('who is asking', () => {
  it('is known by the session and one of the user-id headers together', async () => {
    const person = await app.person()
    const browser = await app.signedIn(person)
    browser.become(null)
    const self = (headers: Record<string, string>) => browser.get('/api/user/self', { headers })
    const id = String(person.id)
    for (const name of ['Veloera-User', 'New-Api-User', 'X-User-Id']) {
      expect((await self({ [name]: id })).data).toMatchObject({ id: person.id })
    }
    for (const headers of [
      {},
      { 'x-user-id': '-1' },
      { 'x-user-id': 'abc' },
      { 'x-user-id': `${id}1` },
      { 'x-user-id': `${id}.0` },
    ]) {
      // The header that programs look for in the message, to send it then.
      const body = { success: false, message: expect.stringContaining('New-Api-User') as string }
      expect(await self(headers as Record<string, string>)).toMatchObject({ status: 401, body })
    }
  })

  it('may be proved by the system access token, with the same header', async () => {
    const person = await app.person()
    const browser = await app.signedIn(person)
    const first = String((await browser.get('/api/user/token')).data)
    expect(first).toMatch(/^[A-Za-z0-9+/]{32}$/)
    const script = app.browser()
    const call = (authorization: string, id = person.id) =>
      script.get('/api/user/self', { headers: { authorization, 'x-user-id': String(id) } })
    expect((await call(first)).data).toMatchObject({ id: person.id })
    expect((await call(`Bearer ${first}`)).data).toMatchObject({ id: person.id })
    expect((await call(first, person.id + 1)).status).toBe(401)
    expect((await script.get('/api/user/self', { headers: { authorization: first } })).status).toBe(401)
    expect(await call('unknown')).toMatchObject({ status: 200, body: { success: false } })
    expect(await call(`"${first}"`)).toMatchObject({ status: 200, body: { success: false } })
    await browser.get('/api/user/token')
    expect(await call(first)).toMatchObject({ status: 200, body: { success: false } })
    expect(JSON.stringify(await app.sql('select * from users where id = $1', [person.id]))).not.toContain(first)
  })

  it('loses a ban, a demotion and a deletion at the next request', async () => {
    const root = await app.signedIn(await app.person({ role: 100 }))
    const person = await app.person({ role: 10 })
    const browser = await app.signedIn(person)
    const token = String((await browser.get('/api/user/token')).data)
    const withToken = { headers: { authorization: token, 'x-user-id': String(person.id) } }
    expect((await browser.get('/api/group/')).body['success']).toBe(true)
    await root.post('/api/user/manage', { id: person.id, action: 'demote' })
    expect(await browser.get('/api/group/')).toMatchObject({ status: 200, body: { success: false } })
    expect((await browser.get('/api/user/self')).body['success']).toBe(true)
    await root.post('/api/user/manage', { id: person.id, action: 'disable' })
    expect((await browser.get('/api/user/self')).status).toBe(401)
    expect(await app.browser().get('/api/user/self', withToken)).toMatchObject({
      status: 200,
      body: { success: false },
    })
    await root.post('/api/user/manage', { id: person.id, action: 'enable' })
    expect((await app.browser().get('/api/user/self', withToken)).body['success']).toBe(true)
    await root.post('/api/user/manage', { id: person.id, action: 'delete' })
    expect((await app.browser().get('/api/user/self', withToken)).body['success']).toBe(false)
  })

  it('is not settled by a request that another site started', async () => {
    const person = await app.person()
    const browser = await app.signedIn(person)
    const foreign: Record<string, string>[] = [{ 'sec-fetch-site': 'cross-site' }, { origin: 'https://evil.example' }]
    for (const headers of foreign) {
      const reply = await browser.put('/api/user/self', { display_name: 'stolen' }, { headers })
      expect(reply.body['success']).toBe(false)
      expect(reply.headers.get('access-control-allow-origin')).toBeNull()
    }
    expect((await browser.get('/api/user/self')).data).toMatchObject({ display_name: person.username })
  })

  it('is whose system access token it is, from wherever a program sends it', async () => {
    const person = await app.person()
    const token = String((await (await app.signedIn(person)).get('/api/user/token')).data)
    for (const origin of ['chrome-extension://abcdef', 'https://other.example']) {
      const headers = { authorization: token, 'x-user-id': String(person.id), origin }
      const reply = await app.browser().put('/api/user/self', { display_name: origin.slice(0, 20) }, { headers })
      expect(reply.body['success']).toBe(true)
      const unknown = { ...headers, authorization: 'another' }
      expect(
        (await app.browser().put('/api/user/self', { display_name: 'x' }, { headers: unknown })).body,
      ).toMatchObject({
        success: false,
      })
    }
  })

  it('is nobody whose row is broken', async () => {
    const person = await app.person({ role: 7 })
    expect(await (await app.signedIn(person)).get('/api/user/self')).toMatchObject({
      status: 200,
      body: { success: false },
    })
  })

  it('is nobody once the session is over', async () => {
    const person = await app.person()
    const browser = await app.signedIn(person)
    await app.sql("update sessions set expires_at = now() - interval '1 second' where user_id = $1", [person.id])
    expect((await browser.get('/api/user/self')).status).toBe(401)
  })
})

describe('user administration', () => {
  it('is closed to ordinary users and anonymous visitors', async () => {
    const user = await app.signedIn(await app.person())
    const { id } = await app.person({ role: 10 })
    const calls = (browser: Browser) => [
      browser.get('/api/user/'),
      browser.get('/api/user/search'),
      browser.get(`/api/user/${id}`),
      browser.post('/api/user/', { username: 'x', password: 'long enough' }),
      browser.put('/api/user/', { id }),
      browser.post('/api/user/manage', { id, action: 'disable' }),
      browser.delete(`/api/user/${id}`),
      browser.get('/api/group/'),
    ]
    for (const reply of await Promise.all(calls(user)))
      expect(reply).toMatchObject({ status: 200, body: { success: false, message: '权限不足，无权进行此操作' } })
    for (const reply of await Promise.all(calls(app.browser()))) expect(reply.status).toBe(401)
  })
})
