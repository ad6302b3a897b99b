import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { App } from '../support/app.ts'
import { startApp } from '../support/app.ts'
import { describeWithBrowser, launchBrowser } from '../support/chromium.ts'
import { builtConsole, drawn, openConsole } from './console.ts'

const message = (page: Page) => page.getByRole('textbox', { name: 'Message', exact: true })

const say = async (page: Page, words: string) => {
  await message(page).fill(words)
  await page.keyboard.press('Enter')
}

describeWithBrowser('the playground', () => {
  let app: App
  let browser: Browser

  beforeAll(async () => {
    await builtConsole()
    app = await startApp()
    await app.pool.query("insert into setup_records (id, version, initialized_at) values (1, '0', now())")
    await app.make.channel({ models: 'gpt-4o-mini,gpt-4o,house-model' })
    await app.settled()
    browser = await launchBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await app?.[Symbol.asyncDispose]()
  })

  const open = async (path: string, role = 1) => {
    const reader = { ...(await app.make.user({ role })), role }
    await app.settled()
    const opened = await openConsole(browser, app, { language: 'en', reader })
    await opened.page.goto(path)
    await message(opened.page).waitFor()
    return { ...opened, reader }
  }

  test('stopping keeps what came, ends the call upstream and charges what was delivered', async () => {
    const { page, context, reader } = await open('/playground?model=gpt-4o-mini')
    // It falls silent in the middle, so that there is something to stop however late that is.
    await say(page, '[[words=400,stall=20]] count')
    await page.getByText('You said').first().waitFor()
    await page.getByRole('button', { name: 'Stop', exact: true }).click()
    await page.getByText('Stopped').waitFor()
    expect(await page.locator('[data-reply=complete]').innerText()).toContain('You said')
    await expect
      .poll(async () => (await app.logs()).filter((row) => row.user_id === reader.id).map((row) => row.quota > 0))
      .toEqual([true])
    await page.locator('[data-charge=exact]').waitFor()
    await context.close()
  })

  test('two models answer the same message side by side, and clearing the context clears both', async () => {
    const { page, context } = await open('/playground?model=gpt-4o-mini&beside=gpt-4o')
    await say(page, 'hello both')
    await expect.poll(() => page.locator('[data-reply=complete]').count()).toBe(2)
    await page.getByRole('button', { name: 'Clear context' }).click()
    await expect.poll(() => page.locator('[data-reply]').count()).toBe(0)
    await context.close()
  })

  test('a failed call says why, names the request, and can be asked again', async () => {
    const { page, context } = await open('/playground?model=gpt-4o-mini')
    await say(page, '[[status=400,message=No%20such%20thing]] hi')
    const reply = page.locator('[data-reply=error]')
    await reply.getByText('No such thing').waitFor()
    await reply.getByText(/Request ID: \w{31}/).waitFor()
    await page.getByRole('button', { name: 'Answer again' }).click()
    await reply.getByText('No such thing').waitFor()
    await context.close()
  })

  test('a missing price leads the super administrator to where it is set, and nobody else', async () => {
    const root = await open('/playground?model=house-model', 100)
    await say(root.page, 'hi')
    await root.page.getByRole('link', { name: 'Set its price' }).click()
    await root.page.waitForURL('**/admin/settings?tab=operation&ratio=unset_models')
    await root.context.close()

    const user = await open('/playground?model=house-model')
    await say(user.page, 'hi')
    await user.page.getByText('has no price yet').waitFor()
    expect(await user.page.getByRole('link', { name: 'Set its price' }).count()).toBe(0)
    await user.context.close()
  })

  const loginAndBack = '**/login?expired=true&returnTo=%2Fplayground*'

  test('a session that ended leads to the login and back', async () => {
    const { page, context, reader } = await open('/playground?model=gpt-4o-mini')
    // It ends when the words are on their way: whatever else the page asks for meanwhile still had it.
    await page.route('**/pg/chat/completions', async (route) => {
      await app.pool.query('delete from sessions where user_id = $1', [reader.id])
      await route.continue()
    })
    await say(page, 'hi')
    await page.waitForURL(loginAndBack)
    await page.getByText('login has expired').waitFor()
    await context.close()
  })

  test('a session that ended while nobody looked says so at the login, whichever answer tells it first', async () => {
    for (const held of ['auth.whoami', 'user.groups.list']) {
      const { page, context, reader } = await open('/playground?model=gpt-4o-mini')
      await app.pool.query('delete from sessions where user_id = $1', [reader.id])
      const release = Promise.withResolvers<void>()
      await page.route(
        (url) => url.pathname.startsWith('/trpc/') && url.pathname.includes(held),
        async (route) => {
          await release.promise
          // The page may have gone on.
          await route.continue().catch(() => {})
        },
      )
      await page.goto('/playground?model=gpt-4o-mini')
      await page.waitForURL(loginAndBack)
      release.resolve()
      await page.getByText('login has expired').waitFor()
      await drawn(page)
      expect(new URL(page.url()).searchParams.get('returnTo')).toMatch(/^\/playground/)
      await context.close()
    }
  })
})
