import { afterAll, beforeAll, expect, test } from 'vitest'
import { type App, startApp } from '../support/app.ts'

let app: App
beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app[Symbol.asyncDispose]())

type Explanation = {
  candidates: { channel_id: number; chance: number; estimate: number }[]
  removed: { channel_id: number; rule: string }[]
  price_range: { least: number; most: number }
  balance: { user_quota: number; token_quota: number | null; admits: boolean }
}

test('tells who would answer with which chance, why others would not, the price and whether it can be paid; asks nobody', async () => {
  const heavy = await app.make.channel({ models: 'gpt-4o', weight: 90, priority: 5 })
  const light = await app.make.channel({ models: 'gpt-4o', weight: 0, priority: 5 })
  const lower = await app.make.channel({ models: 'gpt-4o' })
  const disabled = await app.make.channel({ models: 'gpt-4o', status: 2 })
  const foreign = await app.make.channel({ models: 'gpt-4o', group: 'vip' })
  const token = await app.make.token(await app.make.user(), { remainQuota: 100 })
  await app.settled()
  const body = { model: 'gpt-4o', max_tokens: 200, messages: [{ role: 'user', content: 'x'.repeat(400) }] }
  const reply = await app.relay(token, '/v1/explain', body)
  expect(reply.status).toBe(200)
  const told = (await reply.json()) as Explanation
  expect(told.candidates.map(({ channel_id }) => channel_id)).toEqual([heavy.id, light.id, lower.id])
  expect(told.candidates.map(({ chance }) => Math.round(chance * 1000))).toEqual([909, 91, 0])
  expect(told.removed).toEqual([
    { channel_id: disabled.id, rule: 'channel_disabled' },
    { channel_id: foreign.id, rule: 'group' },
  ])
  expect(told.price_range.least).toBeGreaterThan(200 * 4 * 1.25)
  expect(told.balance).toMatchObject({ token_quota: 100, admits: false })
  expect(app.upstream.total).toBe(0)
  expect(await app.logs()).toEqual([])
})
