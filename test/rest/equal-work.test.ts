import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import type * as Argon2 from '@node-rs/argon2'
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { startConsole } from '#test/support/console-app.ts'
import { startMailServer } from '#test/support/mail-server.ts'
import { recordStatements } from '#test/support/statements.ts'
import { holdLock } from '#test/support/held-lock.ts'

/** What costs time is counted instead of timed: a busy machine makes every time longer, but no work more. */
const work = vi.hoisted(() => ({ verified: 0, hashed: 0 }))
vi.mock('@node-rs/argon2', async (original) => {
  const argon2 = await original<typeof Argon2>()
  return {
    ...argon2,
    verify: (...given: Parameters<typeof argon2.verify>) => ((work.verified += 1), argon2.verify(...given)),
    hash: (...given: Parameters<typeof argon2.hash>) => ((work.hashed += 1), argon2.hash(...given)),
  }
})

const smtp = await startMailServer()
const statements = recordStatements()
const app = await startConsole()
await app.sql("insert into setup_records (id, version, initialized_at) values (1, '0', now())")
afterAll(async () => {
  statements.stop()
  await smtp.close()
  await app[Symbol.asyncDispose]()
})
beforeEach(async () => {
  await app.setOptions({
    SMTPServer: '127.0.0.1',
    SMTPPort: String(smtp.port),
    SMTPFrom: 'gateway@x.example',
    EmailVerificationEnabled: 'true',
  })
})

let serial = 0
const newAddress = () => `equal${(serial += 1)}@x.example`
async function known() {
  const email = newAddress()
  return { ...(await app.person({ email, emailNormalized: email })), email }
}

/** The reply and the work behind it: password hashings and statements until the reply was there. */
async function measured(act: () => Promise<{ status: number; text: string }>) {
  Object.assign(work, { verified: 0, hashed: 0 })
  const { result, shapes } = await statements.during(act)
  return { status: result.status, text: result.text, ...work, shapes }
}

describe('a known and an unknown account get the same answer for the same work', () => {
  it('at a login, however the account cannot be signed in to', async () => {
    const login = (username: string) => () =>
      app.browser().post('/api/user/login', { username, password: 'wrong password' })
    const { username } = await known()
    await app.browser().post('/api/user/login', { username: 'warm-up', password: 'wrong password' })
    const unknown = await measured(login('nobody'))
    expect(unknown).toMatchObject({ status: 200, verified: 1, hashed: 0 })
    expect(await measured(login(username))).toEqual(unknown)
    for (const state of [{ status: 2 }, { deletedAt: new Date() }, { passwordHash: null }]) {
      expect(await measured(login((await app.person(state)).username))).toEqual(unknown)
    }
    const byMail = await measured(login('nobody@x.example'))
    expect(byMail).toMatchObject({ status: unknown.status, text: unknown.text, verified: 1 })
    expect(await measured(login((await known()).email))).toEqual(byMail)
  })

  it('when a reset is asked for, before anybody looks for the account or reaches the mail server', async () => {
    const held: Socket[] = []
    const silent = createServer((socket) => void held.push(socket)).listen(0, '127.0.0.1')
    await once(silent, 'listening')
    await app.setOptions({ SMTPPort: String((silent.address() as AddressInfo).port) })
    const { email } = await known()
    const lookedUp = () => statements.sent().filter((shape) => /from "users".*"status" = \?/.test(shape)).length
    const before = lookedUp()
    // While nobody can read the accounts, an answer cannot come from them.
    await using unlock = await holdLock(app.services.database.pool, 'lock table users in access exclusive mode')
    for (const address of [newAddress(), email]) {
      const { status, text } = await app.browser().get('/api/reset_password', { query: { email: address } })
      expect({ status, text }).toEqual({ status: 200, text: '{"success":true,"message":""}' })
    }
    await unlock()
    // Both are looked up afterwards, and the mail goes its own way.
    await expect.poll(() => lookedUp() - before).toBe(2)
    await expect.poll(() => held.length).toBe(1)
    silent.close()
    for (const socket of held) socket.destroy()
  })

  it('when a code is asked for, with one mail each', async () => {
    const ask = (email: string) => () => app.browser().get('/api/verification', { query: { email } })
    smtp.mails.length = 0
    const unknown = await measured(ask(newAddress()))
    expect(smtp.mails).toHaveLength(1)
    expect(await measured(ask((await known()).email))).toEqual(unknown)
    expect(smtp.mails).toHaveLength(2)
  })

  it('when somebody registers with an address and a made-up code', async () => {
    const register = (email: string) => () =>
      app.browser().post('/api/user/register', {
        username: 'inquirer',
        password: 'long enough',
        email,
        verification_code: 'ffffff',
      })
    await register(newAddress())()
    const unknown = await measured(register(newAddress()))
    expect(unknown.text).toContain('验证码错误或已过期')
    expect(await measured(register((await known()).email))).toEqual(unknown)
  })

  it('when a made-up reset link is used', async () => {
    const reset = (email: string) => () => app.browser().post('/api/user/reset', { email, token: 'f'.repeat(32) })
    const unknown = await measured(reset(newAddress()))
    expect(unknown.text).toContain('重置链接无效或已过期')
    expect(await measured(reset((await known()).email))).toEqual(unknown)
  })
})
