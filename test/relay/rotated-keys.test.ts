import { afterAll, expect, test } from 'vitest'
import { startApp } from '#test/support/app.ts'
import type { TestToken, TestUser } from '#test/support/factories.ts'
import { allowUnpriced } from './serve.ts'
import { chat, closeWithoutViolations } from './caller-dialects.ts'

// Two nodes on one database.

const one = await startApp()
const other = await startApp({ on: one })
await allowUnpriced(one)
await one.make.channel()
await one.settled()
afterAll(async () => {
  await other[Symbol.asyncDispose]()
  await closeWithoutViolations(one)
})

const statuses = async (key: string): Promise<number[]> =>
  Promise.all(
    [one, other].map(
      async (app) => (await app.relay(key, chat.path('', false), chat.body('gpt-4o-mini', 'hello', false))).status,
    ),
  )

const anyone = async (): Promise<{ user: TestUser; token: TestToken }> => {
  const user = await one.make.user({ quota: 1_000_000_000 })
  return { user, token: await one.make.token(user) }
}

test('a changed key stops at once on every node, the new one works there, and token, figures and log stay the same', async () => {
  const { user, token } = await anyone()
  expect(await statuses(token.key)).toEqual([200, 200])
  const rotated = await one.trpc(user).user.tokens.rotate.mutate({ id: token.id })
  expect(rotated.key).not.toBe(token.key)
  // The change was answered after every node had been notified of it.
  expect(await statuses(token.key)).toEqual([401, 401])
  expect(await statuses(rotated.key)).toEqual([200, 200])
  const rows = (await one.logs()).filter((row) => row.token_id === token.id)
  expect(rows).toHaveLength(4)
  expect(rotated).toMatchObject({ id: token.id })
  expect(rotated.usedQuota).toBeGreaterThan(0)
  const { rows: acts } = await one.pool.query('select action, before, after from audit_entries where target_id = $1', [
    String(token.id),
  ])
  expect(acts).toMatchObject([{ action: 'tokens.rotate' }])
  expect(JSON.stringify(acts)).not.toContain(rotated.key)
  expect(JSON.stringify(acts)).not.toContain(token.key)
})

test('a former key that may go on for a while works as the same token until its end, and no longer once the next change is at once', async () => {
  const { user, token } = await anyone()
  const trpc = one.trpc(user)
  const second = await trpc.user.tokens.rotate.mutate({ id: token.id, graceSeconds: 3600 })
  expect(await statuses(token.key)).toEqual([200, 200])
  expect(await statuses(second.key)).toEqual([200, 200])
  await one.pool.query("update retired_token_keys set works_until = now() - interval '1 second' where token_id = $1", [
    token.id,
  ])
  await one.settled()
  expect(await statuses(token.key)).toEqual([401, 401])
  const third = await trpc.user.tokens.rotate.mutate({ id: token.id, graceSeconds: 3600 })
  expect(await statuses(second.key)).toEqual([200, 200])
  const fourth = await trpc.user.tokens.rotate.mutate({ id: token.id })
  for (const key of [token.key, second.key, third.key]) expect(await statuses(key)).toEqual([401, 401])
  expect(await statuses(fourth.key)).toEqual([200, 200])
  expect((await one.logs()).filter((row) => row.token_id === token.id).length).toBeGreaterThanOrEqual(8)
})

test('a key is changed by its owner alone, and two changes at once leave one key that works', async () => {
  const { user, token } = await anyone()
  const { user: otherUser } = await anyone()
  await expect(one.trpc(otherUser).user.tokens.rotate.mutate({ id: token.id })).rejects.toThrow('令牌不存在')
  const changes = await Promise.all(
    Array.from({ length: 10 }, (_, index) =>
      (index % 2 ? one : other).trpc(user).user.tokens.rotate.mutate({ id: token.id }),
    ),
  )
  expect(new Set(changes.map(({ key }) => key)).size).toBe(10)
  const answers = await Promise.all(changes.map(({ key }) => statuses(key)))
  expect(answers.filter(([first]) => first === 200)).toHaveLength(1)
  for (const [first, second] of answers) expect(first).toBe(second)
  expect(await statuses(token.key)).toEqual([401, 401])
})
