import { expect, test } from 'vitest'
import { setOptions } from '../relay/serve.ts'
import { describeWithBrowser } from '../support/chromium.ts'
import { long } from '../support/long.ts'
import { drawn, follow, openConsole, startInBrowser, toastShown } from './console.ts'
import { box } from './parts.ts'

describeWithBrowser('parts of pages', async () => {
  const { app, browser } = await startInBrowser()
  const root = await app.make.user({ username: 'root', role: 100 })

  test.runIf(long)('the first steps are read once to be shown', async () => {
    await app.pool.query("insert into installation_facts (name, value) values ('first_steps', 'open')")
    // Else the console would store the one it is opened in, and what is stored may have been a step.
    await app.pool.query("update users set language = 'zh' where id = $1", [root.id])
    const { page, context } = await openConsole(browser, app, { reader: { ...root, role: 100 } })
    let reads = 0
    page.on('request', (request) => (reads += request.url().includes('admin.site.firstSteps') ? 1 : 0))
    // They are read again every five seconds, which must not pass by themselves.
    await page.clock.install()
    await page.clock.pauseAt(Date.now() + 60_000)
    await page.goto('/admin/channels')
    const passed = async (ms: number) => {
      await page.clock.runFor(ms)
      // What the page had asked for before is known with this.
      await page.evaluate(() => fetch('/healthz').then((reply) => reply.text()))
    }
    const card = page.getByRole('region', { name: '开始使用' })
    while (!(await card.isVisible())) await passed(20)
    await passed(2000)
    expect(reads).toBe(1)
    await passed(4000)
    await expect.poll(() => reads).toBe(2)
    await context.close()
    await app.pool.query("delete from installation_facts where name = 'first_steps'")
  })

  test('a form that a link opens with another page has the focus, and marks nothing', async () => {
    const { page, context } = await openConsole(browser, app, { reader: { ...root, role: 100 }, path: '/admin/plans' })
    await drawn(page)
    await follow(page, '/admin/coupons')
    await drawn(page)
    // The files of the page are there, so that it opens at once with its form.
    await follow(page, '/admin/plans?edit=-1')
    const drawer = page.getByRole('dialog', { name: '添加套餐' })
    await drawer.locator('input[name=name]:focus').waitFor()
    await drawn(page)
    expect(await drawer.locator('[aria-invalid=true]').count()).toBe(0)
    await context.close()
  })

  test('a menu that is opened before its page has come stays open when that comes with a field to type in', async () => {
    const { page, context } = await openConsole(browser, app, { language: 'en' })
    const { promise: isWanted, resolve: send } = Promise.withResolvers<void>()
    await page.route(/assets\/login-page-/, async (route) => {
      await isWanted
      await route.continue()
    })
    await page.goto('/login', { waitUntil: 'commit' })
    await page.getByRole('button', { name: 'Appearance' }).click()
    const dark = page.getByRole('menuitem', { name: 'Dark' })
    await dark.waitFor()
    const field = page.getByRole('textbox', { name: 'Username or email' })
    expect(await field.count()).toBe(0)
    send()
    await field.waitFor()
    await drawn(page)
    await dark.click()
    await page.locator('html.dark').waitFor()
    await context.close()
  })

  test.runIf(long)('what is no JSON is reported once, by its line, to screen readers too', async () => {
    const { page, context } = await openConsole(browser, app, { reader: { ...root, role: 100 }, path: '/channel/add' })
    const mapping = box(page.getByRole('dialog', { name: '添加渠道' }), '模型映射')
    await mapping.fill('{\n"a": 1 2}')
    await mapping.blur()
    const invalid = page.locator('textarea[aria-invalid=true]')
    await invalid.waitFor()
    const described = page.locator(`[id="${await invalid.getAttribute('aria-describedby')}"]`)
    expect(await described.textContent()).toBe('第 2 行不是合法的 JSON')
    expect(await page.getByText('JSON 格式！').count()).toBe(0)
    // What is JSON and no mapping is reported by the form.
    await mapping.fill('[1]')
    await page.getByText('模型映射必须是合法的 JSON格式！').waitFor()
    expect(await page.getByText('JSON 格式正确').count()).toBe(0)
    await context.close()
  })

  test.runIf(long)('what was written as markdown is read as it was written where its file does not come', async () => {
    const { page, context, complaints } = await openConsole(browser, app, { language: 'en' })
    await setOptions(app, { About: 'Two lines\nof **words**' })
    await page.route(/assets\/markdown-/, (route) => route.abort())
    await page.goto('/about')
    const words = page.getByText('of **words**')
    await words.waitFor()
    expect(await words.evaluate((element) => getComputedStyle(element).whiteSpace)).toBe('pre-wrap')
    expect(complaints.splice(0).filter((one) => !one.includes('ERR_FAILED'))).toEqual([])
    await setOptions(app, { About: '' })
    await context.close()
  })

  /** Files that have gone, as after an upgrade. */
  async function openWithout(files: RegExp, path: string, language: 'en' | 'zh') {
    const { page, context, complaints } = await openConsole(browser, app, { reader: { ...root, role: 100 }, language })
    await page.route(files, (route) => route.abort())
    await page.goto(path)
    return {
      page,
      end: async () => {
        expect(complaints.splice(0).filter((one) => !one.includes('ERR_FAILED'))).toEqual([])
        await context.close()
      },
    }
  }

  test('a chart is a table where its file does not come, and the page around it stands', async () => {
    await app.pool.query(
      `insert into usage_hourly (hour, user_id, model_name, channel_id, token_id, "group", count, quota)
       values (date_trunc('hour', now() - interval '3 hours'), $1, 'gpt-4o', 1, 1, 'default', 4321, 10)`,
      [root.id],
    )
    const { page, end } = await openWithout(/assets\/drawings-/, '/app/dashboard', 'en')
    await page.getByRole('columnheader', { name: 'gpt-4o' }).first().waitFor()
    await page.getByText('4,321').first().waitFor()
    await end()
  })

  test('without the file of its language the console speaks the other one, and says so when it is chosen', async () => {
    const { page, end } = await openWithout(/assets\/en-/, '/app/tokens', 'en')
    await page.getByRole('heading', { name: 'API令牌' }).waitFor()
    await end()
    const chinese = await openWithout(/assets\/en-/, '/app/tokens', 'zh')
    await chinese.page.getByRole('button', { name: '语言', exact: true }).click()
    await chinese.page.getByRole('menuitem', { name: 'English' }).click()
    await toastShown(chinese.page, '无法打开，刷新页面后再试')
    await chinese.end()
  })

  test.runIf(long)('the words of a notice are read where the file does not come that cleans its HTML', async () => {
    await setOptions(app, { Footer: '<b>Operated by</b> somebody<script>document.title = "taken"</script>' })
    const { page, end } = await openWithout(/assets\/sanitise-/, '/', 'en')
    await page.getByText('Operated by somebody').waitFor()
    expect(await page.title()).not.toContain('taken')
    await setOptions(app, { Footer: '' })
    await end()
  })

  test.runIf(long)('the card of a channel on a phone does not grow when its health arrives', async () => {
    const { id } = await app.make.channel({ name: 'Probed', models: 'gpt-4o' })
    await app.pool.query(
      "insert into channel_probes (channel_id, model, success, message, duration_ms) values ($1, 'gpt-4o', true, '', 300)",
      [id],
    )
    const { page, context } = await openConsole(browser, app, {
      reader: { ...root, role: 100 },
      width: 390,
      height: 844,
    })
    const { promise: held, resolve: release } = Promise.withResolvers<void>()
    await page.route(/channels\.health/, async (route) => {
      await held
      await route.continue()
    })
    await page.goto('/admin/channels')
    const strip = page.locator('main svg[viewBox="0 0 46 16"]')
    await strip.waitFor()
    const heightOfCard = () =>
      page.locator('main').evaluate((main) => main.querySelector('li, article')?.clientHeight ?? 0)
    const before = await heightOfCard()
    expect(before).toBeGreaterThan(0)
    release()
    await page.getByText('100%', { exact: true }).waitFor()
    expect(await heightOfCard()).toBe(before)
    await context.close()
  })

  test.each([
    { path: '/app/wallet', landmark: 'tab', name: '充值订单', width: 1440 },
    { path: '/app/wallet', landmark: 'heading', name: '使用兑换码', width: 390 },
    { path: '/admin/system', landmark: 'heading', name: '定时任务', width: 1440 },
  ] as const)(
    'on the first visit of a browser “$name” of $path stands where it stays, $width px wide',
    async ({ path, landmark, name, width }) => {
      await app.trpc(root).admin.plans.create.mutate({
        name: 'Solo',
        price: 100_000,
        term: 'month',
        windows: [{ period: 'day', amount: 100_000 }],
      })
      await app.pool.query(
        `insert into nodes (id, host, pid, role, version, started_at)
         select id, 'other', id, 'relay', '1', now() from generate_series(700, 702) id on conflict do nothing`,
      )
      const { page, context } = await openConsole(browser, app, { reader: { ...root, role: 100 }, width })
      await page.addInitScript((words) => {
        const places = new Set<number>()
        Object.assign(window, { places })
        const note = (): void => {
          for (const part of document.querySelectorAll('main [role=tab], main h2'))
            if (part.textContent === words) places.add(part.getBoundingClientRect().top)
          requestAnimationFrame(note)
        }
        note()
      }, name)
      const asked = Promise.withResolvers<void>()
      const wanted = Promise.withResolvers<void>()
      await page.route(/trpc\/[^?]*(user\.wallet\.get|system\.state)/, async (route) => {
        asked.resolve()
        await wanted.promise
        await route.continue()
      })
      await page.goto(path)
      await asked.promise
      await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))))
      wanted.resolve()
      await page.getByRole('main').getByRole(landmark, { name, exact: true }).waitFor()
      await drawn(page)
      expect(await page.evaluate(() => [...(window as unknown as { places: Set<number> }).places])).toHaveLength(1)
      await context.close()
    },
  )

  test('a model without a price counts neither as failed nor against the health of its channel, and is not removed', async () => {
    const { id } = await app.make.channel({ name: 'Unpriced', models: 'nobodys-model' })
    const { page, context } = await openConsole(browser, app, { reader: { ...root, role: 100 } })
    await page.goto(`/admin/channels?test=${id}`)
    const tests = page.getByRole('dialog', { name: '测试模型' })
    await tests.getByRole('button', { name: '测试 nobodys-model', exact: true }).click()
    await tests.getByText('没有价格', { exact: true }).waitFor()
    expect(await tests.getByText('失败', { exact: true }).count()).toBe(0)
    expect(await tests.getByRole('button', { name: '删除失败的模型' }).count()).toBe(0)
    await page.keyboard.press('Escape')
    await page.reload()
    await drawn(page)
    expect(
      await page
        .getByRole('row', { name: /Unpriced/ })
        .getByText('%')
        .count(),
    ).toBe(0)
    await context.close()
  })

  test('the words of a row stand on one line, and no column of the log is cut off in a window of 1440 px', async () => {
    await app.pool.query('insert into logs (user_id, username, type, content) values ($1, $2, 3, $3)', [
      root.id,
      root.username,
      'x',
    ])
    const { page, context } = await openConsole(browser, app, { reader: { ...root, role: 100 } })
    for (const path of ['/admin/users', '/app/logs/api-usage']) {
      await page.goto(path)
      await drawn(page)
      const row = page.getByRole('row').nth(1)
      // A small label has letters of another size.
      const middles = await row.evaluate((element) =>
        [...element.querySelectorAll('td')].flatMap((cell) => {
          const range = document.createRange()
          const text = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT).nextNode()
          if (!text) return []
          range.selectNodeContents(text)
          const { top, bottom } = range.getBoundingClientRect()
          return [(top + bottom) / 2]
        }),
      )
      expect(new Set(middles).size).toBe(1)
    }
    const table = page.getByRole('table')
    expect(
      await table.evaluate(({ parentElement, scrollWidth }) => scrollWidth - (parentElement?.clientWidth ?? 0)),
    ).toBe(0)
    await context.close()
  })
})
