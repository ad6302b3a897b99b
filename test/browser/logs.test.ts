import type { Request } from 'playwright-core'
import { expect, test } from 'vitest'
import { describeWithBrowser } from '../support/chromium.ts'
import { long } from '../support/long.ts'
import { violationsOf } from './accessibility.ts'
import { drawn, follow, leftHistory, openConsole, startInBrowser } from './console.ts'

/** By hand, gpt-4o-mini at 0.075 and 4: 1000 · 0.075 + 500 · 0.075 · 4 = 225, which is 225 / 500000 dollars. */
const first = { usage: '1000:500', quota: 225, shown: '$0.000450' }
/** 7 · 0.075 + 1 · 0.075 · 4 = 0.825, rounded to 1. */
const small = { usage: '7:1', quota: 1, shown: '$0.000002' }

describeWithBrowser('the usage log', async () => {
  const { app, browser } = await startInBrowser()
  const root = await app.make.user({ username: 'root', role: 100 })
  await app.make.channel()
  const token = await app.make.token(root)
  await app.settled()
  for (const { usage } of [first, small]) {
    const reply = await app.relay(token, '/v1/chat/completions', {
      model: 'gpt-4o-mini',
      messages: [{ role: 'user', content: `[[usage=${usage}]] Hi` }],
    })
    if (!reply.ok) throw new Error(await reply.text())
    await reply.text()
  }

  const open = (path: string) => openConsole(browser, app, { reader: { ...root, role: 100 }, language: 'en', path })

  test('recomputes each charge in the browser and matches what was charged', async () => {
    const { page, context, complaints } = await open('/app/logs/api-usage')
    for (const call of [first, small]) {
      await page.getByRole('cell', { name: call.shown, exact: true }).click()
      const panel = page.getByRole('complementary').or(page.getByRole('dialog')).filter({ hasText: 'Charge' })
      const verdict = panel.locator('[data-verdict]')
      await verdict.getByText(call.shown).waitFor()
      expect(await verdict.getAttribute('data-verdict')).toBe('equal')
      expect(await panel.getByText('Group ratio 1').count()).toBeGreaterThan(0)
      expect(await panel.getByText('Copy as curl').count()).toBe(1)
      await page.keyboard.press('Escape')
      await leftHistory(page, 'open')
    }
    expect((await app.logs()).map(({ quota }) => quota)).toEqual([first.quota, small.quota])
    // Curl and playground would put a conversation to a model that takes none.
    const { rows } = await app.pool.query<{ id: string }>(
      `update logs set other = other - 'dialect' || '{"operation":"embeddings"}' where quota = $1 returning id`,
      [small.quota],
    )
    await page.goto(`/app/logs/api-usage?open=${rows[0]?.id}`)
    await page.locator('[data-verdict]').waitFor()
    expect(await page.getByText('Copy as curl').count()).toBe(0)
    expect(complaints).toEqual([])
    await context.close()
  })

  test.runIf(long)('opens the row that stands there, however soon after typing into the filter', async () => {
    const { page, context, complaints } = await open('/app/logs/api-usage')
    await page.getByRole('cell', { name: first.shown, exact: true }).waitFor()
    const { rows } = await app.pool.query<{ request_id: string }>('select request_id from logs where quota = $1', [
      first.quota,
    ])
    await page.getByPlaceholder('Request ID').fill(rows[0]?.request_id ?? '')
    await page.getByRole('cell', { name: first.shown, exact: true }).click()
    await page.locator('[data-verdict=equal]').getByText(first.shown).waitFor()
    await page.getByRole('cell', { name: small.shown, exact: true }).waitFor({ state: 'detached' })
    const inAddress = (name: string) => new URL(page.url()).searchParams.get(name)
    await expect.poll(() => inAddress('request')).toBe(rows[0]?.request_id)
    expect(inAddress('open')).not.toBeNull()
    expect(complaints).toEqual([])
    await context.close()
  })

  test.runIf(long)('the sheet of filters on a phone begins with the first of them', async () => {
    const { page, context } = await openConsole(browser, app, {
      reader: { ...root, role: 100 },
      language: 'en',
      width: 390,
      height: 844,
      path: '/app/logs/api-usage',
    })
    await page.getByRole('button', { name: 'Filters' }).click()
    const sheet = page.getByRole('dialog', { name: 'Filters' })
    await sheet.getByRole('textbox', { name: 'User' }).waitFor()
    await drawn(page)
    const { top, end } = await sheet.getByText('Type', { exact: true }).evaluate((first) => ({
      top: first.getBoundingClientRect().top,
      end: first.closest('[role=dialog]')?.getBoundingClientRect().top ?? Infinity,
    }))
    expect(top).toBeGreaterThan(end)
    // A range that is looked at stays the one that moves with the time.
    await sheet.getByRole('button', { name: 'Last 24 hours' }).click()
    await sheet.getByLabel('From', { exact: true }).focus()
    await sheet.getByLabel('To', { exact: true }).focus()
    await sheet.getByRole('button', { name: 'Last 24 hours', pressed: true }).waitFor()
    // What was typed counts when the sheet is closed, and goes with a reset.
    const inAddress = (name: string) => new URL(page.url()).searchParams.get(name)
    await sheet.getByRole('textbox', { name: 'Cost: At least' }).fill('0.5')
    await sheet.getByLabel('From', { exact: true }).fill('2026-01-02T03:04')
    // A name that finds a value is none itself.
    await sheet.getByRole('textbox', { name: 'Model' }).fill('gpt')
    await sheet.getByRole('checkbox', { name: /^gpt-4o-mini/ }).check()
    await sheet.getByRole('textbox', { name: 'User' }).fill('nobody')
    await sheet.getByRole('button', { name: 'Done' }).click()
    await expect.poll(() => inAddress('user')).toBe('nobody')
    expect([inAddress('cost'), inAddress('model')]).toEqual(['0.5..', 'gpt-4o-mini'])
    expect(inAddress('range')).toMatch(/^\d+-\d+$/)
    await page.getByRole('button', { name: /^Filters/ }).click()
    await sheet.getByRole('button', { name: 'Clear filters' }).click()
    await expect.poll(() => inAddress('cost')).toBeNull()
    expect(await sheet.getByRole('textbox', { name: 'Cost: At least' }).inputValue()).toBe('')
    await context.close()
  })

  test('rows that were cleared leave the page, and a saved view is its reader’s own', async () => {
    await app.pool.query(
      `insert into logs (user_id, username, type, content, created_at)
       values ($1, 'root', 4, 'Long ago', now() - interval '100 days')`,
      [root.id],
    )
    const { page, context } = await open('/app/logs/api-usage?range=&type=4')
    await page.getByText('Long ago').waitFor()
    await page.getByRole('button', { name: /views$/i }).click()
    await page.getByRole('menuitem', { name: 'Save this view' }).click()
    await page.getByRole('dialog').getByRole('textbox', { name: 'Name' }).fill('Of a customer')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Of a customer' }).waitFor()
    expect(await page.evaluate(() => Object.keys(localStorage).filter((key) => key.startsWith('log-views')))).toEqual([
      `log-views-${root.id}`,
    ])
    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: 'Clear old logs' }).click()
    const question = page.getByRole('alertdialog')
    await question.getByRole('textbox').last().fill('Usage logs')
    await question.getByRole('button', { name: 'Delete for good' }).click()
    await page.getByText('Long ago').waitFor({ state: 'detached' })
    await context.close()
  })

  test('says so where what was charged is not what the receipt gives', async () => {
    const { rows } = await app.pool.query<{ id: string }>('select id from logs where quota = 1')
    await app.pool.query('update logs set quota = 3 where quota = 1')
    const { page, context } = await open(`/app/logs/api-usage?open=${rows[0]?.id}`)
    await page.locator('[data-verdict=different]').waitFor()
    await app.pool.query('update logs set quota = 1 where quota = 3')
    await context.close()
  })

  test.runIf(long)('distinguishes a page past the end from an empty log, and links back', async () => {
    const { page, context } = await open('/app/logs/api-usage?page=99999')
    await page.getByRole('heading', { name: 'There is no page 99,999' }).waitFor()
    expect(await page.getByText('No logs in this period').count()).toBe(0)
    expect(await violationsOf(page)).toEqual([])
    await page.getByRole('button', { name: 'Back to the first page' }).click()
    await page.getByRole('cell', { name: first.shown, exact: true }).waitFor()
    await expect.poll(() => new URL(page.url()).searchParams.has('page')).toBe(false)
    // A refresh asks for another moment, and what was shown stays where it fails, without a network as well.
    await context.setOffline(true)
    await page.getByRole('button', { name: 'Refresh', exact: true }).click()
    await page.getByRole('alert').first().waitFor()
    expect(await page.getByRole('cell', { name: first.shown, exact: true }).count()).toBe(1)
    await context.setOffline(false)
    await page.getByRole('alert').first().waitFor({ state: 'detached' })
    await follow(page, '/app/logs/api-usage?page=5&model=nobodys-model')
    await page.getByRole('heading', { name: 'No logs match' }).waitFor()
    await context.close()
  })

  test('a refresh asks anew, once, under every range, that of pages beside the log included', async () => {
    const { page, context } = await open('/app/logs/api-usage')
    for (const [address, asked] of [
      ['/app/logs/api-usage', /logs\.list/],
      ['/app/logs/api-usage?range=today', /logs\.list/],
      ['/app/logs/api-usage?range=1767225600-4102444800', /logs\.list/],
      ['/app/logs/drawing', /tasks\.drawings/],
      ['/app/dashboard?range=1767225600-1767312000', /stats\.overview/],
      ['/app/dashboard?range=today', /stats\.overview/],
    ] as const) {
      await follow(page, address)
      const refresh = page.getByRole('button', { name: 'Refresh', exact: true })
      await refresh.waitFor()
      await drawn(page)
      const anew: string[] = []
      const note = (request: Request) => asked.test(request.url()) && anew.push(request.url())
      page.on('request', note)
      await refresh.click()
      await expect.poll(() => anew.length).toBeGreaterThan(0)
      await drawn(page)
      expect(anew).toHaveLength(1)
      page.off('request', note)
    }
    await context.close()
  })

  test('asks nothing under filters that cannot be read, names them, and drops them at one press', async () => {
    const asked: string[] = []
    const { page, context } = await openConsole(browser, app, { reader: { ...root, role: 100 }, language: 'en' })
    page.on('request', (request) => {
      if (/logs\.(list|stat)/.test(request.url())) asked.push(request.url())
    })
    await page.goto('/app/logs/api-usage?type=word&outcome=maybe&time=fast&cost=x&range=lately&model=gpt-4o-mini')
    await page.getByText('Filters in the address that cannot be read: Type, Outcome, Time, Duration, Cost').waitFor()
    await page.getByRole('heading', { name: 'A filter cannot be read, so nothing was looked up' }).waitFor()
    expect(await page.getByRole('cell', { name: first.shown, exact: true }).count()).toBe(0)
    expect(asked).toEqual([])
    await page.getByRole('alert').getByRole('button', { name: 'Clear', exact: true }).click()
    await page.getByRole('cell', { name: first.shown, exact: true }).waitFor()
    // Those that could be read stay.
    await expect.poll(() => new URL(page.url()).search).toBe('?model=gpt-4o-mini')

    // Nor is an order or a page passed over that there cannot be, and a row that is not there is not asked for again.
    await follow(page, '/app/logs/api-usage?sort=nonsense&page=-3&open=99999999')
    await page.getByRole('complementary').getByText('This log entry does not exist').waitFor()
    await page.getByRole('button', { name: 'Back to the log' }).click()
    const place = page.getByRole('alert').filter({ hasText: 'Order, Page number' })
    await place.getByRole('button', { name: 'Clear', exact: true }).click()
    await place.waitFor({ state: 'detached' })
    expect(new URL(page.url()).search).toBe('')
    await context.close()
  })

  test.runIf(long)('an export that was called off ends no other that was begun since', async () => {
    const { page, context, complaints } = await open('/app/logs/api-usage')
    await page.getByRole('cell', { name: first.shown, exact: true }).waitFor()
    const held: (() => void)[] = []
    await page.route(/logs\.list.*1000/, async (route) => {
      await new Promise<void>((goOn) => held.push(goOn))
      await route.continue().catch(() => undefined)
    })
    const answerNext = async () => {
      await expect.poll(() => held.length).toBeGreaterThan(0)
      held.shift()?.()
    }
    const begin = () => page.getByRole('button', { name: 'Export CSV' }).click()
    const callOff = page.getByRole('button', { name: /^Cancel export/ })
    await begin()
    await expect.poll(() => held.length).toBe(1)
    await callOff.click()
    const saved = page.waitForEvent('download')
    await begin()
    const answered = page.waitForResponse(/logs\.list.*1000/)
    await answerNext()
    await answered
    await expect.poll(() => held.length).toBe(1)
    await page.evaluate(() => new Promise((drawnOnce) => requestAnimationFrame(() => setTimeout(drawnOnce))))
    expect(await callOff.count()).toBe(1)
    await answerNext()
    await (await saved).delete()
    await page.getByRole('button', { name: 'Export CSV' }).waitFor()
    expect(complaints).toEqual([])
    await context.close()
  })
})
