import { createHash } from 'node:crypto'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import type { OptionKey } from '#core/options/registry/index.ts'
import { epaySignature } from '#features/orders/gateways/epay.ts'
import { type App, startApp } from '#test/support/app.ts'
import { createEpayGateway, type EpayFields } from '#test/support/epay-gateway.ts'
import type { TestUser } from '#test/support/factories.ts'
import { storeOptions } from '#test/support/store-options.ts'

const gateway = createEpayGateway({ pid: '1000', key: 'the key of the merchant' })

const settings = {
  PayAddress: 'https://pay.example',
  EpayId: '1000',
  EpayKey: 'the key of the merchant',
  ServerAddress: 'https://gw.example',
}

async function setOptions(texts: Partial<Record<OptionKey, string>>): Promise<void> {
  await storeOptions(app, texts)
  await other.services.options.reload()
}

const app = await startApp()
const other = await startApp({ on: app })
afterAll(async () => {
  await other[Symbol.asyncDispose]()
  await app[Symbol.asyncDispose]()
})
beforeEach(async () => {
  await app.pool.query('delete from options')
  await setOptions(settings)
})

const order = async (user: TestUser, amount = 10, method = 'zfb'): Promise<EpayFields> => {
  const reply = await app.rest(user, 'POST', '/api/user/pay', { amount, payment_method: method })
  expect(reply.json).toMatchObject({ message: 'success' })
  return reply.json.data
}
const notify = (fields: EpayFields, method?: 'GET' | 'POST', at: App = app) => gateway.notify(at.url, fields, method)
const orderOf = async (form: EpayFields) =>
  (await app.pool.query('select * from top_up_orders where trade_no = $1', [form['out_trade_no']])).rows[0]
const eventsOf = async (form: EpayFields) =>
  (
    await app.pool.query(
      'select kind, detail from top_up_order_events where order_id = (select id from top_up_orders where trade_no = $1) order by id',
      [form['out_trade_no']],
    )
  ).rows
const md5 = (text: string): string => createHash('md5').update(text).digest('hex')
const ledgerHolds = async () => expect(await app.violations()).toEqual([])
const payer = () => app.make.user({ quota: 0 })

