import { expect, test } from 'vitest'
import { setOptions } from '../relay/serve.ts'
import { describeWithBrowser } from '../support/chromium.ts'
import { drawn, firstText, follow, openConsole, startInBrowser, toastShown } from './console.ts'
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

/** As Safari reports the key that ended the choice of a word: after its end, with the code of one that is still being chosen. */
const endOfChoice = { key: 'Enter', keyCode: 229, bubbles: true, cancelable: true }

/** Safari takes nothing for the clipboard once something was fetched after the press. */
function refuseAfterFetch(): void {
  let isPressed = false
  addEventListener('click', () => (isPressed = true), true)
  const fetch = window.fetch.bind(window)
  window.fetch = async (...asked) => {
    const answer = await fetch(...asked)
    isPressed = false
    return answer
  }
  const { clipboard } = navigator
  for (const name of ['write', 'writeText'] as const) {
    const own = clipboard[name].bind(clipboard) as (content: unknown) => Promise<void>
    Object.assign(clipboard, {
      [name]: (content: unknown) =>
        isPressed ? own(content) : Promise.reject(new DOMException('', 'NotAllowedError')),
    })
  }
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

  test('a page that the browser kept shows what changed while its reader was at another site', async () => {
    const payer = await app.make.user({ quota: 500_000 })
    const { page, context } = await openConsole(browser, app, { reader: payer, path: '/app/wallet' })
    await page.getByText('$1.00', { exact: true }).first().waitFor()
    await drawn(page)
    await app.pool.query('update users set quota = 1500000 where id = $1', [payer.id])
    await page.evaluate(() => window.dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })))
    await page.getByText('$3.00', { exact: true }).first().waitFor()
    await context.close()
  })

  test('the Enter that ends the choice of a Chinese word in Safari sends nothing, adds nothing and opens nothing', async () => {
    await app.make.channel({ models: 'gpt-4o', baseUrl: app.upstream.url })
    await app.settled()
    const { page, context } = await openConsole(browser, app, { reader: root, path: '/playground?model=gpt-4o' })
    await drawn(page)
    const message = box(page, '消息')
    await message.fill('你好')
    await message.dispatchEvent('keydown', endOfChoice)
    expect(await message.inputValue()).toBe('你好')
    await message.press('Enter')
    await expect.poll(() => message.inputValue()).toBe('')

    await follow(page, '/channel/add')
    const models = box(page, '自定义模型名称')
    await models.fill('模型')
    await models.dispatchEvent('keydown', endOfChoice)
    expect(await models.inputValue()).toBe('模型')
    await models.press('Enter')
    await button(page, '移除 模型').waitFor()

    await page.goto('/app/me')
    await drawn(page)
    await page.keyboard.press('Control+k')
    const search = page.getByRole('dialog').getByRole('combobox')
    await search.fill('令牌')
    await page.getByRole('option', { name: /令牌/ }).first().waitFor()
    await search.dispatchEvent('keydown', endOfChoice)
    expect(await search.inputValue()).toBe('令牌')
    await search.press('Enter')
    await search.waitFor({ state: 'detached' })
    await context.close()
  })

  test('a key that is fetched first is copied in Safari; nothing is where it does not come, and it is asked for once', async () => {
    const owner = await app.make.user()
    const token = await app.make.token(owner)
    const { page, context } = await openConsole(browser, app, { reader: owner })
    await context.addInitScript(refuseAfterFetch)
    await page.goto('/app/tokens')
    await drawn(page)
    let asked = 0
    const reveal = /user\.tokens\.reveal/
    page.on('request', (request) => (asked += reveal.test(request.url()) ? 1 : 0))
    const copied = () => page.evaluate(() => navigator.clipboard.readText())
    const before = await copied()
    const row = page.getByRole('row').nth(1)
    await page.route(reveal, (route) => route.fulfill({ status: 500, body: '' }))
    await row.getByRole('button', { name: /^复制/ }).click()
    await toastShown(page, '没有复制')
    expect(await copied()).toBe(before)
    await page.unroute(reveal)
    asked = 0
    await row.getByRole('button', { name: /^复制/ }).click()
    await expect.poll(copied).toBe(`sk-${token.key}`)
    expect(asked).toBe(1)
    expect(await page.getByRole('alertdialog').count()).toBe(0)
    await row.getByRole('button', { name: /^操作/ }).click()
    await page.getByRole('menuitem', { name: '复制密钥' }).click()
    await toastShown(page, '已复制')
    await row.getByRole('checkbox').check()
    await button(page, '复制所选密钥').click()
    await toastShown(page, '已复制')
    await context.close()
  })

  test('where the clipboard is refused the name that a question asks for is selected, and the question stays', async () => {
    const leaver = await app.make.user({ username: 'leaver' })
    const { page, context } = await openConsole(browser, app, { reader: leaver })
    await page.addInitScript(() => Reflect.deleteProperty(Navigator.prototype, 'clipboard'))
    await page.goto('/app/me?tab=security')
    await button(page, '删除账户').click()
    const question = page.getByRole('alertdialog')
    await question.getByRole('button', { name: '复制 leaver' }).click()
    await toastShown(page, '无法复制到剪贴板，请手动复制')
    expect(await page.evaluate(() => getSelection()?.toString())).toBe('leaver')
    await question.getByText('请输入以下名称以确认').waitFor()
    await context.close()
  })

  test('no browser fills the password of whoever is signed in into a field for another secret', async () => {
    const { page, context } = await openConsole(browser, app, { reader: root, path: '/channel/add' })
    const secret = page.locator('input[type=password]')
    expect(await secret.getAttribute('autocomplete')).toBe('new-password')
    await page.goto('/app/me?tab=notify')
    await page.locator('select[name=notifyType]').selectOption('webhook')
    expect(await secret.getAttribute('autocomplete')).toBe('new-password')
    await context.close()
  })

  test('a phone on its side does not zoom into fields', async () => {
    const context = await browser.newContext({
      baseURL: app.url,
      viewport: { width: 844, height: 390 },
      isMobile: true,
      hasTouch: true,
    })
    const page = await context.newPage()
    await page.goto('/login')
    const sizeOf = (field: Element) => getComputedStyle(field).fontSize
    expect(await page.locator('input[name=username]').evaluate(sizeOf)).toBe('16px')
    await context.close()
  })

  test('a press that asks for a passkey waits for no file', async () => {
    // Browsers keep passkeys for names, never for bare addresses.
    const { page, context } = await openConsole(browser, { url: app.url.replace('127.0.0.1', 'localhost') })
    await page.addInitScript(() => {
      navigator.credentials.get = () => Promise.reject(new DOMException('', 'NotAllowedError'))
    })
    await page.goto('/login')
    await drawn(page)
    const files: string[] = []
    page.on('request', (request) => request.resourceType() === 'script' && files.push(request.url()))
    await button(page, '使用通行密钥登录').click()
    await page.getByText('没有完成，请重试。').waitFor()
    expect(files).toEqual([])
    await context.close()
  })

  test('what is switched on or chosen is seen where the system forces its own colours', async () => {
    const { page, context } = await openConsole(browser, app, { reader: root })
    await page.emulateMedia({ forcedColors: 'active' })
    await page.goto('/admin/settings')
    await drawn(page)
    const background = (part: Element) => getComputedStyle(part).backgroundColor
    const outline = (part: Element) => getComputedStyle(part).outlineStyle
    const part = (state: string) => page.locator(`[data-scope=switch][data-part=control][data-state=${state}]`).first()
    expect(await part('checked').evaluate(background)).not.toBe(await part('unchecked').evaluate(background))
    expect(await part('unchecked').evaluate((control) => getComputedStyle(control).borderTopWidth)).toBe('1px')
    expect(await page.getByRole('tab', { selected: true }).first().evaluate(outline)).toBe('solid')
    expect(await page.getByRole('tab', { selected: false }).first().evaluate(outline)).toBe('none')
    await follow(page, '/channel/add')
    const segment = page.locator('[data-scope=segment-group][data-part=item]')
    await segment.first().waitFor()
    expect(await segment.evaluateAll((items) => items.map((item) => getComputedStyle(item).outlineStyle))).toEqual([
      'solid',
      'none',
    ])
    await context.close()
  })
})
