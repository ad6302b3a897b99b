import { expect, test } from 'vitest'
import { setOptions } from '../relay/serve.ts'
import { describeWithBrowser } from '../support/chromium.ts'
import { drawn, firstText, follow, openConsole, startInBrowser } from './console.ts'
import { box, button } from './parts.ts'

/** As the translators of browsers do: each text is replaced by an element with another, also what comes later. */
function translate(): void {
  const translated = (node: Node): void => {
    if (node instanceof Text) {
      const { parentElement, data } = node
      if (!parentElement || data.trim() === '' || parentElement.closest('font, script, style, textarea')) return
      const font = document.createElement('font')
      font.textContent = data
      node.replaceWith(font)
    } else node.childNodes.forEach(translated)
  }
  const page = new MutationObserver((changes) => {
    for (const { addedNodes } of changes) addedNodes.forEach(translated)
  })
  page.observe(document, { childList: true, subtree: true })
}

/** What browsers of the year 2023 lack. */
function forgetLaterFunctions(): void {
  const later: [object, string[]][] = [
    [URL, ['parse', 'canParse']],
    [Map, ['groupBy']],
    [Object, ['groupBy']],
    [Promise, ['withResolvers', 'try']],
    [Array, ['fromAsync']],
    [RegExp, ['escape']],
    [AbortSignal, ['any']],
    [Set.prototype, ['union', 'intersection', 'difference', 'symmetricDifference', 'isSubsetOf', 'isSupersetOf']],
    [Uint8Array.prototype, ['toBase64', 'toHex']],
    [window, ['Iterator']],
    [Intl, ['DurationFormat']],
  ]
  for (const [holder, names] of later) for (const name of names) Reflect.deleteProperty(holder, name)
}

describeWithBrowser('browsers unlike that of the tests', async () => {
  const { app, browser } = await startInBrowser()
  const root = { ...(await app.make.user({ username: 'root', role: 100 })), role: 100 }

  test('a page that the browser translates goes on working, and buttons say what they have done', async () => {
    const { page, context, complaints } = await openConsole(browser, app, { reader: root })
    await context.addInitScript(translate)
    await page.goto('/admin/coupons')
    await button(page, '添加兑换码').first().click()
    const drawer = page.getByRole('dialog', { name: '添加兑换码' })
    await drawer.getByRole('textbox', { name: '名称' }).fill('开学')
    await drawer.getByRole('button', { name: /^\$\s*10$/ }).click()
    await drawer.getByRole('button', { name: '创建' }).click()
    const made = page.getByRole('alertdialog').or(page.getByRole('dialog', { name: '已创建 1 个兑换码' }))
    const copy = made.getByRole('button').filter({ hasText: /复制|已复制/ })
    await expect.poll(() => copy.textContent()).toBe('复制全部')
    const copied = await firstText(page, 'button', '已复制')
    await copy.click()
    expect(await copied()).toBe('已复制')
    await made.getByRole('button', { name: '复制全部', exact: true }).waitFor()
    await made.getByRole('button', { name: '关闭' }).first().click()
    await page.getByRole('cell', { name: '开学' }).first().waitFor()
    for (const path of ['/app/dashboard', '/app/tokens', '/admin/channels', '/admin/settings', '/pricing']) {
      await follow(page, path)
      await drawn(page)
      expect(await page.getByText('页面出错了').count(), path).toBe(0)
    }
    expect(complaints).toEqual([])
    await context.close()
  })

  test('a browser of 2023 shows the pages of others and the lists, and takes addresses in forms', async () => {
    await setOptions(app, {
      HomePageContent: 'https://pages.example/home',
      Chats: '[{"Harbour":"https://chat.example/#{key}"}]',
    })
    const { id } = await app.make.channel({ models: 'gpt-4o', baseUrl: app.upstream.url })
    await app.pool.query("update channels set tag = 'north' where id = $1", [id])
    await app.make.token(root)
    const { page, context, complaints } = await openConsole(browser, app, { reader: root })
    await context.addInitScript(forgetLaterFunctions)
    await context.route(/^https:\/\/(pages|chat)\.example/, (route) => route.fulfill({ body: 'theirs' }))
    await page.goto('/')
    await page.locator('iframe[src="https://pages.example/home"]').waitFor()
    await follow(page, '/chat/0')
    await page.locator('iframe[src^="https://chat.example/"]').waitFor()
    await follow(page, '/app/tokens')
    await page.getByRole('table').waitFor()
    await follow(page, '/admin/channels?fold=true')
    await page.getByText('north').first().waitFor()
    await drawn(page)
    await follow(page, '/channel/add')
    const address = box(page.getByRole('dialog', { name: '添加渠道' }), 'API 地址')
    await address.fill('https://upstream.example')
    await address.blur()
    await drawn(page)
    expect(await page.getByText('页面出错了').count()).toBe(0)
    expect(complaints).toEqual([])
    await context.close()
    await setOptions(app, { HomePageContent: '', Chats: '[]' })
  })

  test('a page that the browser kept while its reader was at another site lets them leave again', async () => {
    await setOptions(app, { GitHubClientId: 'client', GitHubClientSecret: 'secret', GitHubOAuthEnabled: 'true' })
    for (const { reader, path, name } of [
      { path: '/login', name: '使用 GitHub 继续' },
      { path: '/app/me', name: '绑定', reader: root },
    ]) {
      const { page, context } = await openConsole(browser, app, reader ? { reader } : {})
      // The page stays as it was, as it does where the browser keeps it and the reader comes back.
      await context.route('https://github.com/**', (route) => route.fulfill({ status: 204 }))
      await page.goto(path)
      const left = page.waitForRequest(/github\.com/)
      const leave = button(page, name)
      await leave.click()
      await left
      await page.getByRole('button', { disabled: true }).and(page.locator('[data-loading]')).waitFor()
      await page.evaluate(() => window.dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })))
      const again = page.waitForRequest(/github\.com/)
      await leave.click()
      await again
      await context.close()
    }
  })
})
