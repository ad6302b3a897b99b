import { expect, test } from 'vitest'
import { setOptions } from '../relay/serve.ts'
import { describeWithBrowser } from '../support/chromium.ts'
import { openConsole, startInBrowser } from './console.ts'
import { box } from './parts.ts'

describeWithBrowser('parts of pages', async () => {
  const { app, browser } = await startInBrowser()
  const root = await app.make.user({ username: 'root', role: 100 })

  test('the first steps are read once to be shown', async () => {
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

  test('what is no JSON is reported once, by its line, to screen readers too', async () => {
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
    await context.close()
  })

  test('what was written as markdown is read as it was written where its file does not come', async () => {
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
})
