import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { describeWithBrowser } from '../support/chromium.ts'
import { long } from '../support/long.ts'
import { drawn, escape, follow, openConsole, startInBrowser, toastShown } from './console.ts'

/** Counted as far as the server counts a log, and what stands behind that. */
const counted = 10_000
const more = 60

describeWithBrowser('what a page shows', async () => {
  const { app, browser } = await startInBrowser()
  const root = await app.make.user({ username: 'root', role: 100 })

  test('the log is leafed through behind what is counted, there and back, one step of the history each', async () => {
    await app.pool.query(
      `insert into logs (user_id, username, type, content)
       select $1, 'root', 4, 'Row ' || number from generate_series(1, $2) number`,
      [root.id, counted + more],
    )
    const { page, context, complaints } = await openConsole(browser, app, {
      reader: { ...root, role: 100 },
      language: 'en',
      path: '/app/logs/api-usage?range=&size=20&page=500',
    })
    const row = (number: number) => page.getByText(`Row ${number}`, { exact: true }).waitFor()
    const press = (name: string) => page.getByRole('button', { name, exact: true }).click()
    const inAddress = (name: string) => new URL(page.url()).searchParams.get(name)
    await row(more + 1)
    await press('Next page')
    await row(more)
    expect(inAddress('page')).toBe('501')
    await press('Next page')
    await row(more - 20)
    expect(inAddress('page')).toBe('502')
    await page.goBack()
    await row(more)
    await page.goBack()
    await row(more + 1)
    expect([inAddress('page'), inAddress('after')]).toEqual(['500', null])
    await page.goForward()
    await row(more)
    await press('Previous page')
    await row(more + 1)
    expect([inAddress('page'), inAddress('after')]).toEqual(['500', null])
    // Another size begins at the first row again.
    await press('Next page')
    await row(more)
    await page.getByRole('combobox', { name: 'Rows per page' }).selectOption('50')
    await row(counted + more)
    expect([inAddress('page'), inAddress('after')]).toEqual([null, null])
    expect(complaints).toEqual([])
    await context.close()
  })

  test.runIf(long)('a wallet that knows fewer plans than another tab lets stand what that one has stored', async () => {
    const user = await app.make.user()
    const { page: earlier, context, complaints } = await openConsole(browser, app, { reader: user, language: 'en' })
    await context.addInitScript(countStores)
    await earlier.goto('/app/wallet')
    await drawn(earlier)
    await app.trpc(root).admin.plans.create.mutate({
      name: 'Light',
      price: 500_000,
      term: 'month',
      windows: [{ period: 'day', amount: 5 }],
    })
    const later = await context.newPage()
    await later.goto('/app/wallet')
    await later.getByText('Light', { exact: true }).waitFor()
    await expect.poll(async () => (await stores(earlier)).notified).toBe(1)
    await drawn(earlier)
    expect(await stores(earlier)).toEqual({ notified: 1, written: 0 })
    expect(await stores(later)).toEqual({ notified: 0, written: 1 })
    expect(complaints).toEqual([])
    await context.close()
  })

  test('after a new password its page names neither the sessions nor the access token that ended with the old one', async () => {
    const user = await app.make.user()
    await app.make.signIn(user)
    const { page, context, complaints } = await openConsole(browser, app, {
      reader: user,
      language: 'en',
      path: '/app/me?tab=security',
    })
    const others = page.getByRole('button', { name: 'Log out others', exact: true })
    const create = page.getByRole('button', { name: 'Create system access token', exact: true })
    await others.waitFor()
    await create.click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Create', exact: true }).click()
    await create.waitFor({ state: 'detached' })
    await page.getByRole('textbox', { name: 'New password', exact: true }).fill('a good long one')
    await page.getByRole('textbox', { name: 'Confirm new password', exact: true }).fill('a good long one')
    await page.getByRole('button', { name: 'Change password', exact: true }).click()
    await others.waitFor({ state: 'detached' })
    await create.waitFor()
    expect(complaints).toEqual([])
    await context.close()
  })

  test.runIf(long)('a message closed by keyboard gives the focus back, and the next goes by itself', async () => {
    const user = await app.make.user()
    const { page, context, complaints } = await openConsole(browser, app, { reader: user, path: '/app/me' })
    const field = page.getByRole('textbox', { name: '显示名称', exact: true })
    const save = async (name: string) => {
      await field.fill(name)
      await field.press('Enter')
      await toastShown(page, '用户信息更新成功！')
    }
    const messages = page.locator('[data-scope=toast] > *')
    await field.waitFor()
    await page.evaluate(focusFirstMessage)
    await save('One')
    await page.locator('[data-scope=toast] button:focus').waitFor()
    await page.keyboard.press('Enter')
    await messages.waitFor({ state: 'detached' })
    await expect.poll(() => field.evaluate((box) => box === document.activeElement)).toBe(true)
    await save('Two')
    await messages.waitFor({ state: 'detached' })
    expect(complaints).toEqual([])
    await context.close()
  })

  test('a form that was closed is no step of the history, and a card on a phone opens wherever it is pressed', async () => {
    const reader = { ...root, role: 100 }
    const { page, context, complaints } = await openConsole(browser, app, { reader, width: 390, path: '/pricing' })
    const { id } = await app.make.token(root)
    const at = (address: string) => page.waitForURL((url) => url.pathname + url.search === address)
    const drawer = page.getByRole('dialog')
    const closed = async () => {
      await escape(page, drawer)
      await drawer.waitFor({ state: 'detached' })
    }
    await page.getByRole('heading', { level: 1 }).waitFor()
    await follow(page, '/app/tokens')
    const card = page.getByRole('listitem').filter({ hasText: '已启用' })
    await page.getByRole('button', { name: '新建令牌' }).first().click()
    await at('/app/tokens?form=new')
    await closed()
    await card.getByText('已启用').click()
    await at(`/app/tokens?form=${id}`)
    await closed()
    await at('/app/tokens')
    // A control in the card does what it says, and a filter meanwhile stays.
    const room = await card.locator('label').boundingBox()
    expect(Math.min(room?.width ?? 0, room?.height ?? 0)).toBeGreaterThanOrEqual(24)
    await card.getByRole('checkbox').check()
    await page.getByRole('searchbox').fill('token')
    await at('/app/tokens?name=token')
    await page.goBack()
    await at('/pricing')

    // From elsewhere, by a link: back leads there.
    await follow(page, '/admin/channels?form=new')
    await drawer.getByRole('textbox', { name: '名称', exact: true }).waitFor()
    await closed()
    await at('/admin/channels')
    await page.goBack()
    await at('/pricing')
    expect(complaints).toEqual([])
    await context.close()
  })

  test('what is opened before a slow browser has taken the step back of what was closed stays open', async () => {
    const reader = { ...root, role: 100 }
    const { page, context, complaints } = await openConsole(browser, app, { reader })
    await page.addInitScript(holdStepBack)
    await page.clock.install()
    await page.goto('/app/tokens')
    const at = (address: string) => page.waitForURL((url) => url.pathname + url.search === address)
    const drawer = page.getByRole('dialog')
    const open = page.getByRole('button', { name: '新建令牌' }).first()
    await open.click()
    await at('/app/tokens?form=new')
    await page.clock.pauseAt(Date.now() + 3_600_000)
    await page.clock.runFor(1000)
    await escape(page, drawer)
    await page.waitForFunction(() => (window as unknown as Held).takeStep !== undefined)
    await page.clock.runFor(5000)
    // While time stands still, what was closed does not go out of sight.
    await open.dispatchEvent('click')
    await page.evaluate(async () => {
      const taken = new Promise((resolve) => window.addEventListener('popstate', resolve, { once: true }))
      ;(window as unknown as Held).takeStep?.()
      await taken
    })
    await page.clock.resume()
    await at('/app/tokens?form=new')
    await drawer.getByRole('textbox', { name: '名称', exact: true }).waitFor()
    expect(complaints).toEqual([])
    await context.close()
  })

  test.runIf(long)('a filter that is passed by on a phone leaves the page and the history as they are', async () => {
    const { page, context, complaints } = await openConsole(browser, app, {
      reader: { ...root, role: 100 },
      width: 390,
      path: '/admin/audit?before=5',
    })
    const search = (sought: string) => page.waitForURL((url) => url.search === sought)
    await page.getByRole('button', { name: '筛选', exact: true }).click()
    const field = page.getByRole('dialog').getByRole('textbox', { name: '对象 ID', exact: true })
    await field.focus()
    await field.press('Tab')
    await field.fill('7')
    await field.press('Tab')
    await search('?targetId=7')
    await page.goBack()
    await search('?before=5')
    expect(complaints).toEqual([])
    await context.close()
  })
})

