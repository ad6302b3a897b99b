import { expect, test } from 'vitest'
import { describeWithBrowser } from '../support/chromium.ts'
import { storeOptions } from '../support/store-options.ts'
import { drawn, follow, openConsole, startInBrowser } from './console.ts'
import { button } from './parts.ts'

/** A whole image: the console puts the usual one in the place of what cannot be read. */
const image = 'data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7'

describeWithBrowser('what root sets of the site', async () => {
  const { app, browser } = await startInBrowser()
  const reader = await app.make.user({ username: 'reader' })

  test('is what a guest sees: name, logo, footer, documents, and the ways in', async () => {
    await storeOptions(app, {
      SystemName: 'Harbour',
      Logo: image,
      Footer: '<b>Quay 7</b>',
      'general_setting.docs_link': 'https://docs.example/start',
      TurnstileSiteKey: 'a site key',
      TurnstileSecretKey: 'a secret key',
      TurnstileCheckEnabled: 'true',
      WeChatServerAddress: 'https://wechat.example',
      WeChatServerToken: 'a token',
      WeChatAccountQRCodeImageURL: `${app.url}/icon.svg`,
      WeChatAuthEnabled: 'true',
      TelegramBotToken: '1:secret',
      TelegramBotName: 'harbour_bot',
      TelegramOAuthEnabled: 'true',
    })
    const { page, context } = await openConsole(browser, app)
    // Scripts of others: what they are given is what counts here.
    await context.route('https://telegram.org/**', (route) =>
      route.fulfill({ body: '', contentType: 'text/javascript' }),
    )
    await context.route('https://challenges.cloudflare.com/**', (route) =>
      route.fulfill({
        contentType: 'text/javascript',
        body: 'window.turnstile = { render: (box, { sitekey }) => { box.title = sitekey }, remove() {} }',
      }),
    )
    await page.goto('/')
    const brand = page.getByRole('link', { name: 'Harbour', exact: true })
    expect(await brand.locator('img').getAttribute('src')).toBe(image)
    await page.locator('footer b', { hasText: 'Quay 7' }).waitFor()
    const documents = page.getByRole('link', { name: '文档', exact: true })
    expect(await documents.getAttribute('href')).toBe('https://docs.example/start')
    await follow(page, '/login')
    await page.getByRole('heading', { name: '登录 Harbour' }).waitFor()
    await page.getByTitle('a site key').waitFor()
    await page.locator('script[data-telegram-login="harbour_bot"]').waitFor({ state: 'attached' })
    await button(page, '使用微信继续').click()
    const code = page.getByRole('img', { name: '微信公众号二维码' })
    expect(await code.getAttribute('src')).toBe(`${app.url}/icon.svg`)
    // An image that is gone leaves the usual one.
    await storeOptions(app, { Logo: `${app.url}/gone.png` })
    await page.goto('/about')
    await expect.poll(() => brand.locator('img').getAttribute('src')).toBe('/icon.svg')
    await context.close()
  })

  test('is what a reader sees: pages, chat links, the shop for codes, the sidebar and the interval of the dashboard', async () => {
    await storeOptions(app, {
      TopUpLink: 'https://shop.example/codes',
      Chats: '[{"Harbour chat":"https://chat.example/"}]',
      DataExportDefaultTime: 'week',
    })
    const first = await openConsole(browser, app, { reader })
    const asked = first.page.waitForRequest((request) => {
      const address = decodeURIComponent(request.url())
      return address.includes('stats.series') && address.includes('"interval":"week"')
    })
    await first.page.goto('/app/dashboard?range=30d')
    await asked
    const sidebar = first.page.getByRole('navigation', { name: '主导航' })
    const entry = (name: string) => sidebar.getByRole('link', { name, exact: true })
    for (const name of ['数据看板', '绘图日志', '任务日志']) await entry(name).waitFor()
    expect((await entry('数据看板').boundingBox())?.width).toBeGreaterThan(120)
    await follow(first.page, '/chat2link')
    await first.page.getByText('Harbour chat').first().waitFor()
    await follow(first.page, '/app/wallet')
    await first.page.locator('a[href="https://shop.example/codes"]').waitFor()
    await first.context.close()

    await storeOptions(app, {
      DataExportEnabled: 'false',
      DrawingEnabled: 'false',
      TaskEnabled: 'false',
      DefaultCollapseSidebar: 'true',
    })
    const second = await openConsole(browser, app, { reader })
    await second.page.goto('/app/wallet')
    await second.page.locator('a[href="https://shop.example/codes"]').waitFor()
    await drawn(second.page)
    const pages = second.page.getByRole('navigation', { name: '主导航' }).getByRole('link')
    const names = await pages.evaluateAll((links) => links.map((link) => link.getAttribute('aria-label')))
    expect(names).toContain('钱包')
    for (const gone of ['数据看板', '绘图日志', '任务日志']) expect(names).not.toContain(gone)
    expect((await pages.first().boundingBox())?.width).toBeLessThan(80)
    await second.context.close()
  })
})
