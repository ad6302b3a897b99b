import { beforeEach, describe, expect, test } from 'vitest'
import type { CallCore } from '#relay/request/call.ts'
import { createSelection } from '#relay/routing/select.ts'
import { chat, consumed, say } from '../relay/caller-dialects.ts'
import { startRelay } from '../relay/relay-world.ts'
import { channelsOf, setOptions, withOptions } from '../relay/serve.ts'

const { app, token } = await startRelay()
beforeEach(() => app.upstream.clear())

const askedModels = () => app.upstream.requests.map(({ body }) => (body as { model: string }).model)
const lastRow = async () => (await consumed(app)).at(-1)

type ChannelInput = NonNullable<Parameters<typeof app.make.channel>[0]>

async function channel({ does, ...input }: ChannelInput & { does?: string }): Promise<number> {
  const baseUrl = does === undefined ? app.upstream.url : app.upstream.withDirectives(does)
  const { id } = await app.make.channel({ baseUrl, ...input })
  await app.services.channels.reload(id)
  return id
}

/** Models behind a virtual name, in the order to ask them. */
const inOrder = (...models: string[]) => models.map((model, index) => ({ model, priorities: models.length - index }))

/** A virtual name for models that nobody else has, in the order to ask them. */
let names = 0
async function virtualName(count: number): Promise<{ virtual: string; models: string[] }> {
  names += 1
  const virtual = `virtual-${names}`
  const models = Array.from({ length: count }, (_, index) => `behind-${names}-${index}`)
  const { mapping } = app.services.options.get('global_model_mapping')
  const value = { mapping: { ...mapping, [virtual]: inOrder(...models) } }
  await setOptions(app, { global_model_mapping: JSON.stringify(value) })
  return { virtual, models }
}

describe('a virtual name whose models the same channels serve', () => {
  test.each([404, 401, 403, 422, 429, 503])(
    'goes to its next model where the first one was refused by every channel, with %i',
    async (status) => {
      for (const count of [1, 2]) {
        const { virtual, models } = await virtualName(2)
        for (let made = 0; made < count; made += 1)
          await channel({ models: models.join(','), does: `status=${status},fail=1,header=x:${virtual}-${made}` })
        app.upstream.clear()
        const reply = await say(app, chat, { token, model: virtual })
        expect(reply.status, await reply.text()).toBe(200)
        const [first, second] = models
        expect(askedModels()).toEqual([...Array.from({ length: count }, () => first), second])
      }
    },
  )

  test('asks for the next one at a channel that it has not been to, where there is one', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { virtual, models } = await virtualName(2)
      const broken = await channel({ models: models.join(','), does: 'status=500' })
      const other = await channel({ models: models[1] as string })
      expect((await say(app, chat, { token, model: virtual })).status).toBe(200)
      expect(channelsOf(await lastRow())).toEqual([broken, other])
    }
  })

  test('finds the next one untried where the first has been, also where that is only repeated from there', async () => {
    const { virtual, models } = await virtualName(2)
    const channelId = await channel({ models: models.join(','), key: 'sk-only' })
    const storedAt = { channelId, keyHmac: app.services.secrets.hmac('sk-only'), only: false }
    for (const given of [{}, { storedAt }]) {
      const call = { model: virtual, group: 'default', session: {}, pinnedChannel: null, ...given } as CallCore
      const selection = createSelection(app.services, call)
      const [first, second] = models
      expect(selection.next()).toMatchObject({ channel: { id: channelId }, model: first })
      // Nothing is waited for.
      expect(selection.nextPlace()?.state).toBe('fresh')
      expect(selection.next()).toMatchObject({ channel: { id: channelId }, model: second })
      expect(selection.nextPlace()?.state).toBe('again')
    }
    // What is named stands nowhere else.
    const named = {
      model: virtual,
      group: 'default',
      session: {},
      pinnedChannel: null,
      storedAt: { ...storedAt, only: true },
    }
    const bound = createSelection(app.services, named as unknown as CallCore)
    expect(bound.next()).toMatchObject({ channel: { id: channelId }, model: models[0] })
    expect(bound.nextPlace()).toMatchObject({ state: 'fresh', healthy: true })
    expect(bound.next()).toMatchObject({ channel: { id: channelId }, model: models[1] })
    expect(bound.nextPlace()).toBeNull()
    expect(() => bound.next()).toThrow()
  })

  test('is refused once all of them were, each of them asked once', async () => {
    const { virtual, models } = await virtualName(3)
    await channel({ models: models.join(','), does: 'status=404' })
    await withOptions(app, { RetryTimes: '5' }, async () => {
      expect((await say(app, chat, { token, model: virtual })).status).toBe(404)
    })
    expect(askedModels()).toEqual(models)
  })

  test('asks for its last model again only where that one may have been busy, whatever the others were', async () => {
    for (const [does, asked] of [
      ['404', 2],
      ['429', 3],
    ] as const) {
      const { virtual, models } = await virtualName(2)
      await channel({ models: models[0] as string, does: 'status=503' })
      await channel({ models: models[1] as string, does: `status=${does}` })
      app.upstream.clear()
      expect((await say(app, chat, { token, model: virtual })).status).toBe(Number(does))
      expect(askedModels()).toEqual([models[0], models[1], models[1]].slice(0, asked))
    }
  })

  test('goes to no channel twice where the operator wants another one each time', async () => {
    const { virtual, models } = await virtualName(2)
    await channel({ models: models.join(','), does: 'status=404,fail=1' })
    await withOptions(app, { 'global.auto_retry_force_channel_switch': 'true' }, async () => {
      expect((await say(app, chat, { token, model: virtual })).status).toBe(404)
    })
    expect(askedModels()).toEqual([models[0]])
  })
})

