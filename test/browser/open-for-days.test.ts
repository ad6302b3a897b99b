import type { Page, Request } from 'playwright-core'
import { expect, test } from 'vitest'
import { roles } from '#core/roles.ts'
import { describeWithBrowser } from '../support/chromium.ts'
import { follow, openConsole, startInBrowser } from './console.ts'

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

  test.each(pages)(
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
})
