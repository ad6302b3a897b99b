import { expect } from 'vitest'
import { startApp } from '#test/support/app.ts'
import type { Client } from './clients/client.ts'

/** The three kinds of upstream, each with a model of its own, so that a model's name chooses the channel. */
export const channelKinds = [
  // 0.075 a token, output at 4 times: (1010 + 200 × 4) × 0.075 = 135.75.
  { name: 'an OpenAI channel', type: 1, model: 'gpt-4o-mini', usage: '1010:200', charge: 136, floored: 135 },
  // 1.5 a token, output at 5 times: (1000 + 201 × 5) × 1.5 = 3007.5, and channels of this kind round down.
  {
    name: 'an Anthropic channel',
    type: 14,
    model: 'claude-sonnet-4-20250514',
    usage: '1000:201',
    charge: 3007,
    floored: 3007,
  },
  // 0.15 a token, output at 8.3333 times: (1005 + 200 × 8.3333) × 0.15 = 400.749.
  { name: 'a Gemini channel', type: 24, model: 'gemini-2.5-flash', usage: '1005:200', charge: 401, floored: 400 },
] as const

/** The model of a channel that can be held to a schema. */
export const strictModel = (type: ChannelKind['type']): string =>
  ({ 1: 'gpt-4o-mini', 14: 'claude-sonnet-4-5-20250929', 24: 'gemini-2.5-flash' })[type]

export type ChannelKind = (typeof channelKinds)[number]

/** A product with one channel of each kind, a token, and a library's client for it. */
export async function startWorld(createClient: (url: string, key: string) => Client) {
  const app = await startApp()
  const user = await app.make.user({ quota: 1_000_000_000 })
  const token = await app.make.token(user)
  for (const { type, model } of channelKinds)
    await app.make.channel({ type, models: [...new Set([model, strictModel(type)])].join(',') })
  await app.make.option('RetryTimes', '0')
  await app.settled()
  let seen = 0
  return {
    app,
    token,
    client: createClient(app.url, token.key),
    unauthenticated: createClient(app.url, 'x'.repeat(48)),
    /** Charges of the calls since the last look: exactly one log row each, in their order. */
    newCharges: async (): Promise<number[]> => {
      const rows = (await app.logs()).filter((row) => row.type === 2)
      const fresh = rows.slice(seen)
      seen = rows.length
      return fresh.map((row) => row.quota)
    },
    /** What the upstream was last asked. */
    lastBody: (): unknown => app.upstream.requests.at(-1)?.body,
    close: async () => {
      expect(await app.violations()).toEqual([])
      await app[Symbol.asyncDispose]()
    },
  }
}

export type World = Awaited<ReturnType<typeof startWorld>>
