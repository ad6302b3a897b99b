import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { describeWithBrowser } from '../support/chromium.ts'
import { long } from '../support/long.ts'
import { setOptions } from '../relay/serve.ts'
import { violationsOf } from './accessibility.ts'
import { follow, openConsole, startInBrowser } from './console.ts'

const hourMs = 3_600_000

type Hour = { ago: number; model: string; count: number; quota: number; prompt: number; output: number; cached: number }

/** Within the last seven days; before them the period that the tiles compare with. */
const hours: Hour[] = [
  { ago: 3, model: 'gpt-4o', count: 3, quota: 1_000_000, prompt: 30_000, output: 5000, cached: 12_000 },
  { ago: 50, model: 'gpt-4o', count: 1, quota: 500_000, prompt: 10_000, output: 1000, cached: 0 },
  { ago: 50, model: 'claude-sonnet-4-5', count: 2, quota: 250_000, prompt: 8000, output: 2000, cached: 0 },
  { ago: 200, model: 'gpt-4o', count: 4, quota: 875_000, prompt: 1000, output: 0, cached: 0 },
]

describeWithBrowser('the dashboard', async () => {
  const { app, browser } = await startInBrowser()
  const root = await app.make.user({ username: 'root', role: 100 })
  for (const { ago, model, count, quota, prompt, output, cached } of hours) {
    await app.pool.query(
      `insert into usage_hourly (hour, user_id, model_name, channel_id, token_id, "group", count, quota, prompt_tokens,
         completion_tokens, cached_tokens, use_time_ms, first_token_ms, first_token_count)
       values (date_trunc('hour', $1::timestamptz), $2, $3, 1, 1, 'default', $4, $5, $6, $7, $8, 1000, 800, 1)`,
      [new Date(Date.now() - ago * hourMs), root.id, model, count, quota, prompt, output, cached],
    )
  }

  const open = (path: string) => openConsole(browser, app, { reader: { ...root, role: 100 }, language: 'en', path })

  /** A tile's label with all it says. */
  const tile = (page: Page, label: string) =>
    page.locator('main').getByText(label, { exact: true }).locator('xpath=..').first()

  test('adds up to what was used, beside the period before', async () => {
    const { page, context, complaints } = await open('/app/dashboard')
    // 1,750,000 of 500,000 to the dollar, twice what 875,000 were.
    await tile(page, 'Spend').getByText('$3.50').waitFor()
    await expect.poll(() => tile(page, 'Spend').textContent()).toMatch(/^Spend\$3\.50100%Before: \$1\.75$/)
    await expect.poll(() => tile(page, 'Calls').textContent()).toMatch(/^Calls650%Before: 4$/)
    // 48,000 in and 8,000 out; 12,000 of the 48,000 from the cache.
    await expect.poll(() => tile(page, 'Tokens').textContent()).toContain('56k')
    await expect.poll(() => tile(page, 'Cached share').textContent()).toContain('25.0%')
    await page.getByRole('img', { name: 'By model Spend' }).locator('svg').first().waitFor()
    expect(await violationsOf(page)).toEqual([])
    expect(complaints).toEqual([])
    await context.close()
  })

  test.runIf(long)('keeps the figures of the last minute, dimmed, until those of other filters come', async () => {
    const { page, context } = await open('/app/dashboard')
    const calls = page.locator('main').getByText('RPM', { exact: true }).locator('xpath=..')
    await expect.poll(() => calls.textContent()).toMatch(/^RPM\d/)
    await page.route(/stats\.live/, () => {})
    await follow(page, '/app/dashboard?model=gpt-4o')
    await expect.poll(() => calls.evaluate((element) => getComputedStyle(element).opacity)).toBe('0.5')
    expect(await calls.textContent()).toMatch(/^RPM\d/)
    await context.close()
  })

  test('sums up sessions, agents and projects, and leads to their calls', async () => {
    for (const [agent, quota] of [
      ['main', 500_000],
      ['helper', 250_000],
    ] as const) {
      await app.pool.query(
        `insert into logs (created_at, user_id, username, type, content, token_name, token_id, model_name, quota,
           prompt_tokens, completion_tokens, channel_id, "group", request_id, other)
         values (now(), $1, 'root', 2, '', 't', 1, 'gpt-4o', $2, 1000, 100, 1, 'default', $3, $4)`,
        [root.id, quota, `r-${agent}`, JSON.stringify({ session: 'session-one', agent, cache_tokens: 250 })],
      )
    }
    const { page, context, complaints } = await open('/app/dashboard')
    const sums = page.getByRole('table', { name: 'Session', exact: true })
    await sums.getByRole('row', { name: /session-one \$1\.50 2 .* 25\.0%/ }).waitFor()
    await page.getByRole('group', { name: 'Summed up by' }).getByRole('button', { name: 'Agent', exact: true }).click()
    await page.getByRole('table', { name: 'Agent', exact: true }).getByRole('link', { name: 'helper' }).click()
    await page.getByRole('table').getByText('gpt-4o').first().waitFor()
    await expect.poll(() => new URL(page.url()).searchParams.get('agent')).toBe('helper')
    await page.goto(`${app.url}/app/dashboard?agent=helper`)
    await expect.poll(() => tile(page, 'Spend').textContent()).toContain('$0.50')
    await sums.getByRole('row', { name: /session-one \$0\.50 1 / }).waitFor()
    // What could not be fetched is said in its place, beside the way back.
    await page.route(/logs\.sums/, (route) => route.fulfill({ status: 500, body: '' }))
    const by = (name: string) => page.getByRole('group', { name: 'Summed up by' }).getByRole('button', { name })
    await by('Agent').click()
    await page.getByRole('alert').filter({ hasText: 'HTTP 500' }).waitFor()
    await page.unroute(/logs\.sums/)
    await page.getByRole('button', { name: 'Retry' }).click()
    await page.getByRole('table', { name: 'Agent', exact: true }).getByRole('link', { name: 'helper' }).waitFor()
    expect(complaints).toEqual([])
    await context.close()
    await app.pool.query('delete from logs')
  })

  test('has the same numbers in the table behind its chart', async () => {
    const { page, context } = await open('/app/dashboard?by=week&range=30d')
    await page.getByRole('button', { name: 'Show table' }).first().click()
    const table = page.getByRole('region', { name: 'By model Spend' })
    await table.getByRole('cell').first().waitFor()
    const cells = await table.getByRole('cell').allTextContents()
    const sum = cells.filter((text) => text.startsWith('$')).reduce((total, text) => total + Number(text.slice(1)), 0)
    // All four rows: 2,625,000 of quota.
    expect(sum).toBeCloseTo(5.25, 10)
    expect(await table.getByRole('columnheader').allTextContents()).toEqual(['Time', 'gpt-4o', 'claude-sonnet-4-5'])
    await context.close()
  })

  test('asks for one series on a first visit, by the interval that is usual on the site', async () => {
    await setOptions(app, { DataExportDefaultTime: 'week' })
    const { page, context } = await openConsole(browser, app, { reader: { ...root, role: 100 }, language: 'en' })
    const asked: string[] = []
    page.on('request', (request) => {
      const url = decodeURIComponent(request.url())
      if (url.includes('stats.series')) asked.push(/"interval":"(\w+)"/.exec(url)?.[1] ?? '')
    })
    // The figures do not wait for it.
    await page.route(/site\.status/, async (route) => {
      await tile(page, 'Spend').getByText('$3.50').waitFor()
      await route.continue()
    })
    await page.goto('/app/dashboard')
    await page.getByRole('img', { name: 'By model Spend' }).locator('svg').first().waitFor()
    expect(asked).toEqual(['week'])
    await context.close()
  })

  test.runIf(long)('names a time and an interval that cannot be read, and goes back to the usual ones', async () => {
    const { page, context } = await open('/app/dashboard?range=lately&by=minute&model=gpt-4o')
    const notice = page.getByRole('alert').filter({ hasText: 'not applied: Time, Interval' })
    await notice.getByText('Shown now: Last 7 days').waitFor()
    await notice.getByRole('button', { name: 'Clear', exact: true }).click()
    await notice.waitFor({ state: 'detached' })
    await expect.poll(() => new URL(page.url()).search).toBe('?model=gpt-4o')
    // A word where tasks are narrowed by a channel’s number is no number, nor is one where acts are by a person’s.
    for (const [path, label] of [
      ['/app/logs/drawing?channel=word', 'Channel'],
      ['/admin/audit?actor=word&range=1-x', 'Actor'],
      ['/admin/orders?status=lost&gateway=purse', 'Status'],
      ['/admin/channels?types=word&statuses=9', 'Type, Status'],
      ['/admin/users?status=lost&role=king', 'Status, Role'],
      ['/admin/coupons?status=9', 'Status'],
    ] as const) {
      await follow(page, path)
      await page
        .getByRole('alert')
        .filter({ hasText: `not applied: ${label}` })
        .waitFor()
    }
    await context.close()
  })

  test.runIf(long)('a period in which every call failed is not shown as one without calls', async () => {
    const unlucky = await app.make.user()
    await app.pool.query(
      `insert into failures_hourly (hour, user_id, model_name, channel_id, token_id, "group", calls, attempts)
       values (date_trunc('hour', now() - interval '3 hours'), $1, 'gpt-4o', 1, 1, 'default', 4, 4)`,
      [unlucky.id],
    )
    const { page, context } = await openConsole(browser, app, {
      reader: unlucky,
      language: 'en',
      path: '/app/dashboard?range=24h',
    })
    const rate = page.getByRole('link', { name: /^Error rate/ })
    await rate.getByText('100.0%').waitFor()
    await rate.click()
    await page.waitForURL(/api-usage\?type=6/)
    await context.close()
  })

  test.runIf(long)('where nothing fits the filters they are cleared at one press, and nothing else', async () => {
    const { page, context } = await open('/app/dashboard?range=24h&by=day&own=true&model=none')
    // The first is that of the bar above.
    await page.getByRole('main').getByRole('button', { name: 'Clear filters', exact: true }).nth(1).click()
    await expect.poll(() => new URL(page.url()).search).toBe('?range=24h&by=day&own=true')
    await context.close()
  })

  test('keeps what it showed where a refresh fails, says so, and tries again at one press', async () => {
    const { page, context } = await open('/app/dashboard')
    await tile(page, 'Spend').getByText('$3.50').waitFor()
    await page.getByRole('img', { name: 'By model Spend' }).locator('svg').first().waitFor()
    await page.route('**/trpc/**', (route) => route.abort())
    await page.getByRole('button', { name: 'Refresh', exact: true }).click()
    const notice = page.getByRole('alert').filter({ hasText: 'showing what was there before' })
    await notice.waitFor()
    expect(await tile(page, 'Spend').textContent()).toMatch(/^Spend\$3\.50/)
    expect(await page.getByRole('img', { name: 'By model Spend' }).locator('svg').count()).toBeGreaterThan(0)
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    await notice.getByRole('button', { name: 'Retry' }).click()
    await notice.waitFor({ state: 'detached' })
    expect(await tile(page, 'Spend').textContent()).toMatch(/^Spend\$3\.50/)
    await context.close()
  })
})
