import type { Page, Request } from 'playwright-core'
import { expect, test } from 'vitest'
import { roles } from '#core/roles.ts'
import { describeWithBrowser } from '../support/chromium.ts'
import { isTaken } from '../support/long.ts'
import { storeOptions } from '../support/store-options.ts'
import { follow, openConsole, startInBrowser } from './console.ts'
import { button } from './parts.ts'

const pages = [
  '/app/dashboard',
  '/app/logs/api-usage',
  '/app/logs/tasks',
  '/admin/orders',
  '/admin/audit',
  '/admin/messages',
]

/** Noon of a day in the zone of the browser, and the midnight before it. */
const noonAfter = (days: number) => new Date(Date.parse('2026-11-20T12:00:00+08:00') + days * 86_400_000)
const midnightAfter = (days: number) => new Date(noonAfter(days).getTime() - 43_200_000)

const beginsAt =
  (moment: Date) =>
  (request: Request): boolean =>
    `${decodeURIComponent(request.url())} ${request.postData() ?? ''}`.includes(`"start":"${moment.toISOString()}"`)

/** Sets the clock forward; what was to come meanwhile comes once. */
const until = (page: Page, moment: Date) => page.clock.pauseAt(moment)

describeWithBrowser('a page that stays open for days', async () => {
  const { app, browser } = await startInBrowser()
  const root = { ...(await app.make.user({ username: 'chief', role: roles.root })), role: roles.root }

  test.each(pages.filter((_, place) => isTaken(3, place)))(
    '%s counts today from the midnight before it was chosen, and from each that passes',
    async (path) => {
      const { page, context, complaints } = await openConsole(browser, app, { reader: root })
      await page.clock.install({ time: noonAfter(0) })
      await page.goto(path)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await until(page, noonAfter(1))
      await page.clock.resume()
      const chosen = page.waitForRequest(beginsAt(midnightAfter(1)))
      await follow(page, `${path}?range=today`)
      await chosen
      const passed = page.waitForRequest(beginsAt(midnightAfter(2)))
      await until(page, noonAfter(2))
      await page.clock.resume()
      await passed
      expect(complaints).toEqual([])
      await context.close()
    },
  )

  test('the sum of a top-up is asked for again, and paid as it was read or not at all', async () => {
    await storeOptions(app, {
      PayAddress: 'https://pay.example',
      EpayId: '1000',
      EpayKey: 'the key of the merchant',
      ServerAddress: app.url,
    })
    const { page, context, complaints } = await openConsole(browser, app, { reader: await app.make.user() })
    await page.clock.install({ time: noonAfter(0) })
    await page.goto('/app/wallet')
    await button(page, '$20').click()
    await page.getByText('146.00 CNY').waitFor()
    await storeOptions(app, { Price: '8' })
    await until(page, noonAfter(1))
    await page.clock.resume()
    await page.getByText('160.00 CNY').waitFor()

    await button(page, '立即充值').click()
    const question = page.getByRole('alertdialog')
    await question.getByText('160.00 CNY').waitFor()
    await storeOptions(app, { Price: '9' })
    await button(question, '去支付').click()
    await question.getByRole('alert').filter({ hasText: '实付金额已变为 180.00 CNY，尚未支付' }).waitFor()
    expect((await app.pool.query('select 1 from top_up_orders')).rowCount).toBe(0)
    const paid = Promise.withResolvers<string | null>()
    await page.route('https://pay.example/**', (route) => {
      paid.resolve(route.request().postData())
      return route.fulfill({ body: 'paid' })
    })
    await button(question, '去支付').click()
    expect(await paid.promise).toContain('money=180.00')
    expect(complaints).toEqual([])
    await context.close()
  })
})
