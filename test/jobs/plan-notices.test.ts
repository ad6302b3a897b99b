import { expect, test } from 'vitest'
import { sendPlanNotices } from '#features/plans/notices.ts'
import { startApp } from '#test/support/app.ts'
import { startReceiver } from '#test/support/receiver.ts'

test('a notice of a plan is sent by another process, and once, where the one that took it ended before handing it over', async () => {
  await using app = await startApp()
  await using other = await startApp({ on: app })
  await using hook = await startReceiver(() => ({ delayMs: 600_000 }))
  const user = await app.make.user({ quota: 5_000_000 })
  const setting = { notify_type: 'webhook', quota_warning_threshold: 0, webhook_url: hook.url }
  await app.pool.query('update users set setting = $1 where id = $2', [setting, user.id])
  const admin = app.trpc(await app.make.user({ role: 10 })).admin
  const windows = [{ period: 'day' as const, amount: 100_000 }]
  const plan = await admin.plans.create.mutate({ name: 'Solo', price: 100_000, term: 'month', windows })
  await app.trpc(user).user.plans.buy.mutate({ id: plan.id })
  const { signal } = new AbortController()
  // As one that was killed: it has taken the notice, and never ends.
  const ended = sendPlanNotices(app.services, signal)
  await expect.poll(() => hook.received.length).toBe(1)
  hook.answerWith(() => ({}))
  const again = () => sendPlanNotices(other.services, signal)
  expect(await again()).toBe(0)
  const later = () => app.pool.query("update plan_notices set due_at = due_at - interval '10 minutes'")
  await later()
  expect(await again()).toBe(1)
  await later()
  expect(await again()).toBe(0)
  expect(hook.received.map(({ text }) => JSON.parse(text).type)).toEqual(['plan_bought', 'plan_bought'])
  await hook[Symbol.asyncDispose]()
  expect(await ended).toBe(0)
})
