import { afterAll, expect, test } from 'vitest'
import { balanceText } from '#core/balance-text.ts'
import { createTransport } from '#relay/transport/send.ts'
import { startConsole } from '#test/support/console-app.ts'
import { json, startScriptedUpstream } from '#test/support/scripted-upstream.ts'

const app = await startConsole()
app.services.transport = createTransport()
const admin = await app.person({ role: 100 })
const upstream = await startScriptedUpstream()
afterAll(async () => {
  await upstream[Symbol.asyncDispose]()
  await app.services.transport.close()
  await app[Symbol.asyncDispose]()
})

/** What a channel of a type is said to have left, by what its provider answers, and whether that is compared with what it cost. */
async function read(type: number, body: unknown, place = '') {
  const { channels } = (await app.trpc(admin)).admin
  const baseUrl = upstream.play(json(body)) + place
  const { id } = await channels.create({ name: 'one', type, key: 'sk-upstream', models: ['gpt-4o-mini'], baseUrl })
  const { balance, currency } = await channels.updateBalance({ id })
  expect(await channels.get({ id })).toMatchObject({ balance, balanceCurrency: currency })
  const compared = await app.sql('select 1 from channel_balances where channel_id = $1', [id])
  return [balanceText(balance, currency), compared.length === 1]
}

const account = (currency: unknown) => ({ balance_infos: [{ currency, total_balance: '1010.00' }] })
const kimi = { data: { available_balance: -1 } }

test('a balance is kept with its currency, and compared with what was counted in dollars only where it is in dollars', async () => {
  expect(await read(43, account('CNY'))).toEqual(['¥1,010.00', false])
  expect(await read(43, account('USD'))).toEqual(['$1,010.00', true])
  expect(await read(43, account('EUR'))).toEqual(['EUR 1,010.00', false])
  expect(await read(43, account('<b>'))).toEqual(['$1,010.00', true])
  expect(await read(25, kimi, '/api.moonshot.cn')).toEqual(['-¥1.00', false])
  expect(await read(25, kimi)).toEqual(['-$1.00', true])
  expect(await read(10, { data: { totalPoints: 5 } })).toEqual(['5.00', false])
})

test('a notice of a low balance is in the currency of the balance', async () => {
  const { channels, attention } = (await app.trpc(admin)).admin
  await app.sql('truncate channels, channel_keys, abilities')
  const baseUrl = upstream.play(json({ balance_infos: [{ currency: 'CNY', total_balance: '1.50' }] }))
  const { id } = await channels.create({ name: 'low', type: 43, key: 'sk-upstream', models: ['gpt-4o-mini'], baseUrl })
  await channels.updateBalance({ id })
  const notices = (await attention.list()).filter(({ kind }) => kind === 'balance-low')
  expect(notices).toMatchObject([{ channelId: id, balance: 1.5, currency: 'CNY' }])
})
