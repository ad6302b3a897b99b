import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { describeWithBrowser } from '../support/chromium.ts'
import { seriousViolations } from './accessibility.ts'
import type { Look } from './console.ts'
import { drawn, openConsole, startInBrowser, toastShown } from './console.ts'
import { box, button } from './parts.ts'
import { isTaken, long } from '#test/support/long.ts'

describeWithBrowser('models and prices', async () => {
  const { app, browser } = await startInBrowser()
  const root = await app.make.user({ username: 'root', role: 100 })
  await app.make.channel({ name: 'one', models: 'gpt-4o,claude-2.1,house-model' })
  await app.settled()

  const open = (path: string, look: Look = {}) =>
    openConsole(browser, app, { ...look, reader: { ...root, role: 100 }, path })
  const figure = (page: Page, model: string, label: string) =>
    page.getByRole('textbox', { name: `${model} ${label}`, exact: true })
  const ratio = (model: string) => app.services.options.get('ModelRatio')[model]

  test('a price is typed where it stands, rehearsed on past calls, scheduled, and cancelled', async () => {
    const user = await app.make.user({ username: 'payer', quota: 9_000_000 })
    const token = await app.make.token(user, { remainQuota: 9_000_000 })
    const body = { model: 'gpt-4o', messages: [{ role: 'user', content: '[[usage=1000:100]]' }] }
    expect((await app.relay(token, '/v1/chat/completions', body)).status).toBe(200)
    const { page, context, complaints } = await open('/admin/prices?q=gpt-4o')
    // What is no number is no empty field either, which would take the price away.
    await figure(page, 'gpt-4o', '输入 / 1M').fill('five')
    await page.getByText('gpt-4o 的价格不是有效的数字').waitFor()
    expect(await figure(page, 'gpt-4o', '输入 / 1M').getAttribute('aria-invalid')).toBe('true')
    expect(await page.getByRole('button', { name: '保存', exact: true }).isDisabled()).toBe(true)
    await figure(page, 'gpt-4o', '输入 / 1M').fill('5')
    await page.getByText('1 个模型的价格有未保存的修改').waitFor()
    await page.getByRole('button', { name: '预演与定时' }).click()
    const sheet = page.getByRole('dialog', { name: '调价预演' })
    // 1400 units' worth at $2.50 becomes twice that: from $0.0035 to $0.007.
    await sheet.getByRole('heading', { name: '影响最大的用户' }).waitFor()
    await sheet.getByText('payer').waitFor()
    // Of other days nothing is shown until it has been counted.
    const counted = Promise.withResolvers<void>()
    await page.route(/prices\.rehearse/, async (route) => {
      await counted.promise
      await route.continue()
    })
    await sheet.getByRole('button', { name: '近 30 天' }).click()
    await sheet.getByText('payer').waitFor({ state: 'detached' })
    counted.resolve()
    await sheet.getByText('payer').waitFor()
    expect(await seriousViolations(page)).toEqual([])
    await sheet.getByRole('button', { name: '安排调价' }).click()
    await sheet.waitFor({ state: 'hidden' })
    expect(ratio('gpt-4o')).toBe(1.25)
    await page.getByRole('button', { name: '调价计划' }).click()
    const plan = page.getByRole('dialog', { name: '调价计划' })
    await plan.getByText('待生效').waitFor()
    await plan.getByRole('button', { name: '取消调价' }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: '取消调价' }).click()
    await plan.getByText('已取消').waitFor()
    expect(complaints).toEqual([])
    await context.close()
  })

  test('long prompts get a price of their own, which the price list shows and its example counts with', async () => {
    const { page, context, complaints } = await open('/admin/prices?q=gpt-4o')
    await page.getByRole('button', { name: 'gpt-4o 的长上下文价格', exact: true }).click()
    const sheet = page.getByRole('dialog', { name: '长上下文价格' })
    await sheet.getByRole('button', { name: '添加一档' }).click()
    await sheet.getByText('每一档都要填满').waitFor()
    await sheet.getByRole('textbox', { name: '第 1 档 输入 / 1M' }).fill('5')
    await sheet.getByRole('textbox', { name: '第 1 档 输出 / 1M' }).fill('15')
    expect(await seriousViolations(page)).toEqual([])
    await sheet.getByRole('button', { name: '填入列表' }).click()
    await page.getByText('超过 200k 为 2 倍 / 1.5 倍').waitFor()
    await page.getByRole('button', { name: '保存', exact: true }).click()
    await page.getByText('有未保存的修改').waitFor({ state: 'detached' })
    expect(app.services.options.get('LongContextRatio')).toEqual({
      'gpt-4o': [{ above: 200_000, input: 2, output: 1.5 }],
    })
    await context.close()

    const guest = await openConsole(browser, app, { language: 'en', width: 390, height: 844 })
    await guest.page.goto('/pricing?q=gpt-4o&open=gpt-4o')
    const panel = guest.page
      .getByRole('dialog')
      .or(guest.page.getByRole('complementary'))
      .filter({ hasText: 'Example' })
    await panel.getByText('over 200k tokens').waitFor()
    await panel.getByRole('textbox', { name: 'Input tokens' }).fill('300000')
    // 300,000 × $5 and 1,000 × $15 per million.
    await panel.getByText(/\$1\.515/).waitFor()
    expect(await seriousViolations(guest.page)).toEqual([])
    expect([...complaints, ...guest.complaints]).toEqual([])
    await guest.context.close()
  })

  test('what is typed while prices are saved is neither lost nor taken for saved', async () => {
    const { page, context, complaints } = await open('/admin/prices?q=gpt-4o')
    const inputOf = (model: string) => figure(page, model, '输入 / 1M')
    await inputOf('gpt-4o').fill('5')
    const asked = Promise.withResolvers<void>()
    const release = Promise.withResolvers<void>()
    await page.route(/prices\.list/, async (route) => {
      asked.resolve()
      await release.promise
      await route.continue()
    })
    const save = page.getByRole('button', { name: '保存', exact: true })
    await save.click()
    await asked.promise
    expect(ratio('gpt-4o')).toBe(2.5)
    // Nor does a second press send what was sent already.
    expect(await save.isDisabled()).toBe(true)
    await inputOf('gpt-4o').fill('6')
    await inputOf('gpt-4o-2024-05-13').fill('1')
    release.resolve()
    await toastShown(page, '已为 1 个模型设置价格')
    await page.getByText('2 个模型的价格有未保存的修改').waitFor()
    expect(await inputOf('gpt-4o').inputValue()).toBe('6')
    await save.click()
    await toastShown(page, '已为 2 个模型设置价格')
    expect([ratio('gpt-4o'), ratio('gpt-4o-2024-05-13')]).toEqual([3, 0.5])
    await page.getByText('有未保存的修改').waitFor({ state: 'detached' })

    // Of two people who set a price the second reads what the first has set, and takes it over or replaces it.
    const others = (input: number) =>
      app.trpc(root).admin.models.setPrices.mutate({ prices: [{ model: 'gpt-4o', modelRatio: input / 2 }] })
    await inputOf('gpt-4o').fill('7')
    await others(8)
    await save.click()
    const refusal = page.getByRole('alert').filter({ hasText: '已被其他人修改' })
    await refusal.getByText('输入 / 1M：对方 $8.00，您 $7.00').waitFor()
    expect([ratio('gpt-4o'), await inputOf('gpt-4o').inputValue()]).toEqual([4, '7'])
    expect(await seriousViolations(page)).toEqual([])
    await button(refusal, '放弃修改并载入最新').click()
    await expect.poll(() => inputOf('gpt-4o').inputValue()).toBe('8')
    await inputOf('gpt-4o').fill('9')
    // What moves along says what it was, and what is not to be typed says why.
    const output = figure(page, 'gpt-4o', '输出 / 1M')
    expect(await output.getAttribute('aria-description')).toMatch(/^原为 \$.+\n输出价格由模型名称决定/)
    await others(10)
    await save.click()
    await refusal.getByText('输入 / 1M：对方 $10.00，您 $9.00').waitFor()
    await save.click()
    await page.getByText('有未保存的修改').waitFor({ state: 'detached' })
    expect(ratio('gpt-4o')).toBe(4.5)
    await page.locator('main').focus()
    await page.keyboard.press('/')
    expect(await page.getByRole('searchbox', { name: '搜索模型名称' }).evaluate((one) => one.matches(':focus'))).toBe(
      true,
    )
    expect(complaints).toEqual([])
    await context.close()
  })

  test.runIf(long)('a name that is to be added and is listed already leads to its row', async () => {
    const { page, context, complaints } = await open('/admin/prices?open=new')
    const sheet = page.getByRole('dialog', { name: '添加模型' })
    await box(sheet, '模型名称').fill('house-model')
    await sheet.getByText('模型名称已存在').waitFor()
    await box(sheet, '模型名称').press('Enter')
    await sheet.waitFor({ state: 'hidden' })
    await figure(page, 'house-model', '输入 / 1M').waitFor()
    await page.getByText('1 个模型', { exact: true }).waitFor()
    expect(complaints).toEqual([])
    await context.close()
  })

  test('models without a price are found, priced together and saved', async () => {
    const { page, context } = await open('/admin/prices?show=missing')
    await page.getByRole('checkbox', { name: '选择 house-model' }).check()
    await page.getByRole('button', { name: '从价格目录填入' }).click()
    await toastShown(page, '价格目录中没有这些模型，请自行填写')
    await page.getByRole('button', { name: '批量设置' }).click()
    const sheet = page.getByRole('dialog')
    await sheet.getByRole('textbox', { name: '输入 / 1M' }).fill('3')
    await sheet.getByRole('textbox', { name: '输出 / 1M' }).fill('12')
    await sheet.getByRole('button', { name: '填入列表' }).click()
    await page.getByRole('button', { name: '保存', exact: true }).click()
    await page.getByText('1 个模型的价格有未保存的修改').waitFor({ state: 'hidden' })
    expect([ratio('house-model'), app.services.options.get('CompletionRatio')['house-model']]).toEqual([1.5, 4])
    await page.goto('/admin/prices?q=gpt-4o-mini')
    await page.getByRole('checkbox', { name: '选择 gpt-4o-mini', exact: true }).check()
    await page.getByRole('button', { name: '从价格目录填入' }).click()
    await toastShown(page, '所选模型的价格已与目录一致')
    await context.close()
  })

  test('an emptied output price is taken away, in its row and for several models', async () => {
    const { page, context, complaints } = await open('/admin/prices?q=house-model')
    const completion = () => app.services.options.get('CompletionRatio')['house-model']
    const saved = () => page.getByText('有未保存的修改').waitFor({ state: 'detached' })
    await figure(page, 'house-model', '输出 / 1M').fill('')
    expect(await figure(page, 'house-model', '输出 / 1M').getAttribute('placeholder')).toBe('默认')
    await button(page, '保存').click()
    await saved()
    expect([ratio('house-model'), completion()]).toEqual([1.5, undefined])
    await figure(page, 'house-model', '输出 / 1M').fill('6')
    await button(page, '保存').click()
    await saved()
    expect(completion()).toBe(2)
    await page.getByRole('checkbox', { name: '选择 house-model' }).check()
    await button(page, '批量设置').click()
    const sheet = page.getByRole('dialog')
    await button(sheet, '移除 输出 / 1M').click()
    await box(sheet, '输入 / 1M').fill('5')
    // Closing would lose what is typed.
    await button(sheet, '关闭').click()
    await button(page.getByRole('alertdialog'), '继续编辑').click()
    await button(sheet, '填入列表').click()
    await sheet.waitFor({ state: 'hidden' })
    await button(page, '保存').click()
    await saved()
    expect([ratio('house-model'), completion()]).toEqual([2.5, undefined])
    expect(complaints).toEqual([])
    await context.close()
  })

  test('what a channel costs is set with its date', async () => {
    const { page, context } = await open('/admin/prices?open=buying&channel=1')
    const sheet = page.getByRole('dialog', { name: '进价' })
    await sheet.getByRole('button', { name: '添加进价' }).click()
    await sheet.getByRole('textbox', { name: '输出 1' }).fill('6')
    const [input, save] = [
      sheet.getByRole('textbox', { name: '输入 1' }),
      sheet.getByRole('button', { name: '保存进价' }),
    ]
    // What is no number is no price of nothing, and stays as typed.
    await input.fill('1,5')
    await sheet.getByText('请输入数字').waitFor()
    expect([await input.inputValue(), await save.isDisabled()]).toEqual(['1,5', true])
    await input.fill('1.5')
    await save.click()
    const stored = async () =>
      (await app.pool.query('select buying_prices as prices from channels where id = 1')).rows[0]?.prices
    await expect.poll(stored).toMatchObject([{ model: '', terms: { kind: 'tokens', input: 1.5, output: 6 } }])
    await context.close()
  })

  test('buying prices changed elsewhere are not replaced unasked, nor typed ones lost', async () => {
    const { id } = await app.make.channel({ name: 'bought', models: 'gpt-4o' })
    const price = (input: number) => ({ model: '', from: 1, terms: { kind: 'tokens', input, output: 0 } })
    const store = (...prices: unknown[]) =>
      app.pool.query('update channels set buying_prices = $2 where id = $1', [id, JSON.stringify(prices)])
    const stored = async () =>
      (await app.pool.query('select buying_prices as prices from channels where id = $1', [id])).rows[0]?.prices
    await store(price(1))
    const { page, context, complaints } = await open(`/admin/prices?open=buying&channel=${id}`)
    const sheet = page.getByRole('dialog', { name: '进价' })
    await box(sheet, '输入 1').fill('2')
    await button(sheet, '关闭').click()
    await button(page.getByRole('alertdialog'), '继续编辑').click()
    await store(price(3))
    await button(sheet, '保存进价').click()
    await sheet.getByText('进价已被其他人修改').waitFor()
    expect([await box(sheet, '输入 1').inputValue(), await stored()]).toEqual(['2', [price(3)]])
    expect(await seriousViolations(page)).toEqual([])
    await button(sheet, '放弃修改并载入最新').click()
    await expect.poll(() => box(sheet, '输入 1').inputValue()).toBe('3')
    await box(sheet, '输入 1').fill('4')
    await store(price(5))
    await button(sheet, '保存进价').click()
    await sheet.getByText('进价已被其他人修改').waitFor()
    // Whoever saves again has read it.
    await button(sheet, '保存进价').click()
    await expect.poll(stored).toEqual([price(4)])
    await button(sheet, '关闭').click()
    await sheet.waitFor({ state: 'hidden' })
    expect(complaints).toEqual([])
    await context.close()
  })

  test('thousands of models draw only what is in sight', async () => {
    const many = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`bulk-${index}`, 1]))
    await app.make.option('ModelRatio', JSON.stringify(many))
    await app.services.options.reload()
    const { page, context } = await open('/admin/prices')
    await figure(page, 'bulk-0', '输入 / 1M').waitFor()
    expect(await page.getByRole('row').count()).toBeLessThan(60)
    await page.getByRole('searchbox', { name: '搜索模型名称' }).fill('bulk-4999')
    await figure(page, 'bulk-4999', '输入 / 1M').waitFor()
    // A change of hundreds of them is rehearsed as one of a single model is.
    await page.getByRole('searchbox', { name: '搜索模型名称' }).fill('bulk-49')
    await page.getByRole('checkbox', { name: '选择全部 111 个模型' }).check()
    await button(page, '批量设置').click()
    await box(page.getByRole('dialog'), '输入 / 1M').fill('3')
    await button(page, '填入列表').click()
    await button(page, '预演与定时').click()
    const sheet = page.getByRole('dialog', { name: '调价预演' })
    const answered = page.waitForResponse(/admin\.prices\.rehearse/)
    await button(sheet, '近 30 天').click()
    expect((await answered).status()).toBe(200)
    await context.close()
  })

  const looks: [string, Look][] = [
    ['wide', { language: 'zh' }],
    ['dark, in English', { language: 'en', theme: 'dark' }],
    ['on a phone, in English', { language: 'en', width: 390, height: 844 }],
  ]
  test.each(looks.filter((_, place) => isTaken(3, place, 1)))('the page reads well %s', async (_name, look) => {
    const { page, context, complaints } = await open('/admin/prices?show=served', look)
    await page.getByText('claude-2.1').first().waitFor()
    await drawn(page)
    expect(await seriousViolations(page)).toEqual([])
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
    expect(overflow).toBeLessThanOrEqual(0)
    // A line lower than its letters cuts off what hangs below them.
    const lines = await figure(page, 'claude-2.1', look.language === 'en' ? 'Input / 1M' : '输入 / 1M').evaluate(
      (field) => {
        const { fontSize, lineHeight } = getComputedStyle(field)
        return Number.parseFloat(lineHeight) / Number.parseFloat(fontSize)
      },
    )
    expect(lines).toBeGreaterThan(1.4)
    if (process.env['SCREENSHOTS']) await page.screenshot({ path: `${process.env['SCREENSHOTS']}/prices ${_name}.png` })
    expect(complaints).toEqual([])
    await context.close()
  })

  test('the dashboard names what needs attention, with the page where it is fixed', async () => {
    await app.make.option('ModelRatio', '{"gpt-4o":1.25}')
    await app.services.options.reload()
    const { page, context } = await open('/app/dashboard')
    const list = page.getByRole('list', { name: '需要处理' })
    await list.getByText('模型 house-model 没有价格').waitFor()
    if (process.env['SCREENSHOTS']) await page.screenshot({ path: `${process.env['SCREENSHOTS']}/dashboard.png` })
    await list.getByRole('link', { name: '设置价格' }).first().click()
    await figure(page, 'claude-2.1', '输入 / 1M').waitFor()
    await context.close()
  })
})
