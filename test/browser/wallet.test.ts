import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { describeWithBrowser } from '../support/chromium.ts'
import { createEpayGateway, type EpayFields } from '../support/epay-gateway.ts'
import type { TestUser } from '../support/factories.ts'
import { storeOptions } from '../support/store-options.ts'
import { seriousViolations } from './accessibility.ts'
import type { Look } from './console.ts'
import { drawn, follow, openConsole, startInBrowser, toastShown } from './console.ts'
import { isTaken } from '#test/support/long.ts'

const gateway = createEpayGateway({ pid: '1000', key: 'the key of the merchant' })

/** Nothing of a page stands beyond its edge. */
const overflow = (page: Page) =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)

/** A screenshot for whoever wants to look, where a folder for it is named. */
const screenshot = async (page: Page, name: string): Promise<void> => {
  const folder = process.env['SCREENSHOTS']
  if (folder) await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true })
}

describeWithBrowser('the wallet and its administration', async () => {
  const { app, browser } = await startInBrowser()
  await storeOptions(app, {
    PayAddress: 'https://pay.example',
    EpayId: '1000',
    EpayKey: 'the key of the merchant',
    ServerAddress: app.url,
    TopUpLink: 'https://shop.example/codes',
    'stripe.secret_key': 'sk_test_4eC39HqLyjWDarjtT1zdp7dc',
    'stripe.webhook_secret': 'whsec_5WbX5kEWLlfzsGNjH64I8lOOqUB6e8FH',
  })
  const root = await app.make.user({ username: 'root', role: 100 })
  await app.make.channel({ models: 'gpt-4o', baseUrl: app.upstream.url })
  await app.services.channels.reload()

  const open = async (reader: TestUser & { role?: number }, path: string, look: Look = {}) => {
    const opened = await openConsole(browser, app, { ...look, reader })
    await opened.page.goto(path)
    return opened
  }

  test('a user buys credit at the gateway, finds it in the wallet, and redeems a gift from a link', async () => {
    const user = await app.make.user({ quota: 0 })
    const { page, context, complaints } = await open(user, '/app/wallet')
    let form: EpayFields = {}
    await context.route('https://pay.example/submit.php', async (route) => {
      form = Object.fromEntries(new URLSearchParams(route.request().postData() ?? ''))
      await route.fulfill({ contentType: 'text/html', body: '<title>Gateway</title>' })
    })

    const amount = page.getByRole('textbox', { name: '充值数量（美元）' })
    await amount.fill('0')
    await page.getByText('充值数量不能小于 $1.00').waitFor()
    await page.getByRole('button', { name: '$20', exact: true }).click()
    await page.getByText('微信支付').click()
    await page.getByText('146.00 CNY').waitFor()
    expect(await seriousViolations(page)).toEqual([])
    await screenshot(page, 'wallet-zh')
    await page.getByRole('button', { name: '立即充值', exact: true }).click()
    await page.getByRole('button', { name: '去支付' }).click()
    await page.waitForURL('https://pay.example/submit.php')
    expect(gateway.accepts(form)).toBe(true)
    expect(form).toMatchObject({ type: 'wxpay', money: '146.00' })

    // The page that the gateway leads back to proves nothing, and learns of the payment when it is proved.
    const notification = gateway.notification(form)
    await page.goto(`/app/wallet/topup-success?${new URLSearchParams({ ...notification, sign: 'x' })}`)
    await page.getByText('正在等待支付结果').waitFor()
    expect(await app.balanceOf(user.id)).toBe(0)
    const become = (status: string) => app.pool.query('update top_up_orders set status = $1', [status])
    await become('processing')
    await page.getByText('您的付款正在处理，款项可能需要几天到账').waitFor()
    await become('pending')
    await page.reload()
    await page.getByText('支付完成后通常在一分钟内到账').waitFor()
    expect(await gateway.notify(app.url, notification)).toBe('success')
    await page.getByText('充值已到账').waitFor()
    await screenshot(page, 'topup-success-zh')
    await page.getByRole('link', { name: '返回钱包' }).click()
    await page.getByText('$20.00').first().waitFor()
    await page.getByRole('cell', { name: form['out_trade_no'] ?? '', exact: true }).waitFor()
    await page.getByText('已支付').first().waitFor()
    await page.getByRole('cell', { name: form['out_trade_no'] ?? '', exact: true }).click()
    await page.getByRole('heading', { name: '收据' }).waitFor()
    await page.getByText('到账额度 $20.00').waitFor()
    await page.emulateMedia({ media: 'print' })
    expect(await page.getByRole('button', { name: '打印' }).isVisible()).toBe(false)
    await page.getByText('已付合计').waitFor()
    await screenshot(page, 'receipt-print-zh')
    await page.emulateMedia({ media: null })

    const [key] = await app.trpc(root).admin.redemptions.create.mutate({
      name: '新春礼物',
      quota: 500_000,
      isGift: true,
    })
    await page.goto(`/app/wallet?code=${key}`)
    const code = page.getByRole('textbox', { name: '您的兑换码' })
    expect(await code.inputValue()).toBe(key)
    await page.getByRole('button', { name: '兑换', exact: true }).click()
    await toastShown(page, '礼品码兑换成功，获得 $1.00')
    await page.getByText('$21.00').first().waitFor()
    await code.fill(key ?? '')
    await page.getByRole('button', { name: '兑换', exact: true }).click()
    await page.getByText('兑换失败，你已经使用过该礼品码').waitFor()
    await page.getByRole('tab', { name: '兑换记录' }).click()
    await page.getByRole('cell', { name: '新春礼物', exact: true }).waitFor()
    expect(await app.balanceOf(user.id)).toBe(10_500_000)

    // What an administrator sells for a month is bought from it, pays for a call, and says so in the receipt.
    const admin = await open({ ...root, role: 100 } as TestUser, '/admin/plans')
    await admin.page.getByRole('button', { name: '添加套餐' }).first().click()
    const drawer = admin.page.getByRole('dialog', { name: '添加套餐' })
    await drawer.getByRole('textbox', { name: '名称' }).fill('团队版')
    await drawer.getByRole('textbox', { name: '描述' }).fill('每五小时重新计算')
    await drawer.getByRole('button', { name: '$5', exact: true }).first().click()
    await screenshot(admin.page, 'plan-form-zh')
    expect(await seriousViolations(admin.page)).toEqual([])
    await drawer.getByRole('button', { name: '创建' }).click()
    await admin.page.getByRole('cell', { name: '团队版', exact: true }).waitFor()
    await screenshot(admin.page, 'plans-zh')
    await page.goto('/app/wallet')
    await page.getByRole('button', { name: '购买', exact: true }).click()
    await page.getByText('购买套餐“团队版”？').waitFor()
    await screenshot(page, 'plan-buy-zh')
    await page
      .getByRole('alertdialog')
      .or(page.getByRole('dialog'))
      .getByRole('button', { name: '购买', exact: true })
      .click()
    await toastShown(page, '购买成功')
    await page.getByText('我的套餐').waitFor()
    expect(await app.balanceOf(user.id)).toBe(8_000_000)
    const token = await app.make.token(user)
    const reply = await fetch(`${app.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer sk-${token.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: 'Hello' }] }),
    })
    expect(reply.status).toBe(200)
    await reply.text()
    expect(await app.balanceOf(user.id)).toBe(8_000_000)
    await page.reload()
    await page.getByText('我的套餐').waitFor()
    await drawn(page)
    expect(await seriousViolations(page)).toEqual([])
    await screenshot(page, 'wallet-plan-zh')
    await page.goto('/app/logs/api-usage')
    await page.getByRole('cell', { name: 'gpt-4o' }).first().click()
    await page.getByText('套餐“团队版”支付').waitFor()
    await page.locator('[data-verdict="equal"]').waitFor()
    await screenshot(page, 'receipt-plan-zh')
    await admin.page.getByRole('tab', { name: '用户的套餐' }).click()
    await admin.page.getByRole('cell', { name: '团队版', exact: true }).waitFor()
    await screenshot(admin.page, 'subscriptions-zh')
    expect(admin.complaints).toEqual([])
    await admin.context.close()
    expect(complaints).toEqual([])
    await context.close()
  })

  test('the price of an amount is not shown, nor paid, as that of another one, and is asked for again where it did not come', async () => {
    const user = await app.make.user({ quota: 0 })
    const { page, context } = await open(user, '/app/wallet')
    await page.getByRole('button', { name: '$20', exact: true }).click()
    await page.getByText('146.00 CNY').waitFor()
    const quoted = Promise.withResolvers<void>()
    let isDown = true
    await page.route(/orders\.quote/, async (route) => {
      await quoted.promise
      if (isDown) await route.fulfill({ status: 503, contentType: 'text/plain', body: '' })
      else await route.continue()
    })
    const asked = page.waitForRequest(/orders\.quote/)
    await page.getByRole('button', { name: '$500', exact: true }).click()
    await asked
    expect(await page.getByRole('button', { name: '立即充值', exact: true }).isDisabled()).toBe(true)
    expect(await page.getByText('146.00 CNY').count()).toBe(0)
    quoted.resolve()
    const failure = page.getByRole('alert').filter({ hasText: '无法连接到服务器' })
    await failure.waitFor()
    isDown = false
    await failure.getByRole('button', { name: '重试' }).click()
    await page.getByText('3650.00 CNY').waitFor()
    await context.close()
  })

  test('a plan that is priced in money alone shows that price, and is paid for at the gateway', async () => {
    const windows = [{ period: 'day' as const, amount: 100_000 }]
    const sold = { name: 'Paid', price: 0, moneyPrices: { CNY: '39.00' }, term: 'month' as const, windows }
    const plan = await app.trpc(root).admin.plans.create.mutate(sold)
    const user = await app.make.user({ quota: 10_000_000 })
    const { page, context, complaints } = await open(user, '/app/wallet', { language: 'en' })
    const card = page.locator('div').filter({ hasText: /^Paid39\.00 CNY/ })
    await card.getByRole('button', { name: 'Buy', exact: true }).last().click()
    const question = page.getByRole('alertdialog')
    await question.getByText('39.00 CNY').first().waitFor()
    await expect.poll(() => question.getByRole('radio').count()).toBe(2)
    expect(await question.getByText('Balance ·').count()).toBe(0)
    let paid: string | null = null
    await page.route('https://pay.example/**', (route) => {
      paid = route.request().postData()
      return route.fulfill({ body: 'paid' })
    })
    await question.getByRole('button', { name: 'Buy', exact: true }).click()
    await expect.poll(() => paid).toContain('money=39.00')
    expect(complaints).toEqual([])
    await app.trpc(root).admin.plans.remove.mutate({ id: plan.id })
    await context.close()
  })

  test('shows what a check-in has added, and a plan that was given up as on sale again, however soon one comes back', async () => {
    await storeOptions(app, { CheckInEnabled: 'true', CheckInQuota: '500000', CheckInMaxQuota: '500000' })
    const { plans } = app.trpc(root).admin
    const windows = [{ period: 'day' as const, amount: 100_000 }]
    const plan = await plans.create.mutate({ name: 'Last', price: 500_000, term: 'month', stock: 1, windows })
    const user = await app.make.user({ quota: 1_000_000 })
    const { page, context } = await open(user, '/app/wallet', { language: 'en' })
    const lookedAt = Date.now()
    const balance = (amount: string) => page.getByRole('main').getByText(amount, { exact: true }).first().waitFor()
    await balance('$2.00')
    await follow(page, '/app/me')
    await page.getByRole('button', { name: 'Check in', exact: true }).click()
    await toastShown(page, '$1')
    // What was shown there has not become old by itself.
    await page.clock.setSystemTime(lookedAt)
    await follow(page, '/app/wallet')
    await balance('$3.00')

    const press = async (name: string) => {
      await page.getByRole('main').getByRole('button', { name, exact: true }).last().click()
      await page.getByRole('alertdialog').getByRole('button', { name, exact: true }).click()
    }
    await press('Buy')
    await page.getByRole('button', { name: 'Sold out', exact: true }).waitFor()
    await press('Cancel plan')
    await page.getByRole('button', { name: 'Sold out', exact: true }).waitFor({ state: 'detached' })
    await plans.remove.mutate({ id: plan.id })
    // Whoever gives up a plan that they bought once more sees that the next term begins with it.
    await app.make.subscription(user, { windows })
    await app.make.subscription(user, { windows, startsAt: new Date(Date.now() + 86_400_000) })
    await page.reload()
    await page.getByRole('button', { name: 'Cancel plan', exact: true }).nth(1).click()
    await page.getByRole('alertdialog').getByText('starts right away').waitFor()
    await context.close()
  })

  test('a gateway without encryption may be posted to, and no other such address', async () => {
    const formsOf = async () =>
      /form-action ([^;]+)/.exec(
        (await fetch(`${app.url}/app/wallet`)).headers.get('content-security-policy') ?? '',
      )?.[1]
    expect(await formsOf()).toBe("'self' https:")
    await storeOptions(app, { PayAddress: 'http://pay.example:8080/epay' })
    expect(await formsOf()).toBe("'self' https: http://pay.example:8080")
    await storeOptions(app, { PayAddress: 'https://pay.example' })
  })

  test('an administrator makes codes, takes them along as a file, disables and deletes them', async () => {
    const { page, context, complaints } = await open({ ...root, role: 100 } as TestUser, '/admin/coupons')
    await page.getByRole('button', { name: '添加兑换码' }).first().click()
    const drawer = page.getByRole('dialog', { name: '添加兑换码' })
    await drawer.getByRole('textbox', { name: '名称' }).fill('开学')
    await drawer.getByRole('button', { name: '$10', exact: true }).click()
    await drawer.getByRole('textbox', { name: '数量' }).fill('3')
    await screenshot(page, 'redemption-form-zh')
    await drawer.getByRole('button', { name: '创建' }).click()
    const made = page.getByRole('alertdialog').or(page.getByRole('dialog', { name: '已创建 3 个兑换码' }))
    const keys = (await made.getByRole('textbox', { name: '新的兑换码' }).inputValue()).split('\n')
    expect(keys).toHaveLength(3)
    await made.getByRole('button', { name: '关闭' }).first().click()
    await page.getByRole('cell', { name: '开学' }).first().waitFor()

    await page.getByRole('button', { name: '更多操作' }).click()
    const saved = page.waitForEvent('download')
    await page.getByRole('menuitem', { name: '导出为文本' }).click()
    const file = await saved
    expect(file.suggestedFilename()).toBe('redemptions.txt')
    const text = await new Response((await file.createReadStream()) as unknown as BodyInit).text()
    for (const key of keys) expect(text.split('\n')).toContain(key)

    await page
      .getByRole('checkbox', { name: /全选|选择全部|选择本页/ })
      .first()
      .check()
    await page.getByRole('button', { name: '禁用所选' }).click()
    await toastShown(page, '个兑换码')
    await expect
      .poll(async () => (await app.pool.query("select 1 from redemptions where name = '开学' and status = 2")).rowCount)
      .toBe(3)
    await drawn(page)
    expect(await seriousViolations(page)).toEqual([])
    await screenshot(page, 'redemptions-zh')

    await page.getByRole('button', { name: '更多操作' }).click()
    await page.getByRole('menuitem', { name: '按名称删除' }).click()
    await page.getByRole('textbox', { name: '兑换码名称' }).fill('开学')
    const naming = page.getByRole('dialog', { name: '按名称删除' })
    await naming.getByText('共 3 个').waitFor()
    await naming.getByRole('button', { name: '删除', exact: true }).click()
    await page.getByText('删除 3 个名为“开学”的兑换码？').waitFor()
    const sure = page.getByRole('alertdialog')
    await sure.getByRole('button', { name: '删除', exact: true }).click()
    await toastShown(page, '已删除 3 个兑换码')
    const { rows } = await app.pool.query(
      "select action from audit_entries where action like 'redemptions.%' order by id desc limit 4",
    )
    expect(rows.map(({ action }) => action)).toEqual([
      'redemptions.remove_by_name',
      'redemptions.disable_many',
      'redemptions.export',
      'redemptions.create',
    ])
    expect(complaints).toEqual([])
    await context.close()
  })

  test('an administrator finds an order, completes it with a reason, and reads what happened to it', async () => {
    const user = await app.make.user({ quota: 0, username: 'payer' })
    const { tradeNo } = await app.trpc(user).user.orders.pay.mutate({ amount: 5, method: 'zfb' })
    const { page, context, complaints } = await open({ ...root, role: 100 } as TestUser, '/admin/orders', {
      language: 'en',
    })
    await page.getByPlaceholder('Search order or user').fill('payer')
    await page.getByRole('cell', { name: tradeNo, exact: true }).click()
    const panel = page.getByRole('complementary', { name: 'Top-up orders' })
    await panel.getByRole('button', { name: 'Mark as paid' }).click()
    const drawer = page.getByRole('dialog', { name: 'Mark as paid' })
    await drawer.getByRole('button', { name: 'Confirm payment' }).click()
    await drawer.getByText('Please give a reason').waitFor()
    await drawer.getByRole('textbox', { name: 'Reason' }).fill('seen at the bank')
    await drawer.getByRole('button', { name: 'Confirm payment' }).click()
    await panel.getByText('Marked as paid by an administrator').waitFor()
    await panel.getByText('seen at the bank').waitFor()
    await expect.poll(() => app.balanceOf(user.id)).toBe(2_500_000)
    expect(await seriousViolations(page)).toEqual([])
    await screenshot(page, 'orders-en')

    // Its money goes back when some of it is spent: the credit is taken whole, and the user reads what that means.
    const spent = await app.relay(await app.make.token(user), '/v1/chat/completions', {
      model: 'gpt-4o',
      messages: [{ role: 'user', content: '[[usage=1000:500]] Spend some of it' }],
    })
    expect(spent.status).toBe(200)
    await app.pool.query(
      "update top_up_orders set status = 'refunded', refunded_minor = money_minor where trade_no = $1",
      [tradeNo],
    )
    await page.reload()
    await panel.getByRole('button', { name: 'Take credit back' }).click()
    const reversal = page.getByRole('dialog', { name: 'Take credit back' })
    await reversal.getByText('The balance may fall below zero.').waitFor()
    await reversal.getByRole('textbox', { name: 'Reason' }).fill('refunded at the gateway')
    await reversal.getByRole('button', { name: 'Take back', exact: true }).click()
    await panel.getByText('refunded at the gateway').waitFor()
    expect(await app.balanceOf(user.id)).toBeLessThan(0)
    const payer = await open(user, '/app/wallet', { language: 'en' })
    await payer.page.getByText('Below zero: calls are refused until a top-up makes up for it').waitFor()
    await screenshot(payer.page, 'wallet-below-zero-en')
    await payer.context.close()
    expect(complaints).toEqual([])
    await context.close()
  })

  // On a phone each of these pages is looked at by screens.test.ts too.
  const onPhones = [
    ['/app/wallet', 'zh', 'light'],
    ['/app/wallet', 'en', 'dark'],
    ['/admin/coupons', 'en', 'dark'],
    ['/admin/orders', 'zh', 'light'],
    ['/admin/plans', 'en', 'dark'],
    ['/app/wallet/topup-success', 'en', 'light'],
  ] as const
  test.each(onPhones.filter((_, place) => isTaken(3, place)))(
    '%s fits a phone in %s, %s',
    async (path, language, theme) => {
      const { page, context, complaints } = await open({ ...root, role: 100 } as TestUser, path, {
        language,
        theme,
        width: 390,
        height: 844,
      })
      await drawn(page)
      await page.getByRole('heading', { level: 1 }).waitFor()
      expect(await overflow(page)).toBeLessThanOrEqual(0)
      await screenshot(page, `phone${path.replaceAll('/', '-')}-${language}-${theme}`)
      expect(complaints).toEqual([])
      await context.close()
    },
  )
})
