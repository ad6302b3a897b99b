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
