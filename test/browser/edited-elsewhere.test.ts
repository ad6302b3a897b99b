import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { describeWithBrowser } from '../support/chromium.ts'
import { long } from '../support/long.ts'
import { setOptions } from '../relay/serve.ts'
import { drawn, openConsole, startInBrowser, toastShown } from './console.ts'
import { act, box, button } from './parts.ts'

const refusal = '没有保存：内容已在别处被修改；请关闭后重新打开，再作修改。'

describeWithBrowser('what somebody else saves while a form is open', async () => {
  const { app, browser } = await startInBrowser()
  const root = await app.make.user({ username: 'root', role: 100 })
  const api = app.trpc(root).admin
  const open = (path: string) => openConsole(browser, app, { reader: { ...root, role: 100 }, path })

  /** Types into the form of a record, has somebody else change that, and opens it again once the save is refused. */
  async function overtake(
    page: Page,
    { form, field, typed, change }: { form: string; field: string; typed: string; change: () => Promise<unknown> },
  ) {
    const drawer = page.getByRole('dialog', { name: form })
    await drawer.waitFor()
    await drawn(page)
    await expect.poll(() => box(drawer, field).inputValue()).not.toBe('')
    await box(drawer, field).fill(typed)
    await change()
    await button(drawer, '保存').click()
    await drawer.getByRole('alert').filter({ hasText: refusal }).waitFor()
    expect(await box(drawer, field).inputValue()).toBe(typed)
    return drawer
  }

  const plan = {
    name: 'Light',
    price: 500_000,
    term: 'month' as const,
    windows: [{ period: 'day' as const, amount: 5 }],
  }

  test('keeps its price, though a plan is renamed here, and stands in the form when it is opened again', async () => {
    const { id } = await api.plans.create.mutate(plan)
    const { page, context } = await open('/admin/plans')
    const row = page.getByRole('cell', { name: 'Light', exact: true })
    await row.click()
    const change = () => api.plans.update.mutate({ ...plan, id, price: 2_000_000 })
    const drawer = await overtake(page, { form: '编辑套餐', field: '名称', typed: 'Lighter', change })
    const [stored] = await api.plans.list.query()
    expect(stored).toMatchObject({ name: 'Light', price: 2_000_000 })
    await button(drawer, '取消').click()
    await button(page.getByRole('alertdialog'), '放弃修改').click()
    await drawer.waitFor({ state: 'hidden' })
    await page.getByRole('cell', { name: '$4.00', exact: true }).waitFor()
    await row.click()
    await expect.poll(() => box(drawer, '价格').inputValue()).toBe('4')
    await drawn(page)
    await box(drawer, '名称').fill('Lighter')
    await button(drawer, '保存').click()
    await drawer.waitFor({ state: 'hidden' })
    expect((await api.plans.list.query())[0]).toMatchObject({ name: 'Lighter', price: 2_000_000 })
    await context.close()
  })

  test('keeps the amount of a code', async () => {
    await api.redemptions.create.mutate({ name: 'Spring', quota: 500_000 })
    const id = (await api.redemptions.list.query({})).items[0]?.id ?? 0
    const { page, context } = await open(`/admin/coupons?edit=${id}`)
    const change = () => api.redemptions.update.mutate({ id, name: 'Spring', quota: 100_000 })
    await overtake(page, { form: '编辑兑换码', field: '名称', typed: 'Summer', change })
    expect(await api.redemptions.get.query({ id })).toMatchObject({ name: 'Spring', quota: 100_000 })
    await context.close()
  })

  test.runIf(long)('keeps the words of a message', async () => {
    const text = { title: 'Notice', content: 'Old words', format: 'markdown' as const }
    const { id } = await api.messages.create.mutate({ ...text, recipients: { userIds: [root.id] } })
    const { page, context } = await open(`/admin/messages?edit=${id}`)
    const change = () => api.messages.update.mutate({ ...text, id, content: 'New words' })
    await overtake(page, { form: '编辑消息', field: '标题', typed: 'Other', change })
    expect(await api.messages.get.query({ id })).toMatchObject({ title: 'Notice', content: 'New words' })
    await context.close()
  })

  test('keeps the name of a user, and another field may be saved beside it', async () => {
    const { id } = await app.make.user({ username: 'anna' })
    const { page, context } = await open(`/admin/users?edit=${id}`)
    const change = () => api.users.update.mutate({ id, username: 'hannah', displayName: 'Hannah' })
    const drawer = await overtake(page, { form: '编辑用户', field: '用户名', typed: 'ann', change })
    expect(await api.users.get.query({ id })).toMatchObject({ username: 'hannah' })
    await box(drawer, '用户名').fill('anna')
    await box(drawer, '增加额度').fill('2')
    await box(drawer, '调整原因').fill('Refund')
    await button(drawer, '保存').click()
    await drawer.waitFor({ state: 'hidden' })
    expect(await api.users.get.query({ id })).toMatchObject({ username: 'hannah' })
    await context.close()
  })

  test.runIf(long)('keeps the group of a token', async () => {
    const { tokens } = app.trpc(root).user
    const { id } = await tokens.create.mutate({ name: 'Script' })
    const { page, context } = await open('/app/tokens')
    await button(page, '操作 Script').click()
    await page.getByRole('menuitem', { name: '编辑', exact: true }).click()
    const change = () => tokens.update.mutate({ id, name: 'Script', group: 'vip', isDocumented: true })
    await overtake(page, { form: '编辑令牌', field: '名称', typed: 'Robot', change })
    expect(await tokens.get.query({ id })).toMatchObject({ name: 'Script', group: 'vip' })
    await context.close()
  })

  const overtaken = (model: string) => `${model} 的价格已被其他人修改；请核对后再次保存`
  const price = (model: string) => {
    const { options } = app.services
    return (['ModelRatio', 'CompletionRatio', 'CacheRatio'] as const).map((key) => options.get(key)[model])
  }

  test('keeps a price that is edited in the settings, until it is saved or removed once more', async () => {
    const { page, context } = await open('/admin/settings?ratio=visual&model=gpt-4o&price=gpt-4o')
    const drawer = page.getByRole('dialog', { name: '编辑模型价格' })
    await expect.poll(() => box(drawer, '输入价格').inputValue()).toBe('2.5')
    await drawn(page)
    await box(drawer, '缓存价格').fill('1')
    const setElsewhere = (completionRatio: number) =>
      api.models.setPrices.mutate({ prices: [{ model: 'gpt-4o', modelRatio: 1.25, completionRatio, cacheRatio: 0.5 }] })
    await setElsewhere(6)
    await button(drawer, '保存').click()
    await drawer
      .getByRole('alert')
      .filter({ hasText: `没有保存：${overtaken('gpt-4o')}` })
      .waitFor()
    expect([price('gpt-4o'), await box(drawer, '缓存价格').inputValue()]).toEqual([[1.25, 6, 0.5], '1'])
    // Whoever saves again has read it.
    await button(drawer, '保存').click()
    await drawer.waitFor({ state: 'hidden' })
    expect(price('gpt-4o')).toEqual([1.25, undefined, 0.4])

    await act(page, 'gpt-4o', '删除')
    const question = page.getByRole('alertdialog')
    await question.waitFor()
    await setElsewhere(7)
    await button(question, '删除').click()
    await question
      .getByRole('alert')
      .filter({ hasText: overtaken('gpt-4o') })
      .waitFor()
    expect(price('gpt-4o')).toEqual([1.25, 7, 0.5])
    await button(question, '删除').click()
    await question.waitFor({ state: 'detached' })
    expect(price('gpt-4o')).toEqual([undefined, undefined, undefined])
    await context.close()
  })

  test.runIf(long)('keeps a price that was added under the name added here, until it is saved once more', async () => {
    const { page, context } = await open('/admin/settings?ratio=visual&price=%2B')
    const drawer = page.getByRole('dialog', { name: '添加模型价格' })
    await box(drawer, '模型名称').fill('late-model')
    await box(drawer, '输入价格').fill('3')
    await drawn(page)
    await api.models.setPrices.mutate({ prices: [{ model: 'late-model', modelRatio: 9 }] })
    await button(drawer, '保存').click()
    await drawer
      .getByRole('alert')
      .filter({ hasText: `没有保存：${overtaken('late-model')}` })
      .waitFor()
    expect([price('late-model')[0], await box(drawer, '输入价格').inputValue()]).toEqual([9, '3'])
    await button(drawer, '保存').click()
    await drawer.waitFor({ state: 'hidden' })
    expect(price('late-model')[0]).toBe(1.5)
    await context.close()
  })

  test.runIf(long)('is not asked about: password login, switched off elsewhere', async () => {
    const { page, context } = await open('/admin/settings?tab=system')
    const toggle = page.getByRole('checkbox', { name: '允许通过密码进行登录' })
    await toggle.waitFor({ state: 'attached' })
    await drawn(page)
    await setOptions(app, { PasswordLoginEnabled: 'false' })
    // Its own save reads all of them again.
    await page.getByText('允许通过密码进行注册').click()
    await button(page, '保存').click()
    await toastShown(page, '保存成功')
    await expect.poll(() => toggle.isChecked()).toBe(false)
    await drawn(page)
    expect(await page.getByRole('alertdialog').count()).toBe(0)
    await context.close()
  })

  test.runIf(long)('keeps the price of a model that had none when its channel offered to set one', async () => {
    await app.make.channel({ name: 'Fresh', models: 'house-model,other-model' })
    // What is left of an earlier price is none.
    await app.make.option('CacheRatio', '{"house-model":0.25}')
    await app.settled()
    await app.services.options.reload()
    const { page, context } = await open('/admin/channels')
    await button(page, 'Fresh：2 个模型没有价格，设置价格').click()
    const dialog = page.getByRole('dialog', { name: '为 2 个模型设置价格' })
    await box(dialog, 'house-model 输入').fill('3')
    await box(dialog, 'other-model 输入').fill('4')
    await drawn(page)
    await api.models.setPrices.mutate({ prices: [{ model: 'other-model', modelRatio: 9, completionRatio: 2 }] })
    const save = button(dialog, '设置 2 个价格')
    await save.click()
    await dialog
      .getByRole('alert')
      .filter({ hasText: `没有保存：${overtaken('other-model')}` })
      .waitFor()
    expect(price('other-model')).toEqual([9, 2, undefined])
    expect(await box(dialog, 'other-model 输入').inputValue()).toBe('4')
    await save.click()
    await dialog.waitFor({ state: 'hidden' })
    expect([price('house-model')[0], price('other-model')]).toEqual([1.5, [2, undefined, undefined]])
    await context.close()
  })
})
