import { afterAll, describe, expect, test } from 'vitest'
import { startApp } from '#test/support/app.ts'
import type { TestToken, TestUser } from '#test/support/factories.ts'
import { startScriptedUpstream } from '#test/support/scripted-upstream.ts'
import { chat, consumed, say } from './caller-dialects.ts'
import { serve, setOptions } from './serve.ts'

const app = await startApp()
const upstream = await startScriptedUpstream()
afterAll(async () => {
  await upstream[Symbol.asyncDispose]()
  await app[Symbol.asyncDispose]()
})
await setOptions(app, { SelfUseModeEnabled: 'true', RetryTimes: '0' })
const root = await app.make.user({ role: 100 })
const granted = 1_000_000_000

type Call = { user: TestUser; token: TestToken; channelId: number }

/** What is done to whom a call belongs to, or to where it went, and what the next call is answered with. */
const withdrawals: [string, (call: Call) => Promise<unknown>, number][] = [
  ['token is removed', ({ user, token }) => app.rest(user, 'DELETE', `/api/token/${token.id}`), 401],
  [
    'token is disabled',
    ({ user, token }) => app.trpc(user).user.tokens.setStatus.mutate({ id: token.id, status: 2 }),
    401,
  ],
  ['owner is removed', ({ user }) => app.trpc(root).admin.users.remove.mutate({ id: user.id }), 401],
  ['owner leaves', ({ user }) => app.rest(user, 'DELETE', '/api/user/self'), 401],
  ['owner is banned', ({ user }) => app.trpc(root).admin.users.manage.mutate({ id: user.id, action: 'disable' }), 403],
  ['channel is removed', ({ channelId }) => app.trpc(root).admin.channels.remove.mutate({ id: channelId }), 503],
  ['channel is disabled', ({ channelId }) => app.rest(root, 'PUT', '/api/channel/', { id: channelId, status: 2 }), 503],
]

const chunk = (content: string, more: object = {}): string =>
  `data: ${JSON.stringify({
    id: 'c',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta: { content }, finish_reason: null }],
    ...more,
  })}\n\n`
const usage = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 }
// 120 tokens at the ratio of models that nobody priced.
const charge = 120 * 37.5

/** Little is set aside for it, so that a lease has room for it. */
const small = (model: string, stream: boolean) => ({ ...chat.body(model, 'hello', stream), max_tokens: 5 })

const heldOf = async (userId: number) =>
  (
    await app.pool.query(
      `select (select count(*)::int from holds where user_id = $1 and status = 'open') as holds,
         (select count(*)::int from leases where user_id = $1) as leases`,
      [userId],
    )
  ).rows[0]

const ways = process.env['LEDGER_LEASES'] === 'off' ? (['a hold'] as const) : (['a hold', 'a lease'] as const)

describe.each(ways)('a stream on %s', (setAside) => {
  test.each(withdrawals)(
    'whose %s meanwhile ends as it would, is charged in full and leaves nothing set aside',
    async (_what, withdraw, status) => {
      const goOn = Promise.withResolvers<void>()
      const user = await app.make.user({ quota: granted })
      const token = await app.make.token(user, { remainQuota: granted })
      if (setAside === 'a lease') {
        const { model } = await serve(app, { does: 'usage=10:2' })
        while ((await heldOf(user.id)).leases === 0) {
          await Promise.all(
            Array.from({ length: 20 }, async () => (await say(app, chat, { token, body: small(model, false) })).text()),
          )
        }
      }
      const before = (await consumed(app)).filter((row) => row.user_id === user.id)
      const steps = [chunk('You said'), goOn.promise, chunk(': hello', { usage }), 'data: [DONE]\n\n']
      const { model, ids } = await serve(app, { baseUrl: upstream.play({ steps }) })
      const reply = await say(app, chat, { token, body: small(model, true) })
      const reader = reply.body?.pipeThrough(new TextDecoderStream()).getReader()
      let text = (await reader?.read())?.value ?? ''
      await withdraw({ user, token, channelId: ids[0] as number })
      expect((await say(app, chat, { token, model })).status).toBe(status)
      goOn.resolve()
      for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) text += part.value
      expect(text).toContain('[DONE]')
      await expect.poll(() => heldOf(user.id)).toEqual({ holds: 0, leases: 0 })
      const rows = (await consumed(app)).filter((row) => row.user_id === user.id)
      expect(rows).toHaveLength(before.length + 1)
      expect(rows.at(-1)).toMatchObject({ model_name: model, quota: charge })
      const spent = rows.reduce((sum, row) => sum + row.quota, 0)
      const { rows: left } = await app.pool.query(
        `select u.quota::int as balance, u.used_quota::int as used, t.remain_quota::int as remain, t.used_quota::int as token_used
       from users u join tokens t on t.user_id = u.id where u.id = $1`,
        [user.id],
      )
      expect(left).toEqual([{ balance: granted - spent, used: spent, remain: granted - spent, token_used: spent }])
      // What a removed channel has served is in the log alone.
      expect((await app.violations()).filter((violation) => !violation.includes('channels'))).toEqual([])
    },
  )
})