describe('a channel that the key names', () => {
  const messages = [{ role: 'user', content: 'hi' }]

  async function pinnedTo(id: number) {
    const admin = await app.make.token(await app.make.user({ role: 10, quota: 1_000_000_000 }))
    const key = `${admin.key}-${id}`
    return {
      admin,
      ask: (model: string) => say(app, chat, { token: admin, key, model }),
      explain: async (model: string) => {
        const reply = await app.relay({ ...admin, key }, '/v1/explain', { model, messages })
        return (await reply.json()) as { candidates: Record<string, unknown>[] }
      },
    }
  }

  test('is asked for a model without the channel’s own prefix, which is priced and explained so', async () => {
    const id = await channel({ models: 'priced-here', modelPrefix: 'own/', group: 'vip', does: 'usage=1000:100' })
    await channel({ models: 'priced-here', modelPrefix: 'others/' })
    const { admin, ask, explain } = await pinnedTo(id)
    const cap = await app.make.spendCap(
      { scope: 'token', id: admin.id },
      { amount: 1_000_000, models: ['priced-here'] },
    )
    const prices = { ModelRatio: '{"priced-here":2}', CompletionRatio: '{}', SelfUseModeEnabled: 'false' }
    await withOptions(app, prices, async () => {
      for (const redirect of ['false', 'true']) {
        await withOptions(app, { redirect_billing_enabled: redirect }, async () => {
          app.upstream.clear()
          const reply = await ask('own/priced-here')
          expect(reply.status, await reply.text()).toBe(200)
          expect(askedModels()).toEqual(['priced-here'])
          const row = await lastRow()
          expect(row).toMatchObject({ channel_id: id, model_name: 'own/priced-here', quota: 2200 })
          expect(row?.other).not.toHaveProperty('is_model_mapped')
          expect((await explain('own/priced-here')).candidates).toMatchObject([
            { channel_id: id, model: 'priced-here', upstream_model: 'priced-here', price: { modelRatio: 2 } },
          ])
        })
      }
    })
    const { rows } = await app.pool.query('select sum(amount)::int as spent from spend_cap_buckets where cap_id = $1', [
      cap,
    ])
    expect(rows).toEqual([{ spent: 4400 }])
    app.upstream.clear()
    await ask('others/priced-here')
    expect(askedModels()).toEqual(['others/priced-here'])
  })

  test('is asked for the first model behind a virtual name that it lists, or the first where it lists none', async () => {
    const { virtual, models } = await virtualName(3)
    await channel({ models: models[0] as string })
    const listing = await pinnedTo(await channel({ models: models.slice(1).join(','), modelPrefix: 'behind/' }))
    const other = await pinnedTo(await channel({ models: 'another' }))
    for (const [{ ask, explain }, model] of [
      [listing, models[1]],
      [other, models[0]],
    ] as const) {
      app.upstream.clear()
      expect((await ask(virtual)).status).toBe(200)
      expect(askedModels()).toEqual([model])
      const row = await lastRow()
      expect(row).toMatchObject({ model_name: virtual })
      expect(row?.other).toMatchObject({ is_model_mapped: true, upstream_model_name: model })
      expect((await explain(virtual)).candidates).toMatchObject([{ model, upstream_model: model, probability: 1 }])
    }
  })

  test('shares equal models behind a virtual name by their weight', async () => {
    const id = await channel({ models: 'even-a,even-b,even-c' })
    const entries = [
      { model: 'even-a', priorities: 5, weight: 30 },
      { model: 'even-b', priorities: 5 },
      { model: 'even-c', priorities: 1 },
      { model: 'even-elsewhere', priorities: 9 },
    ]
    await withOptions(app, { global_model_mapping: JSON.stringify({ mapping: { even: entries } }) }, async () => {
      const { explain, ask } = await pinnedTo(id)
      const { candidates } = await explain('even')
      expect(candidates.map(({ model, probability }) => [model, probability])).toEqual([
        ['even-a', 0.75],
        ['even-b', 0.25],
      ])
      for (let count = 0; count < 5; count += 1) expect((await ask('even')).status).toBe(200)
      for (const model of askedModels()) expect(['even-a', 'even-b']).toContain(model)
    })
  })
})
