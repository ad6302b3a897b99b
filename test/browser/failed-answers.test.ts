import { expect, test } from 'vitest'
import { describeWithBrowser } from '../support/chromium.ts'
import { isTaken, long } from '../support/long.ts'
import { storeOptions } from '../support/store-options.ts'
import { drawn, follow, openConsole, startInBrowser, toastShown } from './console.ts'
import { box } from './parts.ts'

describeWithBrowser('an answer that is not the product’s own', async () => {
  const { app, browser } = await startInBrowser()
  const root = await app.make.user({ username: 'root', role: 100 })

  const answers = [
    ['JSON of a proxy', { contentType: 'application/json', body: '{"message":"upstream connect error"}' }],
    ['JSON with an error of its own', { contentType: 'application/json', body: '{"error":"upstream connect error"}' }],
    ['JSON that breaks off', { contentType: 'application/json', body: '[{"result":' }],
    ['a page', { contentType: 'text/html', body: '<h1>Internal Server Error</h1>' }],
  ] as const
  test.each(answers.filter((_, place) => isTaken(3, place)))(
    'is reported by its status in the reader’s language, and asked for again: %s',
    async (_, answer) => {
      const { page, context } = await openConsole(browser, app, { reader: { ...root, role: 100 } })
      const wanted = /admin\.plans\.list/
      await page.route(wanted, (route) => route.fulfill({ status: 500, ...answer }))
      await page.goto('/admin/plans')
      const failure = page.getByRole('alert').filter({ hasText: '服务器内部错误，请联系管理员！（HTTP 500）' })
      await failure.waitFor()
      await page.unroute(wanted)
      await failure.getByRole('button', { name: '重试' }).click()
      await failure.waitFor({ state: 'detached' })
      await page.getByText('还没有套餐').waitFor()
      await context.close()
    },
  )

  test('leaves what was typed in a form', async () => {
    const { page, context } = await openConsole(browser, app, { reader: { ...root, role: 100 } })
    await page.goto('/admin/plans?edit=-1')
    const drawer = page.getByRole('dialog', { name: '添加套餐' })
    await box(drawer, '名称').fill('Light')
    await page.route(/admin\.plans\.create/, (route) =>
      route.fulfill({ status: 502, contentType: 'application/json', body: '{"message":"bad gateway"}' }),
    )
    await drawer.getByRole('button', { name: '创建', exact: true }).click()
    await drawer.getByRole('alert').filter({ hasText: '没有保存：错误：无法连接到服务器' }).waitFor()
    expect(await box(drawer, '名称').inputValue()).toBe('Light')
    await context.close()
  })

  test('is asked for again by the next press where it was the script of the bot check, and leaves what was typed', async () => {
    await storeOptions(app, {
      TurnstileSiteKey: 'a site key',
      TurnstileSecretKey: 'a secret key',
      TurnstileCheckEnabled: 'true',
    })
    const { page, context } = await openConsole(browser, app)
    const script = 'https://challenges.cloudflare.com/**'
    await context.route(script, (route) => route.abort())
    const failed = page.waitForEvent('requestfailed', (request) => request.url().startsWith('https://challenges.'))
    await page.goto('/login')
    await failed
    await context.unroute(script)
    await context.route(script, (route) =>
      route.fulfill({
        contentType: 'text/javascript',
        body: 'window.turnstile = { render: (box, { callback }) => { box.title = "asked"; callback("answer") }, remove() {} }',
      }),
    )
    await box(page, '用户名或邮箱').fill('root')
    await box(page, '密码').fill('a password')
    const press = () => page.getByRole('main').getByRole('button', { name: '登录', exact: true }).click()
    await press()
    await page.getByText('人机验证没有加载成功，正在重新加载，请稍后重试。').first().waitFor()
    await page.getByTitle('asked').waitFor()
    await page.route(/auth\.login/, (route) => route.abort())
    const sent = page.waitForRequest(/auth\.login/)
    await press()
    expect((await sent).postData()).toContain('"turnstile":"answer"')
    expect(await box(page, '用户名或邮箱').inputValue()).toBe('root')
    await context.close()
    await storeOptions(app, { TurnstileCheckEnabled: 'false' })
  })

  test('leaves chosen what was not done, to be tried again', async () => {
    await app.make.channel()
    await app.make.token(root)
    const { page, context } = await openConsole(browser, app, { reader: { ...root, role: 100 } })
    await page.route(/\.setStatus/, (route) => route.fulfill({ status: 500, body: '' }))
    for (const [path, failure] of [
      ['/admin/channels', '1 个渠道没有更改'],
      ['/app/tokens', '有令牌没有更改'],
    ] as const) {
      await page.goto(path)
      const tick = page.getByRole('row').nth(1).getByRole('checkbox').first()
      await tick.check()
      await page.getByRole('button', { name: '禁用', exact: true }).click()
      await toastShown(page, failure)
      await drawn(page)
      expect(await tick.isChecked()).toBe(true)
    }
    // Rows stay, dimmed, where those in another order do not come.
    await page.getByRole('button', { name: '清除选择' }).click()
    await page.route(/user\.tokens\.(list|search)/, (route) => route.fulfill({ status: 500, body: '' }))
    await page.getByRole('button', { name: '名称', exact: true }).click()
    await page.getByRole('alert').filter({ hasText: '刷新失败，显示的是之前的内容' }).waitFor()
    expect(await page.locator('tr[data-row]').count()).toBe(1)
    expect(await page.locator('table[data-stale]').count()).toBe(1)
    await context.close()
  })

  test('is no lack of hits in the palette, which says that a part could not be searched and searches again', async () => {
    await app.make.user({ username: 'mariner' })
    const { page, context } = await openConsole(browser, app, { reader: { ...root, role: 100 }, path: '/admin/plans' })
    await page.getByRole('heading', { level: 1 }).waitFor()
    const wanted = /admin\.users\.list/
    await page.route(wanted, (route) => route.fulfill({ status: 500, body: '' }))
    await page.keyboard.press('Control+k')
    const palette = page.getByRole('dialog', { name: '命令面板' })
    const words = palette.getByRole('combobox')
    const none = palette.getByText('没有匹配项')
    await words.fill('mariner')
    const failure = palette.getByRole('alert').filter({ hasText: '有一部分未能搜索' })
    await failure.getByText('服务器内部错误，请联系管理员！（HTTP 500）').waitFor()
    expect(await none.count()).toBe(0)
    await page.unroute(wanted)
    await failure.getByRole('button', { name: '重试' }).press('Enter')
    await palette.getByRole('option', { name: /mariner/ }).waitFor()
    expect([await failure.count(), await words.evaluate((box) => box === document.activeElement)]).toEqual([0, true])
    // It might be the number of a call, and is none.
    await words.fill('no-such-request')
    await none.waitFor()
    expect(await failure.count()).toBe(0)
    await context.close()
  })

  test.runIf(long)('a group of the price list that nobody may choose is named', async () => {
    const { page, context } = await openConsole(browser, app, { reader: { ...root, role: 100 } })
    await page.goto('/pricing?group=unknown')
    await page.getByText('没有分组 unknown 可选，以下是分组 default 的价格。').waitFor()
    await context.close()
  })

  test.runIf(long)('a model is said to be in the groups that its reader may choose alone', async () => {
    await app.make.channel({ models: 'gpt-4o', group: 'default,partners' })
    const { page, context } = await openConsole(browser, app, { reader: { ...root, role: 100 } })
    await page.goto('/pricing?q=gpt-4o')
    const row = page.getByRole('row').filter({ has: page.getByRole('cell', { name: 'gpt-4o', exact: true }) })
    await row.getByText('default', { exact: true }).waitFor()
    expect(await row.getByText('partners').count()).toBe(0)
    await context.close()
  })

  test.runIf(long).each(['channels.drifts', 'models.unpriced'])(
    'a channel without %s is shown, and that it lacks it is said',
    async (part) => {
      const { id } = await app.make.channel({ name: 'one', models: 'gpt-4o-mini' })
      await app.make.channel({ name: 'another', models: 'gpt-4o-mini' })
      const { page, context } = await openConsole(browser, app, { reader: { ...root, role: 100 } })
      await page.goto('/admin/channels')
      await drawn(page)
      await page.route(new RegExp(`admin\\.${part.replace('.', '\\.')}`), (route) =>
        route.fulfill({ status: 500, body: '' }),
      )
      await follow(page, `/admin/channels?open=${id}`)
      await page.getByRole('complementary').getByText('gpt-4o-mini').first().waitFor()
      await toastShown(page, '页面的部分内容加载失败')
      await context.close()
    },
  )

  test('what a link leads to is shown where the list around it fails, and asked for again where it fails itself', async () => {
    const { rows } = await app.pool.query<{ id: string }>(
      `insert into logs (user_id, username, type, content) values ($1, 'root', 4, 'Moved by hand') returning id`,
      [root.id],
    )
    const { page, context } = await openConsole(browser, app, { reader: { ...root, role: 100 } })
    const isDown = { list: true, get: true }
    for (const part of ['list', 'get'] as const)
      await page.route(new RegExp(`trpc/admin\\.logs\\.${part}|,admin\\.logs\\.${part}`), (route) =>
        isDown[part] ? route.fulfill({ status: 500, body: '' }) : route.fallback(),
      )
    await page.goto(`/app/logs/api-usage?range=&open=${rows[0]?.id}`)
    const panel = page.getByRole('complementary', { name: '日志详情' })
    const failure = panel.getByRole('alert').filter({ hasText: '服务器内部错误，请联系管理员！（HTTP 500）' })
    await failure.waitFor()
    isDown.get = false
    await failure.getByRole('button', { name: '重试' }).click()
    await panel.getByText('Moved by hand').waitFor()
    const failures = page
      .getByRole('main')
      .getByRole('alert')
      .filter({ hasText: '服务器内部错误，请联系管理员！（HTTP 500）' })
    await expect.poll(() => failures.count()).toBe(1)

    // Whoever comes back from paying reads that it is not known, and can ask again.
    await page.route(/user\.orders\.get/, (route) =>
      isDown.list ? route.fulfill({ status: 500, body: '' }) : route.fallback(),
    )
    await app.pool.query(
      `insert into top_up_orders (user_id, trade_no, gateway, merchant, quota, money_minor, currency, status, paid_at)
       values ($1, 'paid-1', 'stripe', 'merchant', 500000, 700, 'CNY', 'paid', now())`,
      [root.id],
    )
    await follow(page, '/app/wallet/topup-success?order=paid-1')
    const unread = page.getByRole('alert').filter({ hasText: '服务器内部错误，请联系管理员！（HTTP 500）' })
    await unread.waitFor()
    isDown.list = false
    await unread.getByRole('button', { name: '重试' }).click()
    await page.getByText('充值已到账').waitFor()

    // A message is read again once it is marked as read; where that fails it stays.
    const text = { title: 'Notice', content: 'Read this', format: 'markdown' as const }
    const { id } = await app.trpc(root).admin.messages.create.mutate({ ...text, recipients: { userIds: [root.id] } })
    let reads = 0
    await page.route(/trpc\/[^?]*user\.messages\.get/, (route) =>
      (reads += 1) === 1 ? route.fallback() : route.fulfill({ status: 500, body: '' }),
    )
    await follow(page, `/app/inbox/${id}`)
    await page.getByRole('alert').filter({ hasText: '刷新失败，显示的是之前的内容' }).waitFor()
    expect(await page.getByText('Read this').count()).toBe(1)
    await context.close()
  })
})
