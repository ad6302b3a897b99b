import { describe, expect, it } from 'vitest'
import { startFileConsole } from '#test/support/console-app.ts'

const app = await startFileConsole()
const admin = await app.signedIn(await app.person({ role: 10 }))
await admin.post('/api/channel/', { name: 'a', key: 'sk-a', type: 1, models: 'gpt-4o,house-model', group: 'default' })
await admin.post('/api/channel/', { name: 'b', key: 'sk-b', type: 1, models: 'dall-e-3', group: 'vip' })

describe('models on the wire', () => {
  it('have a price list at top level, for anonymous visitors too', async () => {
    const reply = await app.browser().get('/api/pricing')
    expect(reply.body).toEqual({
      success: true,
      message: '',
      data: [
        {
          model_name: 'dall-e-3',
          quota_type: 1,
          model_ratio: 0,
          model_price: 0.04,
          owner_by: '',
          completion_ratio: 0,
          enable_groups: ['vip'],
        },
        {
          model_name: 'gpt-4o',
          quota_type: 0,
          model_ratio: 1.25,
          model_price: 0,
          owner_by: '',
          completion_ratio: 4,
          enable_groups: ['default'],
        },
      ],
      group_ratio: { default: 1, vip: 1 },
      usable_group: { default: '默认分组', vip: 'vip分组' },
    })
  })

  it('show the own group of a signed-in reader who sends no user-id header', async () => {
    await app.setOptions({ GroupRatio: '{"default":1,"inner":0.5}' })
    const inner = await app.signedIn(await app.person({ group: 'inner' }))
    inner.become(null)
    const { body } = await inner.get('/api/pricing/')
    expect(body['group_ratio']).toEqual({ inner: 0.5, default: 1 })
    expect(body['usable_group']).toMatchObject({ inner: '用户分组' })
  })

  it('name no group that their reader may not choose, and are priced all the same', async () => {
    await app.setOptions({ GroupRatio: '{"default":1,"inner":0.5}' })
    await admin.post('/api/channel/', { name: 'c', key: 'sk-c', type: 1, models: 'gpt-4,gpt-4o', group: 'inner' })
    const groupsSeenBy = async (browser: { get: (path: string) => Promise<{ data: unknown }> }) =>
      ((await browser.get('/api/pricing')).data as { model_name: string; enable_groups: string[] }[])
        .filter(({ model_name: name }) => name.startsWith('gpt'))
        .map(({ enable_groups: groups }) => groups)
    expect(await groupsSeenBy(app.browser())).toEqual([[], ['default']])
    expect(await groupsSeenBy(await app.signedIn(await app.person()))).toEqual([[], ['default']])
    const inner = await app.signedIn(await app.person({ group: 'inner' }))
    expect(await groupsSeenBy(inner)).toEqual([['inner'], ['default', 'inner']])
  })

  it('are bare lists: those built in by channel type, those a user may call', async () => {
    const user = await app.signedIn(await app.person())
    const builtIn = (await user.get('/api/models')).data as Record<string, string[]>
    expect(builtIn['1']).toContain('gpt-4o')
    // Numbered as channels are; what nothing can be sent to yet is absent.
    expect(builtIn['14']?.some((name) => name.startsWith('claude'))).toBe(true)
    expect(['28', '50', '57'].map((type) => builtIn[type])).toEqual([undefined, undefined, undefined])
    expect((await user.get('/api/user/models')).data).toEqual(['gpt-4o', 'house-model'])
    expect((await app.browser().get('/api/user/models')).status).toBe(401)
  })
})