describe('the form of an order', () => {
  it('is signed as the gateway expects, over the documented fields', async () => {
    const user = await payer()
    const reply = await app.rest(user, 'POST', '/api/user/pay', { amount: 10, payment_method: 'zfb' })
    expect(Object.keys(reply.json).toSorted()).toEqual(['data', 'message', 'url'])
    expect(reply.json.url).toBe('https://pay.example/submit.php')
    const form = reply.json.data
    expect(form).toEqual({
      pid: '1000',
      type: 'alipay',
      out_trade_no: expect.stringMatching(new RegExp(`^USR${user.id}NO[0-9A-Za-z]{12}\\d{10}$`)),
      notify_url: 'https://gw.example/api/user/epay/notify',
      return_url: 'https://gw.example/app/wallet/topup-success',
      name: 'TUC10',
      money: '73.00',
      device: 'pc',
      sign_type: 'MD5',
      sign: expect.stringMatching(/^[0-9a-f]{32}$/),
    })
    expect(gateway.accepts(form)).toBe(true)
    expect(await orderOf(form)).toMatchObject({
      status: 'pending',
      quota: '5000000',
      money_minor: '7300',
      currency: 'CNY',
    })
  })

  it('has the signature that is known of the family', () => {
    const known = {
      pid: '1000',
      type: 'alipay',
      out_trade_no: 'USR7NOAbC1231700000000',
      notify_url: 'https://gw.example/api/user/epay/notify',
      return_url: 'https://gw.example/app/wallet/topup-success',
      name: 'TUC10',
      money: '73.00',
      device: 'pc',
    }
    expect(epaySignature({ ...known, sign: 'x', sign_type: 'MD5', param: '' }, 'KEY')).toBe(
      'fce2231ce51d30616e133d661478a50c',
    )
  })

  it('is signed for one name, whatever a plan is called: parameters in it would be signed as those', async () => {
    const admin = await app.make.user({ role: 10, quota: 0 })
    const name = 'Team & co&trade_status=TRADE_SUCCESS&z='
    const terms = { price: 500_000, term: 'day' as const, windows: [{ period: 'day' as const, amount: 5 }] }
    const plan = await app.trpc(admin).admin.plans.create.mutate({ name, ...terms })
    const started = await app.trpc(await payer()).user.plans.pay.mutate({ id: plan.id, method: 'zfb' })
    const form = started.kind === 'form' ? started.fields : {}
    expect(form['name']).toBe('Team   co trade_status=TRADE_SUCCESS z=')
    expect(gateway.accepts(form)).toBe(true)
  })

  it('asks the other way for what is not called zfb, is notified at the callback address, and costs by group', async () => {
    await setOptions({ ...settings, CustomCallbackAddress: 'https://back.example', TopupGroupRatio: '{"vip":0.95}' })
    const form = await order(await app.make.user({ quota: 0, group: 'vip' }), 3, 'wx')
    expect(form).toMatchObject({
      type: 'wxpay',
      money: '20.81',
      notify_url: 'https://back.example/api/user/epay/notify',
      return_url: 'https://gw.example/app/wallet/topup-success',
    })
    expect(await order(await payer(), 3, 'card')).toMatchObject({ type: 'wxpay', money: '21.90' })
  })

  it('counts in units where prices are shown in units', async () => {
    await setOptions({ ...settings, DisplayInCurrencyEnabled: 'false' })
    const user = await payer()
    const few = await app.rest(user, 'POST', '/api/user/pay', { amount: 499_999, payment_method: 'zfb' })
    expect(few.json).toEqual({ message: 'error', data: '充值数量不能小于 500000' })
    const form = await order(user, 750_000)
    expect(form).toMatchObject({ money: '10.95', name: 'TUC750000' })
    expect(await notify(gateway.notification(form))).toBe('success')
    expect(await app.balanceOf(user.id)).toBe(750_000)
  })

  it.each([
    [{ amount: 0 }, '充值数量不能小于 1'],
    [{ amount: -5 }, '充值数量不能小于 1'],
    [{ amount: 0.9 }, '充值数量不能小于 1'],
    [{}, '充值数量不能小于 1'],
    [{ amount: 1e15 }, '充值数量过大'],
    [{ amount: 9e9 }, '充值数量过大'],
  ])('is refused for %j, and so is its price', async (body, message) => {
    const user = await payer()
    for (const path of ['/api/user/pay', '/api/user/amount']) {
      const reply = await app.rest(user, 'POST', path, { payment_method: 'zfb', ...body })
      expect(reply).toMatchObject({ status: 200, json: { message: 'error', data: message } })
    }
    expect((await app.pool.query('select 1 from top_up_orders where user_id = $1', [user.id])).rowCount).toBe(0)
  })

  it('costs what is said before, as a text of two decimals', async () => {
    const user = await payer()
    const ask = (body: object) => app.rest(user, 'POST', '/api/user/amount', body)
    expect((await ask({ amount: 10, top_up_code: '' })).json).toEqual({ message: 'success', data: '73.00' })
    expect((await ask({ amount: 10.9 })).json.data).toBe('73.00')
    expect((await ask({ amount: '3' })).json.data).toBe('21.90')
    await setOptions({ ...settings, Price: '0.01' })
    expect((await ask({ amount: 1 })).json).toEqual({ message: 'error', data: '充值金额过低' })
    expect(await order(user, 1)).toMatchObject({ money: '0.01' })
  })

  it('is for the least amount that root allows, and more', async () => {
    await setOptions({ ...settings, MinTopUp: '3' })
    const user = await payer()
    const few = await app.rest(user, 'POST', '/api/user/pay', { amount: 2, payment_method: 'zfb' })
    expect(few.json).toEqual({ message: 'error', data: '充值数量不能小于 3' })
    expect(await order(user, 3)).toMatchObject({ money: '21.90' })
  })

  it('is none while the gateway is not set up, or its key is one that everybody knows', async () => {
    const user = await payer()
    for (const gap of [{ EpayKey: '' }, { EpayId: '' }, { PayAddress: '' }, { EpayKey: 'changeme' }]) {
      await setOptions({ ...settings, ...gap })
      for (const path of ['/api/user/pay', '/api/user/amount']) {
        const reply = await app.rest(user, 'POST', path, { amount: 10, payment_method: 'zfb' })
        expect(reply.json).toEqual({ message: 'error', data: '管理员未开启在线充值！' })
      }
    }
  })

  it('is opened once for an Idempotency-Key', async () => {
    const user = await payer()
    const send = (amount: number) =>
      fetch(`${app.url}/api/user/pay`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: user.accessToken,
          'x-user-id': String(user.id),
          'idempotency-key': 'order-1',
        },
        body: JSON.stringify({ amount, payment_method: 'zfb' }),
      }).then((reply) => reply.json())
    const replies = await Promise.all(Array.from({ length: 20 }, () => send(5)))
    expect(new Set(replies.map(({ data }) => data.out_trade_no)).size).toBe(1)
    expect(await send(6)).toEqual({ message: 'error', data: '同一 Idempotency-Key 已用于内容不同的请求' })
    expect((await app.pool.query('select 1 from top_up_orders where user_id = $1', [user.id])).rowCount).toBe(1)
  })
})

