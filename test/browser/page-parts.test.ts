import { expect, test } from 'vitest'
import { describeWithBrowser } from '../support/chromium.ts'
import { openConsole, startInBrowser } from './console.ts'

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
})
