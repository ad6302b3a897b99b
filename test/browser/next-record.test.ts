import { expect, test } from 'vitest'
import { describeWithBrowser } from '../support/chromium.ts'
import { long } from '../support/long.ts'
import { follow, openConsole, startInBrowser } from './console.ts'
import { button } from './parts.ts'

describeWithBrowser('what belongs to one record', async () => {
  const { app, browser } = await startInBrowser()
  const root = await app.make.user({ username: 'root', role: 100 })
  const open = (path: string) => openConsole(browser, app, { reader: { ...root, role: 100 }, path })

  test('money of a channel does not stand under the next one', async () => {
    await app.make.channel({ name: 'Costly', models: 'gpt-4o' })
    await app.make.channel({ name: 'Spare', models: 'gpt-4o' })
    const { page, context } = await open('/admin/prices?open=buying')
    const sheet = page.getByRole('dialog', { name: '进价' })
    const choose = async (name: string) => {
      await sheet.getByRole('combobox').first().click()
      await page.getByRole('option', { name }).click()
    }
    await choose('Costly')
    await sheet.getByText('近 30 天').waitFor()
    const { promise: held, resolve: release } = Promise.withResolvers<void>()
    await page.route(/prices\.channelMoney/, async (route) => {
      await held
      await route.continue()
    })
    const asked = page.waitForRequest(/prices\.channelMoney/)
    await choose('Spare')
    await asked
    expect(await sheet.getByText('近 30 天').count()).toBe(0)
    release()
    await sheet.getByText('近 30 天').waitFor()
    await context.close()
  })

  test.runIf(long)('the receipt of an order does not stand under the next one', async () => {
    await app.pool.query(
      `insert into top_up_orders (user_id, trade_no, gateway, merchant, quota, money_minor, currency)
       select $1, number, 'stripe', 'merchant', 500000, 700, 'CNY' from unnest(array['receipt-1', 'receipt-2']) number`,
      [root.id],
    )
    const { page, context } = await open('/app/wallet/receipt?order=receipt-1')
    const shown = (tradeNo: string) => page.getByText(tradeNo, { exact: true })
    await shown('receipt-1').waitFor()
    let isDown = true
    await page.route(/user\.orders\.get/, (route) =>
      isDown ? route.fulfill({ status: 503, contentType: 'text/plain', body: '' }) : route.continue(),
    )
    const { promise: held, resolve: release } = Promise.withResolvers<void>()
    await page.route(/user\.orders\.get/, async (route) => {
      await held
      await route.fallback()
    })
    const asked = page.waitForRequest(/user\.orders\.get/)
    await follow(page, '/app/wallet/receipt?order=receipt-2')
    await asked
    expect(await shown('receipt-1').count()).toBe(0)
    release()
    const failure = page.getByRole('alert').filter({ hasText: '无法连接到服务器' })
    await failure.waitFor()
    isDown = false
    await button(failure, '重试').click()
    await shown('receipt-2').waitFor()
    await context.close()
  })

  test.runIf(long)('what a user spent is not said to be nothing before it is known', async () => {
    const { promise: held, resolve: release } = Promise.withResolvers<void>()
    const { page, context } = await openConsole(browser, app, { reader: { ...root, role: 100 } })
    await page.route(/admin\.stats\.series/, async (route) => {
      await held
      await route.continue()
    })
    const asked = page.waitForRequest(/admin\.stats\.series/)
    await page.goto(`/app/users/${root.id}`)
    await asked
    await page.locator('[aria-busy=true]').first().waitFor()
    const nothing = page.getByText('这段时间没有数据')
    expect(await nothing.count()).toBe(0)
    release()
    await nothing.waitFor()
    await context.close()
  })

  test.runIf(long)('an order with its buttons does not stand under the next one', async () => {
    const order = async (tradeNo: string) => {
      const { rows } = await app.pool.query<{ id: number }>(
        `insert into top_up_orders (user_id, trade_no, gateway, merchant, quota, money_minor, currency)
         values ($1, $2::text, 'stripe', 'merchant-' || $2::text, 500000, 700, 'CNY') returning id`,
        [root.id, tradeNo],
      )
      return rows[0]?.id
    }
    const [first, second] = [await order('first'), await order('second')]
    const { page, context } = await open(`/admin/orders?order=${first}`)
    const shown = (tradeNo: string) => page.getByText(`merchant-${tradeNo}`, { exact: true })
    await shown('first').waitFor()
    const { promise: held, resolve: release } = Promise.withResolvers<void>()
    await page.route(/admin\.orders\.get/, async (route) => {
      await held
      await route.continue()
    })
    const asked = page.waitForRequest(/admin\.orders\.get/)
    await page.evaluate((address) => history.pushState(null, '', address), `/admin/orders?order=${second}`)
    await asked
    expect(await shown('first').count()).toBe(0)
    release()
    await shown('second').waitFor()
    await context.close()
  })
})
