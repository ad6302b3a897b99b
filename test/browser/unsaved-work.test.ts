import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { describeWithBrowser } from '../support/chromium.ts'
import { long } from '../support/long.ts'
import { drawn, escape, follow, openConsole, pressInToast, startInBrowser, toastShown } from './console.ts'
import { act, box, button } from './parts.ts'

describeWithBrowser('unsaved work', async () => {
  const { app, browser } = await startInBrowser()
  const root = await app.make.user({ username: 'root', role: 100 })
  const open = (path: string) => openConsole(browser, app, { reader: { ...root, role: 100 }, path })

  /** A window that was offline asks again for what has become old. */
  const reconnect = async (page: Page, list: RegExp) => {
    await page.clock.setSystemTime(Date.now() + 3_600_000)
    await page.context().setOffline(true)
    const refreshed = page.waitForResponse(list)
    await page.context().setOffline(false)
    await refreshed
    await drawn(page)
  }

  /** Holds the calls of a procedure back, until they are let through. */
  const holdBack = async (page: Page, procedure: RegExp) => {
    const { promise: held, resolve: release } = Promise.withResolvers<void>()
    await page.route(procedure, async (route) => {
      await held
      await route.continue()
    })
    return { asked: page.waitForRequest(procedure), release }
  }

  /** What is typed into a field while a page saves what was typed before stays as it was typed. */
  const typeWhileSaving = async (
    page: Page,
    { procedure, name, text, saved }: { procedure: RegExp; name: string; text: string; saved: string },
  ) => {
    const saving = await holdBack(page, procedure)
    await button(page, '保存').click()
    await saving.asked
    await box(page, name).fill(text)
    saving.release()
    await toastShown(page, saved)
    await drawn(page)
    expect(await box(page, name).inputValue()).toBe(text)
  }
  const thresholdMeanwhile = {
    procedure: /account\.updateSettings/,
    name: '额度预警阈值',
    text: '3',
    saved: '设置已更新',
  }

  test('a page stays guarded when changes in a drawer above it are given up', async () => {
    const { id } = await app.make.channel({ name: 'bought', models: 'gpt-4o' })
    const { page, context } = await open('/admin/prices?q=gpt-4o')
    await page.getByRole('textbox', { name: 'gpt-4o 输入 / 1M', exact: true }).fill('5')
    await page.getByText('1 个模型的价格有未保存的修改').waitFor()
    await button(page, '进价').click()
    const sheet = page.getByRole('dialog', { name: '进价' })
    await sheet.getByRole('combobox').click()
    await page.getByRole('option', { name: 'bought' }).click()
    await button(sheet, '添加进价').click()
    await button(sheet, '关闭').click()
    const question = page.getByRole('alertdialog')
    await button(question, '放弃修改').click()
    await sheet.waitFor({ state: 'hidden' })
    await page.getByRole('link', { name: '用户管理' }).click()
    await button(question, '继续编辑').click()
    await page.getByText('1 个模型的价格有未保存的修改').waitFor()
    await page.getByRole('link', { name: '用户管理' }).click()
    await button(question, '放弃修改').click()
    await page.waitForURL(/admin\/users/)
    await context.close()
    await app.pool.query('delete from channels where id = $1', [id])
  })

  test.runIf(long)('a form stays guarded when one above it was given up; a drawer asks for itself alone', async () => {
    const { page, context } = await open('/app/me')
    await box(page, '显示名称').fill('Someone')
    const drawer = page.getByRole('dialog', { name: '绑定邮箱' })
    const question = page.getByRole('alertdialog')
    await button(page, '绑定邮箱').click()
    await button(drawer, '取消').click()
    await drawer.waitFor({ state: 'hidden' })
    await button(page, '绑定邮箱').click()
    await box(drawer, '邮箱').fill('a@example.com')
    await button(drawer, '取消').click()
    await button(question, '放弃修改').click()
    await drawer.waitFor({ state: 'hidden' })
    await page.getByRole('link', { name: '钱包' }).click()
    await button(question, '继续编辑').click()
    expect(await box(page, '显示名称').inputValue()).toBe('Someone')
    await context.close()
  })

  test.runIf(long)('prices and models that were chosen in a dialog above a form are not given up unasked', async () => {
    const { page, context } = await open('/admin/channels?form=new')
    const drawer = page.getByRole('dialog', { name: '添加渠道' })
    const question = page.getByRole('alertdialog')
    await button(drawer, '选择模型').click()
    const picker = page.getByRole('dialog', { name: '选择模型' })
    await picker.getByRole('checkbox').first().check()
    await page.keyboard.press('Escape')
    await button(question, '继续编辑').click()
    await button(picker, '取消').click()
    await button(question, '放弃修改').click()
    await picker.waitFor({ state: 'hidden' })
    await button(drawer, '选择模型').click()
    await escape(page, picker)
    await picker.waitFor({ state: 'hidden' })

    const lookedAt = Date.now()
    await follow(page, '/admin/prices?q=house-model')
    await page.getByText('没有匹配的模型').waitFor()
    await follow(page, '/admin/channels?form=new')
    await box(drawer, '自定义模型名称').fill('house-model')
    await page.keyboard.press('Enter')
    await button(drawer, '设置价格').click()
    const prices = page.getByRole('dialog', { name: '为 1 个模型设置价格' })
    await box(prices, 'house-model 输入').fill('3')
    await escape(page, prices)
    await button(question, '继续编辑').click()
    expect(await box(prices, 'house-model 输入').inputValue()).toBe('3')
    await button(prices, '设置 1 个价格').click()
    await prices.waitFor({ state: 'hidden' })
    await button(drawer, '取消').click()
    await button(question, '放弃修改').click()
    await drawer.waitFor({ state: 'hidden' })
    // What was shown there has not become old by itself.
    await page.clock.setSystemTime(lookedAt)
    await follow(page, '/admin/prices?q=house-model')
    await expect.poll(() => box(page, 'house-model 输入 / 1M').inputValue()).toBe('3')
    await box(page, 'house-model 输入 / 1M').fill('4')
    await button(page, '放弃修改').click()
    await button(question, '继续编辑').click()
    expect(await box(page, 'house-model 输入 / 1M').inputValue()).toBe('4')
    await button(page, '放弃修改').click()
    await button(question, '放弃修改').click()
    await expect.poll(() => box(page, 'house-model 输入 / 1M').inputValue()).toBe('3')
    await context.close()
  })

  test.runIf(long)('taking back what an upstream listed undoes nothing that others have changed since', async () => {
    const { id } = await app.make.channel({ name: 'Marked', models: 'gpt-4o,house-model' })
    await app.pool.query(`insert into channel_drifts (channel_id, added, missing) values ($1, 'gpt-4.1', 'gpt-4o')`, [
      id,
    ])
    const models = async () =>
      (await app.pool.query<{ models: string }>('select models from channels where id = $1', [id])).rows[0]?.models
    const { page, context } = await open('/admin/channels')
    await page.getByRole('img', { name: '上游新增 1 个模型，减少 1 个' }).waitFor()
    await pressInToast(page, { words: '「Marked」的模型已与上游一致', button: '撤销' }, async () => {
      await act(page, 'Marked', '与上游的模型保持一致')
      await expect.poll(models).toBe('house-model,gpt-4.1')
      await app.trpc(root).admin.channels.update.mutate({ id, models: ['house-model', 'gpt-4.1', 'o3'] })
    })
    await toastShown(page, '内容已在别处被修改')
    expect(await models()).toBe('house-model,gpt-4.1,o3')
    await context.close()
  })

  test.runIf(long)('the form of a code stays as typed when its row leaves, and opens by a link', async () => {
    const code = { quota: 500_000, count: 1, isGift: false, maxUses: -1, validFrom: null, validUntil: null, key: '' }
    const { redemptions } = app.trpc(root).admin
    await redemptions.create.mutate({ ...code, name: 'Spring' })
    const id = (await redemptions.list.query({})).items[0]?.id
    const { page, context } = await open('/admin/coupons')
    await page.getByRole('cell', { name: 'Spring', exact: true }).click()
    const drawer = page.getByRole('dialog', { name: '编辑兑换码' })
    await expect.poll(() => box(drawer, '名称').inputValue()).toBe('Spring')
    await drawn(page)
    await box(drawer, '名称').fill('Summer')
    await redemptions.create.mutate({ ...code, name: 'Later', count: 10 })
    await reconnect(page, /admin\.redemptions\.list/)
    const left = page.getByRole('cell', { name: 'Spring', exact: true, includeHidden: true })
    expect(await left.count()).toBe(0)
    expect(await box(drawer, '名称').inputValue()).toBe('Summer')
    await page.goto(`/admin/coupons?edit=${id}`)
    await expect.poll(() => box(drawer, '名称').inputValue()).toBe('Spring')
    await context.close()
  })

  test.runIf(long)('the form of a plan stays open as typed when somebody else removes the plan', async () => {
    const { page, context } = await open('/admin/plans?edit=-1')
    const made = page.getByRole('dialog', { name: '添加套餐' })
    await box(made, '名称').fill('Light')
    await button(made, '创建').click()
    await toastShown(page, '创建成功')
    await page.getByRole('cell', { name: 'Light', exact: true }).click()
    const drawer = page.getByRole('dialog', { name: '编辑套餐' })
    await box(drawer, '描述').fill('For small teams')
    const [plan] = await app.trpc(root).admin.plans.list.query()
    await app.trpc(root).admin.plans.remove.mutate({ id: plan?.id ?? 0 })
    await reconnect(page, /admin\.plans\.list/)
    expect(await box(drawer, '描述').inputValue()).toBe('For small teams')
    await context.close()
  })

  test('what was typed stays when the session ends, and is saved once the same account is back', async () => {
    const { page, context } = await open('/admin/plans?edit=-1')
    const drawer = page.getByRole('dialog', { name: '添加套餐' })
    await box(drawer, '名称').fill('Kept')
    await drawn(page)
    const expireIn = (days: number) =>
      app.pool.query("update sessions set expires_at = now() + $1 * interval '1 day'", [days])
    await expireIn(-1)
    await button(drawer, '创建').click()
    const failure = drawer.getByRole('alert').filter({ hasText: '没有保存：未登录或登录已过期' })
    await failure.getByRole('link', { name: '在新标签页登录' }).waitFor()
    expect(new URL(page.url()).pathname).toBe('/admin/plans')
    expect(await box(drawer, '名称').inputValue()).toBe('Kept')
    await page.getByText('您已退出登录，或登录已过期').waitFor()
    await expireIn(1)
    // Opened windows remember the reader, as a login does.
    const other = await context.newPage()
    await other.goto('/about')
    await page.getByText('您已退出登录，或登录已过期').waitFor({ state: 'detached' })
    // Another language, whose words this tab does not have, takes nothing away either.
    await other.evaluate(() => localStorage.setItem('i18nextLng', 'en'))
    const english = page.getByRole('dialog', { name: 'Add plan' })
    expect(await box(english, 'Name').inputValue()).toBe('Kept')
    await button(english, 'Create').click()
    await page.getByRole('cell', { name: 'Kept', exact: true }).waitFor()
    await context.close()
  })

  test('a number that is none, in a field that has gone, keeps nobody from saving', async () => {
    const { page, context } = await open('/app/tokens')
    await button(page, '新建令牌').first().click()
    const drawer = page.getByRole('dialog', { name: '新建令牌' })
    await box(drawer, '名称').fill('unlimited')
    await box(drawer, '令牌额度').fill('')
    await button(drawer, '创建').click()
    await drawer.locator('[aria-invalid=true]').waitFor()
    await drawer.getByText('不限额度', { exact: true }).click()
    await button(drawer, '创建').click()
    await page.getByRole('dialog', { name: '接入说明' }).getByText('unlimited', { exact: true }).waitFor()
    await context.close()
  })

  test('a name that is typed while another is being saved stays as a change, and what was saved is none any more', async () => {
    const reader = await app.make.user()
    const { page, context } = await openConsole(browser, app, { reader, path: '/app/me' })
    const { account: elsewhere } = app.trpc(reader).user
    await box(page, '显示名称').fill('Able seaman')
    const saved = '用户信息更新成功！'
    const text = `${reader.username}-2`
    await typeWhileSaving(page, { procedure: /account\.update(\?|$)/, name: '用户名', text, saved })
    expect(await elsewhere.get.query()).toMatchObject({ username: reader.username, displayName: 'Able seaman' })
    await elsewhere.update.mutate({ displayName: 'Bosun' })
    await button(page, '保存').click()
    await toastShown(page, saved)
    expect(await elsewhere.get.query()).toMatchObject({ username: text, displayName: 'Bosun' })
    await expect.poll(() => box(page, '显示名称').inputValue()).toBe('Bosun')
    expect(await button(page, '保存').isDisabled()).toBe(true)
    await context.close()
  })

  test.runIf(long)('a setting typed while others are saved stays a change, and what was saved is none', async () => {
    const reader = await app.make.user()
    const { page, context } = await openConsole(browser, app, { reader, path: '/app/me?tab=notify' })
    const { account: elsewhere } = app.trpc(reader).user
    await box(page, '通知邮箱').fill('sailor@x.example')
    await typeWhileSaving(page, thresholdMeanwhile)
    expect((await elsewhere.get.query()).settings).toMatchObject({
      notificationEmail: 'sailor@x.example',
      quotaWarningThreshold: null,
    })
    await elsewhere.updateSettings.mutate({ notifyType: 'email', notificationEmail: 'bosun@x.example' })
    await button(page, '保存').click()
    await toastShown(page, '设置已更新')
    expect((await elsewhere.get.query()).settings).toMatchObject({
      notificationEmail: 'bosun@x.example',
      quotaWarningThreshold: 1_500_000,
    })
    await context.close()
  })

  test.runIf(long)('what was typed during a save stays when the session has ended by the next one', async () => {
    const reader = await app.make.user()
    const { page, context } = await openConsole(browser, app, { reader, path: '/app/me?tab=notify' })
    await box(page, '通知邮箱').fill('sailor@x.example')
    await typeWhileSaving(page, thresholdMeanwhile)
    await app.pool.query("update sessions set expires_at = now() - interval '1 day' where user_id = $1", [reader.id])
    await button(page, '保存').click()
    await page.getByText('您已退出登录，或登录已过期').waitFor()
    expect(await box(page, '额度预警阈值').inputValue()).toBe('3')
    await context.close()
  })

  test('a form that goes with its save takes nothing meanwhile, and goes on in the same field where that fails', async () => {
    const { page, context } = await open('/admin/plans?edit=-1')
    const drawer = page.getByRole('dialog', { name: '添加套餐' })
    const name = box(drawer, '名称')
    await name.fill('Held')
    const { promise: held, resolve: release } = Promise.withResolvers<void>()
    await page.route(/plans\.create/, async (route) => {
      await held
      await route.fulfill({ status: 503, contentType: 'text/plain', body: '' })
    })
    const asked = page.waitForRequest(/plans\.create/)
    await name.press('Enter')
    await asked
    await expect.poll(() => name.isDisabled()).toBe(true)
    await page.keyboard.type('and typed')
    release()
    await drawer.getByRole('alert').filter({ hasText: '没有保存：' }).waitFor()
    await drawer.locator('[name=name]:focus').waitFor()
    expect(await name.inputValue()).toBe('Held')
    await context.close()
  })

  test.runIf(long)('the form of a token begins with what is stored, also where its caps come late', async () => {
    const reader = await app.make.user()
    const { id } = await app.make.token(reader)
    const { page, context } = await openConsole(browser, app, { reader, path: `/app/tokens?form=${id}` })
    const drawer = page.getByRole('dialog', { name: '编辑令牌' })
    await expect.poll(() => box(drawer, '名称').inputValue()).toMatch(/^token /)
    await drawn(page)
    await button(drawer, '取消').click()
    await drawer.waitFor({ state: 'hidden' })
    await app.pool.query(`update tokens set name = 'Since' where id = $1`, [id])
    const caps = await holdBack(page, /spendCaps\.list/)
    await page.clock.setSystemTime(Date.now() + 3_600_000)
    await page.evaluate(() => {
      window.dispatchEvent(new Event('offline'))
      window.dispatchEvent(new Event('online'))
    })
    await caps.asked
    const token = await holdBack(page, /tokens\.get/)
    await follow(page, `/app/tokens?form=${id}`)
    await token.asked
    const known = page.waitForResponse(/spendCaps\.list/)
    caps.release()
    await (await known).finished()
    token.release()
    await drawn(page)
    await expect.poll(() => box(drawer, '名称').inputValue()).toBe('Since')
    await context.close()
  })

  test('a code that was redeemed leaves its field', async () => {
    const reader = await app.make.user()
    const [key = ''] = await app.trpc(root).admin.redemptions.create.mutate({ name: 'Gift', quota: 500_000 })
    const { page, context } = await openConsole(browser, app, { reader, path: '/app/wallet' })
    await box(page, '您的兑换码').fill(key)
    await button(page, '兑换').click()
    await toastShown(page, '兑换成功')
    await expect.poll(() => box(page, '您的兑换码').inputValue()).toBe('')
    await context.close()
  })

  test('signing out asks before it takes what was typed along', async () => {
    const { page, context } = await openConsole(browser, app, { reader: await app.make.user(), path: '/app/me' })
    await box(page, '显示名称').fill('Someone')
    const signOut = async () => {
      await page.keyboard.press('ControlOrMeta+k')
      await page.getByRole('option', { name: '退出' }).click()
    }
    const question = page.getByRole('alertdialog')
    await signOut()
    await button(question, '继续编辑').click()
    expect(await box(page, '显示名称').inputValue()).toBe('Someone')
    await signOut()
    await button(question, '放弃修改').click()
    await page.waitForURL(/login/)
    await context.close()
  })

  test.runIf(long)('the keyboard leads through a form with JSON, which closes without a question', async () => {
    const { page, context } = await open('/admin/channels?form=new')
    const drawer = page.getByRole('dialog', { name: '添加渠道' })
    await drawer.locator(':focus').waitFor()
    const mapping = box(drawer, '模型映射')
    await mapping.focus()
    await page.keyboard.press('Tab')
    expect(await mapping.evaluate((field) => field === document.activeElement)).toBe(false)
    expect(await mapping.inputValue()).toBe('')
    await page.keyboard.press('Escape')
    await drawer.waitFor({ state: 'hidden' })
    await context.close()
  })
})