describe('a notification', () => {
  it.each(['GET', 'POST'] as const)('by %s credits what was bought, in plain text', async (method) => {
    const user = await payer()
    const form = await order(user)
    const fields = gateway.notification(form)
    const reply = await fetch(
      `${app.url}/api/user/epay/notify${method === 'GET' ? `?${new URLSearchParams(fields)}` : ''}`,
      { method, ...(method === 'POST' ? { body: new URLSearchParams(fields) } : {}) },
    )
    expect([reply.status, reply.headers.get('content-type'), await reply.text()]).toEqual([
      200,
      'text/plain; charset=utf-8',
      'success',
    ])
    expect(await app.balanceOf(user.id)).toBe(5_000_000)
    expect(await orderOf(form)).toMatchObject({ status: 'paid', payment_id: fields['trade_no'] })
    expect((await app.logs()).filter((row) => row.user_id === user.id)).toMatchObject([
      { type: 1, quota: 5_000_000, content: '使用在线充值成功，充值金额: $10.000000，支付金额：73.00 CNY' },
    ])
    await ledgerHolds()
  })

  it('sent fifty times at once to two instances credits once', async () => {
    const user = await payer()
    const form = await order(user)
    const fields = gateway.notification(form)
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        notify(fields, index % 3 === 0 ? 'POST' : 'GET', index % 2 === 0 ? app : other),
      ),
    )
    expect(new Set(answers)).toEqual(new Set(['success']))
    expect(await app.balanceOf(user.id)).toBe(5_000_000)
    expect((await app.logs()).filter((row) => row.user_id === user.id)).toHaveLength(1)
    expect((await eventsOf(form)).map(({ kind }) => kind)).toEqual(['paid'])
    await ledgerHolds()
  })

  it.each<[string, (form: EpayFields) => EpayFields]>([
    ['with an empty signature', (form) => ({ ...gateway.notification(form), sign: '' })],
    [
      'without a signature',
      (form) => Object.fromEntries(Object.entries(gateway.notification(form)).filter(([name]) => name !== 'sign')),
    ],
    ['with a wrong signature', (form) => ({ ...gateway.notification(form), sign: '0'.repeat(32) })],
    ['signed with another key', (form) => gateway.notification(form, {}, 'another key')],
    ['signed with no key', (form) => gateway.notification(form, {}, '')],
    [
      'signed in another order',
      (form) => {
        const fields = gateway.notification(form)
        const signed = Object.entries(fields).filter(([name]) => !name.startsWith('sign'))
        const text = signed.toSorted(([left], [right]) => (left < right ? 1 : -1)).map((pair) => pair.join('='))
        return { ...fields, sign: md5(`${text.join('&')}${settings.EpayKey}`) }
      },
    ],
    [
      'with the signature in capitals',
      (form) => {
        const fields = gateway.notification(form)
        return { ...fields, sign: fields['sign']?.toUpperCase() ?? '' }
      },
    ],
    ['changed after it was signed', (form) => ({ ...gateway.notification(form), money: '73.01' })],
    ['with a field more than was signed', (form) => ({ ...gateway.notification(form), param: 'x' })],
  ])('%s is answered fail and changes nothing', async (_what, make) => {
    const user = await payer()
    const form = await order(user)
    expect(await notify(make(form))).toBe('fail')
    expect(await notify(make(form), 'POST')).toBe('fail')
    expect(await app.balanceOf(user.id)).toBe(0)
    expect(await orderOf(form)).toMatchObject({ status: 'pending' })
  })

  it('whose fields come twice is answered fail', async () => {
    const user = await payer()
    const query = new URLSearchParams(gateway.notification(await order(user)))
    query.append('money', '0.01')
    const reply = await fetch(`${app.url}/api/user/epay/notify?${query}`)
    expect(await reply.text()).toBe('fail')
    expect(await app.balanceOf(user.id)).toBe(0)
  })

  it.each([{ EpayKey: '' }, { EpayKey: 'changeme' }, { EpayId: '' }, { PayAddress: '' }])(
    'is answered fail under %j, whatever it is signed with',
    async (gap) => {
      const user = await payer()
      const form = await order(user)
      await setOptions({ ...settings, ...gap })
      const key = gap.EpayKey ?? settings.EpayKey
      expect(await notify(gateway.notification(form, {}, key))).toBe('fail')
      expect(await app.balanceOf(user.id)).toBe(0)
    },
  )

  it.each<[string, EpayFields, string]>([
    ['a smaller amount', { money: '0.01' }, 'money'],
    ['a larger amount', { money: '730.00' }, 'money'],
    ['no amount', { money: '' }, 'money'],
    ['an amount in words', { money: '73 USD' }, 'money'],
    ['another merchant', { pid: '1001' }, 'merchant'],
  ])('of %s is refused although its signature is valid, and written down', async (_what, changes, what) => {
    const user = await payer()
    const form = await order(user)
    expect(await notify(gateway.notification(form, changes))).toBe('fail')
    expect(await app.balanceOf(user.id)).toBe(0)
    expect(await orderOf(form)).toMatchObject({ status: 'pending' })
    expect(await eventsOf(form)).toMatchObject([{ kind: 'refused', detail: { what } }])
    expect(await notify(gateway.notification(form))).toBe('success')
    expect(await app.balanceOf(user.id)).toBe(5_000_000)
    await ledgerHolds()
  })

  it.each(['gateway', 'currency'] as const)('for an order of another %s is refused', async (what) => {
    const user = await payer()
    const form = await order(user)
    const value = what === 'gateway' ? 'stripe' : 'USD'
    await app.pool.query(`update top_up_orders set ${what} = $2 where trade_no = $1`, [form['out_trade_no'], value])
    expect(await notify(gateway.notification(form))).toBe('fail')
    expect(await app.balanceOf(user.id)).toBe(0)
    expect(await eventsOf(form)).toMatchObject([{ kind: 'refused', detail: { what } }])
  })

  it('of something else, or of an order we do not know, is taken and changes nothing', async () => {
    const user = await payer()
    const form = await order(user)
    expect(await notify(gateway.notification(form, { trade_status: 'WAIT_BUYER_PAY' }))).toBe('success')
    expect(await notify(gateway.notification(form, { out_trade_no: 'USR1NOnobody' }))).toBe('success')
    expect(await app.balanceOf(user.id)).toBe(0)
  })

  it('that comes after the order was given up is credited all the same', async () => {
    const user = await payer()
    const form = await order(user)
    await app.pool.query("update top_up_orders set created_at = now() - interval '25 hours' where trade_no = $1", [
      form['out_trade_no'],
    ])
    const { expireOrders } = await import('#features/orders/service.ts')
    expect(await expireOrders(app.services)).toBe(1)
    expect(await orderOf(form)).toMatchObject({ status: 'expired' })
    expect(await notify(gateway.notification(form))).toBe('success')
    expect(await app.balanceOf(user.id)).toBe(5_000_000)
    expect((await eventsOf(form)).map(({ kind }) => kind)).toEqual(['expired', 'paid'])
    await ledgerHolds()
  })

  it('while the database fails is answered fail, and credited once when it is sent again', async () => {
    const user = await payer()
    const form = await order(user)
    await app.pool.query(`alter table grants add constraint "down" check (kind <> 'top_up') not valid`)
    expect(await notify(gateway.notification(form))).toBe('fail')
    expect(await orderOf(form)).toMatchObject({ status: 'pending', paid_at: null })
    await app.pool.query('alter table grants drop constraint "down"')
    expect(await notify(gateway.notification(form))).toBe('success')
    expect(await notify(gateway.notification(form))).toBe('success')
    expect(await app.balanceOf(user.id)).toBe(5_000_000)
    await ledgerHolds()
  })

  it('brings the inviter one rebate, however often it is sent', async () => {
    await setOptions({ ...settings, RebateEnabled: 'true', RebatePercentage: '10' })
    const [inviter, user] = [await payer(), await payer()]
    await app.pool.query('update users set inviter_id = $1 where id = $2', [inviter.id, user.id])
    const fields = gateway.notification(await order(user))
    await Promise.all(Array.from({ length: 20 }, () => notify(fields)))
    await expect.poll(() => app.balanceOf(inviter.id)).toBe(500_000)
    expect(await app.balanceOf(user.id)).toBe(5_000_000)
    await ledgerHolds()
  })

  it('for somebody whose account was removed is kept for the operator', async () => {
    const user = await payer()
    const form = await order(user)
    await app.pool.query('delete from grants where user_id = $1', [user.id])
    await app.pool.query('delete from users where id = $1', [user.id])
    expect(await notify(gateway.notification(form))).toBe('success')
    expect((await eventsOf(form)).map(({ kind }) => kind)).toEqual(['paid', 'user_missing'])
    expect((await app.pool.query('select 1 from grants where user_id = $1', [user.id])).rowCount).toBe(0)
  })

  it('for somebody who has left, with a history, is kept for the operator too', async () => {
    const user = await payer()
    const form = await order(user)
    await app.pool.query('update users set deleted_at = now() where id = $1', [user.id])
    const before = await app.balanceOf(user.id)
    expect(await notify(gateway.notification(form))).toBe('success')
    expect((await eventsOf(form)).map(({ kind }) => kind)).toEqual(['paid', 'user_missing'])
    expect(await app.balanceOf(user.id)).toBe(before)
  })
})