type Stores = { notified: number; written: number }

/** How often this tab stores how many plans there are, and is notified that another one did. */
function countStores(): void {
  const stores: Stores = { notified: 0, written: 0 }
  Object.assign(window, { stores })
  const isCounts = (key: string | null) => key === 'wallet-plans'
  window.addEventListener('storage', ({ key }) => void (stores.notified += Number(isCounts(key))))
  const store = Reflect.get(Storage.prototype, 'setItem') as (key: string, text: string) => void
  Storage.prototype.setItem = function (key, text) {
    stores.written += Number(isCounts(key))
    store.call(this, key, text)
  }
}

const stores = (page: Page): Promise<Stores> => page.evaluate(() => (window as unknown as { stores: Stores }).stores)

/** Moves the focus into the first message as soon as there is one, which would go by itself on a busy machine. */
function focusFirstMessage(): void {
  new MutationObserver((_, observer) => {
    const button = document.querySelector<HTMLElement>('[data-scope=toast] button')
    if (!button) return
    button.focus()
    observer.disconnect()
  }).observe(document.body, { childList: true, subtree: true })
}

type Held = { takeStep?: () => void }

/** A browser that takes a step back of the history no sooner than the test lets it. */
function holdStepBack(): void {
  const back = history.back.bind(history)
  history.back = () => void Object.assign(window, { takeStep: back } satisfies Held)
}
