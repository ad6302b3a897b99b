import { beforeEach, expect, it } from 'vitest'
import { codeOf, startFileConsole } from '#test/support/console-app.ts'

const app = await startFileConsole()
beforeEach(() => app.sql('delete from options'))

const address = { ServerAddress: 'https://gw.example' }
const wantsAddress = 'option.requires_server_address'
const asChanges = (values: Record<string, string>) => Object.entries(values).map(([key, value]) => ({ key, value }))

it.each<Record<string, string>>([
  { PayAddress: 'https://pay.example', EpayId: '1', EpayKey: 'the key of the gateway' },
  { 'stripe.secret_key': 'sk_live_1', 'stripe.webhook_secret': 'whsec_1' },
])('the server address is neither emptied nor reset while payers come back to it from %j', async (gateway) => {
  const { options } = (await app.trpc(await app.person({ role: 100 }))).admin
  const stored = () => app.services.options.get('ServerAddress')
  expect((await options.save({ changes: asChanges({ ...address, ...gateway }) })).failed).toEqual([])
  expect(await options.save({ changes: asChanges({ ServerAddress: '', SystemName: 'Named' }) })).toMatchObject({
    saved: ['SystemName'],
    failed: [{ key: 'ServerAddress', code: wantsAddress }],
  })
  expect(await codeOf(options.reset({ keys: ['ServerAddress'] }))).toBe(wantsAddress)
  expect(stored()).toBe('https://gw.example')
  await options.reset({ keys: ['ServerAddress', ...Object.keys(gateway)] })
  expect(stored()).toBe('')
})

it('the server address is emptied where no gateway is set, or together with it', async () => {
  const { options } = (await app.trpc(await app.person({ role: 100 }))).admin
  const half = { ...address, PayAddress: 'https://pay.example', EpayId: '1' }
  expect((await options.save({ changes: asChanges(half) })).failed).toEqual([])
  expect((await options.save({ changes: asChanges({ ServerAddress: '' }) })).failed).toEqual([])
  expect((await options.save({ changes: asChanges({ ...half, EpayKey: 'the key' }) })).failed).toEqual([])
  const without = { ServerAddress: '', PayAddress: '' }
  expect((await options.save({ changes: asChanges(without) })).failed).toEqual([])
})
