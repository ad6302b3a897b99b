import { expect, test } from 'vitest'
import { describeWithBrowser } from '../support/chromium.ts'
import { long } from '../support/long.ts'
import { storeOptions } from '../support/store-options.ts'
import { escape, follow, openConsole, pressInToast, startInBrowser, toastShown } from './console.ts'

describeWithBrowser('finding the way', async () => {
  const { app, browser } = await startInBrowser()
  const root = await app.make.user({ username: 'root', role: 100 })
  const channel = await app.make.channel({ name: 'Harbour upstream' })
  const token = await app.make.token(root)
  await app.pool.query("update tokens set name = 'Lighthouse script' where id = $1", [token.id])
  await app.make.user({ username: 'mariner' })

  const open = (path: string) => openConsole(browser, app, { reader: { ...root, role: 100 }, language: 'en', path })

  test.each([
    ['de-DE', 'Log in', 'en'],
    ['zh-TW', '登录', 'zh-CN'],
  ])('a first visit with a browser in %s begins with %s', async (locale, words, tag) => {
    const context = await browser.newContext({ baseURL: app.url, locale })
    const page = await context.newPage()
    await page.goto('/login')
    await page.getByRole('main').getByRole('button', { name: words, exact: true }).waitFor()
    expect(await page.locator('html').getAttribute('lang')).toBe(tag)
    await context.close()
  })

  test('a chosen language and look stay', async () => {
    const context = await browser.newContext({ baseURL: app.url, locale: 'en-US', colorScheme: 'light' })
    const page = await context.newPage()
    await page.goto('/login')
    await page.getByRole('button', { name: 'Appearance' }).click()
    await page
      .getByRole('menuitem', { name: 'Dark' })
      .or(page.getByRole('menuitemradio', { name: 'Dark' }))
      .click()
    await page.locator('html.dark').waitFor()
    await page.getByRole('button', { name: 'Language' }).click()
    await page
      .getByRole('menuitemradio', { name: '中文' })
      .or(page.getByRole('menuitem', { name: '中文' }))
      .click()
    await page.getByRole('main').getByRole('button', { name: '登录', exact: true }).waitFor()
    await page.reload()
    await page.getByRole('main').getByRole('button', { name: '登录', exact: true }).waitFor()
    await page.locator('html.dark').waitFor()
    await context.close()
  })

  test.runIf(long)('the frame names the mode of the site, credits it, and greets the new year', async () => {
    const { page, context } = await openConsole(browser, app, { language: 'en' })
    await page.clock.setFixedTime(new Date('2026-12-31T12:00:00+08:00'))
    const header = page.getByRole('banner')
    const site = header.getByRole('navigation', { name: 'Site' }).getByRole('link')
    const modes = [
      ['SelfUseModeEnabled', 'Self-use', 0],
      ['DemoSiteEnabled', 'Demo', 1],
    ] as const
    for (const [option, words, registers] of modes) {
      await storeOptions(app, { [option]: 'true' })
      await page.goto('/')
      await header.getByText(words, { exact: true }).waitFor()
      expect(await header.getByRole('link', { name: 'Sign up' }).count()).toBe(registers)
      await storeOptions(app, { [option]: 'false' })
    }
    expect(await site.allTextContents()).toEqual(['Home', 'Console', 'Pricing', 'About'])
    await page
      .locator('footer')
      .getByText(/^(Powered by|Served by|Running on) /)
      .waitFor()
    expect(await header.getByRole('img', { name: 'Happy New Year' }).count()).toBe(0)
    await page.goto('/user/reset?email=a@x.example&token=t')
    await page.getByRole('heading', { name: 'Confirm password reset' }).waitFor()
    expect(await header.locator('[aria-current=page]').count()).toBe(0)
    await page.clock.setFixedTime(new Date('2027-01-01T12:00:00+08:00'))
    await page.goto('/')
    await header.getByRole('img', { name: 'Happy New Year' }).waitFor()
    await context.close()
  })

  test('an address that leads nowhere says so, and leads home', async () => {
    const { page, context, complaints } = await openConsole(browser, app, { language: 'en' })
    await page.goto('/no/such/page')
    await page.getByRole('heading', { name: 'Page not found' }).waitFor()
    await page.getByText('Please check the address.').waitFor()
    expect(await page.title()).toContain('Page not found')
    await page.getByRole('link', { name: 'Back to home' }).click()
    await page.waitForURL(`${app.url}/`)
    expect(complaints).toEqual([])
    await context.close()
  })

  test('a sidebar that was collapsed stays so, and below Chat stand the saved links', async () => {
    await storeOptions(app, { Chats: '[{"Harbour chat":"https://chat.example/"}]' })
    const { page, context } = await open('/chat2link')
    const sidebar = page.getByRole('navigation', { name: 'Main' })
    await sidebar.getByRole('link', { name: 'Harbour chat' }).waitFor()
    const width = async () => (await page.getByRole('complementary').boundingBox())?.width
    await expect.poll(width).toBe(240)
    await page.getByRole('button', { name: 'Collapse sidebar' }).click()
    await expect.poll(width).toBe(60)
    await page.reload()
    await page.getByRole('button', { name: 'Expand sidebar' }).waitFor()
    expect(await width()).toBe(60)
    await page.getByRole('button', { name: 'Expand sidebar' }).click()
    await expect.poll(width).toBe(240)
    await context.close()
  })

  test('an address of a missing channel says so instead of offering a new one', async () => {
    const { page, context, complaints } = await open('/channel/edit/abc')
    for (const id of ['abc', '999999', '99999999999999']) {
      await page.goto(`/channel/edit/${id}`)
      const drawer = page.getByRole('dialog')
      await drawer.getByRole('heading', { name: 'Channel not found' }).waitFor()
      expect(await drawer.getByRole('textbox').count()).toBe(0)
      expect(await drawer.getByRole('button', { name: 'Create' }).count()).toBe(0)
    }
    await page.getByRole('button', { name: 'Back to channels' }).click()
    await page.waitForURL('**/admin/channels')
    expect((await page.getByRole('banner').boundingBox())?.height).toBe(56)
    await follow(page, '/no/such/page')
    await page.getByText('The page you are looking for').waitFor()
    expect(complaints).toEqual([])
    await context.close()
  })

  test('the palette finds a token, a channel and a user, and opens them', async () => {
    const { page, context, complaints } = await open('/pricing')
    await page.getByRole('heading', { level: 1 }).waitFor()
    const find = async (words: string, name: RegExp) => {
      await page.keyboard.press('Control+k')
      // All pages stand there before anything is typed, and none of them stays.
      await page.getByRole('option', { name: 'System status' }).waitFor()
      await page.getByRole('dialog').getByRole('combobox').fill(words)
      await page.getByRole('option', { name }).waitFor()
      await page.getByRole('option', { name: 'System status' }).waitFor({ state: 'detached' })
      await page.getByRole('option', { name }).click()
    }
    await find('lighthouse', /Lighthouse script/)
    await page.waitForURL(`**/app/tokens?form=${token.id}`)
    const drawer = page.getByRole('dialog', { name: 'Edit token' })
    const name = drawer.getByRole('textbox', { name: 'Name', exact: true })
    await expect.poll(() => name.inputValue()).toBe('Lighthouse script')
    await escape(page, drawer)
    await drawer.waitFor({ state: 'detached' })
    await find('harbour', /Harbour upstream/)
    await page.waitForURL(`**/admin/channels?open=${channel.id}`)
    await page.getByRole('heading', { name: 'Harbour upstream' }).waitFor()
    await find('mariner', /mariner/)
    await page.waitForURL('**/app/users/*')
    // What one would call it leads there too: an act, a setting, a page.
    await page.goto('/pricing')
    await page.getByRole('heading', { level: 1 }).waitFor()
    await find('new token', /New token/)
    await page.waitForURL('**/app/tokens?form=new')
    await page.goto('/pricing')
    await page.getByRole('heading', { level: 1 }).waitFor()
    await find('smtp port', /SMTP/)
    await page.waitForURL('**/admin/settings?q=SMTPPort')
    await page
      .getByRole('spinbutton')
      .or(page.getByRole('textbox', { name: /port/i }))
      .first()
      .waitFor()
    await find('cost', /Pricing/)
    await page.waitForURL('**/pricing')
    await find('dark', /Dark/)
    await page.locator('html.dark').waitFor()
    await find('中文', /中文/)
    await page.locator('html[lang=zh-CN]').waitFor()
    expect(complaints).toEqual([])
    await context.close()
  })

  test.runIf(long)('the palette says on a narrow phone all that it looks for', async () => {
    const reader = { ...root, role: 100 }
    const { page, context } = await openConsole(browser, app, { reader, language: 'en', width: 360 })
    await page.goto('/pricing')
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.keyboard.press('Control+k')
    const [needed, room] = await page
      .getByRole('dialog')
      .getByRole('combobox')
      .evaluate((box: HTMLInputElement) => {
        const context = document.createElement('canvas').getContext('2d')
        if (context) context.font = getComputedStyle(box).font
        return [context?.measureText(box.placeholder).width ?? Infinity, box.clientWidth] as const
      })
    expect(needed).toBeLessThanOrEqual(room)
    await context.close()
  })

  test('what is typed in one tab outlives signing out in another, which it says', async () => {
    // Somebody else's session would end with it.
    const typist = await app.make.user({ username: 'typist' })
    const { page, context, complaints } = await openConsole(browser, app, { reader: typist, language: 'en' })
    await page.goto('/app/tokens?form=new')
    const drawer = page.getByRole('dialog')
    const name = drawer.getByRole('textbox', { name: 'Name', exact: true })
    await name.fill('half typed')
    const other = await context.newPage()
    await other.goto('/pricing')
    await other.getByRole('button', { name: /typist/ }).click()
    await other.getByRole('menuitem', { name: 'Log out' }).click()
    await other.waitForURL('**/login')
    await page.getByText('You have signed out, or your login has expired').waitFor()
    expect(await name.inputValue()).toBe('half typed')
    await drawer.getByRole('button', { name: 'Create', exact: true }).click()
    await drawer.getByRole('button', { name: 'Create', exact: true }).waitFor()
    expect(await name.inputValue()).toBe('half typed')
    expect(new URL(page.url()).pathname).toBe('/app/tokens')
    expect(complaints).toEqual([])
    await context.close()
  })

  test('a page that is for others says so, and an ordinary user is led home from that of messages alone', async () => {
    const user = await app.make.user({ username: 'sailor' })
    const { page, context } = await openConsole(browser, app, { reader: user, language: 'en', path: '/admin/prices' })
    await page.getByRole('heading', { name: 'You may not open “Models and prices”' }).waitFor()
    await page.waitForURL(`${app.url}/admin/prices`)
    await follow(page, '/admin/messages')
    await page.waitForURL(`${app.url}/`)
    await context.close()
  })

  test.runIf(long).each([
    ['/playground', /user\.models\.list/, 'Playground'],
    ['/about', /site\.about/, 'About'],
  ])('%s says that its content could not be fetched, and shows it when asked again', async (path, calls, title) => {
    const { page, context } = await openConsole(browser, app, { reader: { ...root, role: 100 }, language: 'en' })
    await page.route(calls, (route) => route.abort())
    await page.goto(path)
    const alert = page.getByRole('alert').filter({ hasText: 'Could not load' })
    await alert.waitFor()
    expect(await page.title()).toContain(title)
    await page.unroute(calls)
    await alert.getByRole('button', { name: 'Retry' }).click()
    await alert.waitFor({ state: 'detached' })
    await context.close()
  })

  test.runIf(long)('a text that is cut is whole on hover', async () => {
    const name = 'W'.repeat(30)
    const { id } = await app.make.token(root)
    await app.pool.query('update tokens set name = $1 where id = $2', [name, id])
    const { page, context } = await open('/app/tokens')
    const cell = page.getByRole('cell', { name, exact: true })
    await cell.hover()
    await page.getByRole('tooltip').getByText(name, { exact: true }).waitFor()
    await context.close()
  })

  test('an address that says that a login has expired has the login say so', async () => {
    const { page, context } = await openConsole(browser, app, { language: 'en' })
    await page.goto('/playground?expired=true')
    await page.getByText('Not logged in or login has expired, please log in again').waitFor()
    await expect.poll(() => new URL(page.url()).searchParams.get('returnTo')).toBe('/playground?expired=true')
    // Beside each field stands what is missing there.
    await page.getByRole('textbox', { name: 'Username or email' }).fill('sailor')
    await page.getByRole('main').getByRole('button', { name: 'Log in', exact: true }).click()
    await page.getByText('Enter your password').waitFor()
    expect(await page.locator('[aria-invalid=true]').count()).toBe(1)
    await follow(page, '/register')
    await page.getByRole('main').getByRole('button', { name: 'Sign up', exact: true }).click()
    for (const words of ['Choose a username', 'Choose a password of 8 to 20 characters', 'Repeat the password'])
      await page.getByText(words).waitFor()
    await context.close()
  })

  test('a limit that is reached is said in words, and not asked again at once', async () => {
    const { page, context } = await openConsole(browser, app, { language: 'en' })
    let asked = 0
    await page.route(/site\.about/, async (route) => {
      asked += 1
      await route.fulfill({ status: 429, headers: { 'retry-after': '60' }, body: '' })
    })
    await page.goto('/about')
    await page.getByRole('alert').getByText('Error: Too many requests, please try again later!').waitFor()
    expect(asked).toBe(1)
    await context.close()
  })

  test.runIf(long)('a wallet that could not be fetched does not go on loading', async () => {
    const { page, context } = await openConsole(browser, app, { reader: { ...root, role: 100 }, language: 'en' })
    await page.route(/user\.wallet\.get/, (route) => route.abort())
    await page.goto('/app/wallet')
    await page.getByRole('alert').filter({ hasText: 'Could not load' }).first().waitFor()
    await page.waitForFunction(() => document.querySelector('.chakra-skeleton') === null)
    await context.close()
  })

  test('spend caps that could not be fetched are not shown as none, and are fetched again', async () => {
    const { page, context } = await openConsole(browser, app, { reader: { ...root, role: 100 }, language: 'en' })
    const wanted = /user\.spendCaps\.list/
    await page.route(wanted, (route) => route.abort())
    await page.goto('/app/tokens')
    const failure = page.getByRole('alert').filter({ hasText: 'The spend caps could not be loaded' })
    await failure.waitFor()
    await page.unroute(wanted)
    await failure.getByRole('button', { name: 'Retry' }).click()
    await failure.waitFor({ state: 'detached' })
    await context.close()
  })

  test('a console that is open during an upgrade opens its next page in the new one', async () => {
    const { page, context } = await open('/app/tokens')
    await page.getByText('Lighthouse script').waitFor()
    let isGone = true
    await page.route('**/assets/*.js', (route) => (isGone ? route.fulfill({ status: 404 }) : route.continue()))
    page.on('request', (request) => {
      if (request.isNavigationRequest()) isGone = false
    })
    await page.getByRole('link', { name: 'Audit log' }).first().click()
    await page.getByRole('heading', { name: 'Audit log' }).waitFor()
    expect(isGone).toBe(false)
    await context.close()
  })

  test.runIf(long)('a menu and the palette whose files do not come say so, and come with a reload', async () => {
    const reader = { ...root, role: 100 }
    const { page, context, complaints } = await openConsole(browser, app, { reader, language: 'en' })
    const files = /assets\/(open-menu|palette)-/
    await page.route(files, (route) => route.abort())
    await page.goto('/app/tokens')
    const menu = page.getByRole('button', { name: 'Actions for Lighthouse script' })
    const openEach = [() => menu.click(), () => page.keyboard.press('Control+k')]
    for (const openIt of openEach) {
      await openIt()
      await toastShown(page, 'Could not be opened')
    }
    await context.setOffline(true)
    for (const openIt of openEach) {
      await openIt()
      await toastShown(page, 'Unable to connect to server')
    }
    await context.setOffline(false)
    await page.unroute(files)
    expect(await page.getByText('Lighthouse script').count()).toBe(1)
    // The page as it was takes clicks until the new one is there.
    await Promise.all([
      page.waitForEvent('load'),
      pressInToast(page, { words: 'Could not be opened', button: 'Reload' }, () => menu.click()),
    ])
    await menu.click()
    await page.getByRole('menuitem', { name: 'Disable', exact: true }).waitFor()
    await page.keyboard.press('Escape')
    await page.keyboard.press('Control+k')
    await page.getByRole('option', { name: 'System status' }).waitFor()
    expect(complaints).toEqual([])
    await context.close()
  })

  test.runIf(long)('a page first visited without a network says so, and comes with the next visit', async () => {
    const { page, context, complaints } = await open('/app/tokens')
    await page.getByText('Lighthouse script').waitFor()
    await context.setOffline(true)
    await page.getByRole('link', { name: 'Audit log' }).click()
    const failure = page.getByRole('alert').filter({ hasText: 'Unable to connect to server' })
    await failure.getByText('Could not load').waitFor()
    await failure.getByRole('button', { name: 'Retry' }).click()
    await failure.waitFor()
    await page.goBack()
    await page.getByText('Lighthouse script').waitFor()
    await context.setOffline(false)
    await page.getByRole('link', { name: 'Audit log' }).click()
    await page.getByRole('heading', { name: 'Audit log' }).waitFor()
    // Beside what the browser says of the file.
    expect(complaints.splice(0).filter((words) => !words.includes('dynamically imported module'))).toEqual([])
    await context.close()
  })

  test.runIf(long)('what is typed before the palette has come is looked for when it has', async () => {
    const reader = { ...root, role: 100 }
    const { page, context } = await openConsole(browser, app, { reader, language: 'en' })
    const { promise: isWanted, resolve: send } = Promise.withResolvers<void>()
    await page.route(/assets\/palette-/, async (route) => {
      await isWanted
      await route.continue()
    })
    await page.goto('/app/tokens')
    await page.getByText('Lighthouse script').waitFor()
    await page.keyboard.press('Control+k')
    // The slash would go to the search of the page.
    await page.keyboard.type('/audix')
    await page.keyboard.press('Backspace')
    send()
    const typed = page.getByRole('dialog').getByRole('combobox')
    await expect.poll(() => typed.inputValue()).toBe('/audi')
    await typed.fill('audit log')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/admin/audit')
    // It begins empty the next time.
    await page.keyboard.press('Control+k')
    expect(await typed.inputValue()).toBe('')
    await context.close()
  })
})
