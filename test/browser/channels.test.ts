import AxeBuilder from '@axe-core/playwright'
import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { App } from '../support/app.ts'
import { startApp } from '../support/app.ts'
import { describeWithBrowser, launchBrowser } from '../support/chromium.ts'
import type { TestUser } from '../support/factories.ts'
import type { Look } from './console.ts'
import { builtConsole, drawn, openConsole, toastShown } from './console.ts'

const box = (place: Page | Locator, name: string): Locator => place.getByRole('textbox', { name, exact: true })
const button = (place: Page | Locator, name: string | RegExp): Locator =>
  place.getByRole('button', { name, exact: typeof name === 'string' })

/** Chooses in the menu at the end of a row. */
async function act(page: Page, name: string, action: string): Promise<void> {
  await button(page, `操作 ${name}`).click()
  await page.getByRole('menuitem', { name: action, exact: true }).click()
}

const serious = async (page: Page): Promise<string[]> => {
  const { violations } = await new AxeBuilder({ page }).analyze()
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html.slice(0, 160)).join(' | ')}`)
}

describeWithBrowser('channels', () => {
  let app: App
  let browser: Browser
  let root: TestUser

  beforeAll(async () => {
    await builtConsole()
    app = await startApp()
    await app.pool.query("insert into setup_records (id, version, initialized_at) values (1, '0', now())")
    root = await app.make.user({ username: 'root', role: 100 })
    browser = await launchBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await app?.[Symbol.asyncDispose]()
  })

  const open = async (path: string, look: Look = {}) => {
    const opened = await openConsole(browser, app, { ...look, reader: { ...root, role: 100 } })
    await opened.page.goto(path)
    return opened
  }
  const channelNamed = async (name: string) =>
    (await app.pool.query('select * from channels where name = $1', [name])).rows[0] as
      | { id: number; models: string; status: number; priority: number; base_url: string }
      | undefined

  test('a form that was only opened shows no errors', async () => {
    const { page, context } = await open('/channel/add')
    const drawer = page.getByRole('dialog', { name: '添加渠道' })
    await box(drawer, '名称').waitFor()
    // The focus settles in the dialog after its content is there; leaving a field is what judges it.
    await drawer.locator(':focus').waitFor()
    await drawn(page)
    expect(await drawer.locator('[aria-invalid=true]').count()).toBe(0)
    await context.close()
  })

  test('lead from an empty list to a tested, priced, changed and deleted channel', async () => {
    const { page, complaints } = await open('/admin/channels')
    await page.getByText('还没有渠道').waitFor()
    await button(page, '添加渠道').first().click()
    const drawer = page.getByRole('dialog', { name: '添加渠道' })

    // Nothing is sent before it is complete, and each complaint stands at its field.
    await button(drawer, '创建').click()
    await drawer.getByText('请填写渠道名称和渠道密钥！').first().waitFor()
    await drawer.getByText('请至少选择一个模型！').waitFor()

    await box(drawer, '名称').fill('Simulated')
    await box(drawer, 'API 地址').fill(`${app.upstream.url}/`)
    await box(drawer, '密钥').fill('sk-one')
    await button(drawer, '从上游获取').click()
    const picker = page.getByRole('dialog', { name: '选择模型' })
    await picker.getByText('text-embedding-3-small').waitFor()
    await picker.getByRole('checkbox', { name: 'gpt-4o-mini' }).check()
    await picker.getByRole('checkbox', { name: 'gpt-4o', exact: true }).check()
    await button(picker, '确认').click()
    await box(drawer, '自定义模型名称').fill('house-model')
    await page.keyboard.press('Enter')
    await drawer.getByText('1 个模型没有价格').waitFor()
    await button(drawer, '创建').click()

    // A newcomer's first call must not fail for want of a price.
    const prices = page.getByRole('dialog', { name: '为 1 个模型设置价格' })
    await box(prices, 'house-model 输入').fill('3')
    await box(prices, 'house-model 输出').fill('6')
    await button(prices, '设置 1 个价格').click()
    await toastShown(page, '已设置 1 个模型的价格')
    expect(await channelNamed('Simulated')).toMatchObject({
      models: 'gpt-4o-mini,gpt-4o,house-model',
      base_url: app.upstream.url,
    })
    expect(app.services.options.get('ModelRatio')['house-model']).toBe(1.5)

    await button(page, '测试 Simulated').click()
    const tests = page.getByRole('dialog', { name: '测试模型' })
    await button(tests, '测试全部 3 个').click()
    await tests.getByText('成功 3，失败 0，未测试 0').waitFor()
    await button(tests, '关闭').click()
    await page.getByRole('img', { name: '最近 3 次测试，失败 0 次' }).waitFor()

    const priority = box(page, 'Simulated 的优先级')
    await priority.fill('7')
    await priority.press('Enter')
    await expect.poll(async () => (await channelNamed('Simulated'))?.priority).toBe(7)

    await button(page, '编辑 Simulated').click()
    const editor = page.getByRole('dialog', { name: '编辑渠道' })
    await expect.poll(() => box(editor, '名称').inputValue()).toBe('Simulated')
    await box(editor, '名称').fill('Renamed')
    await button(editor, '保存').click()
    await toastShown(page, '渠道更新成功！')
    await page.getByRole('cell', { name: 'Renamed', exact: true }).waitFor()

    await act(page, 'Renamed', '禁用')
    await toastShown(page, '已禁用「Renamed」')
    expect((await channelNamed('Renamed'))?.status).toBe(2)

    await act(page, 'Renamed', '删除')
    const question = page.getByRole('alertdialog')
    await question.getByRole('textbox').fill('Renamed')
    await button(question, '删除').click()
    await page.getByText('还没有渠道').waitFor()
    expect(await channelNamed('Renamed')).toBeUndefined()
    expect(complaints).toEqual([])
  })

  test('ask for the key again when an administrator changes the address of a channel', async () => {
    const { id } = await app.make.channel({ name: 'Aimed', models: 'gpt-4o-mini' })
    const admin = await app.make.user({ username: 'admin', role: 10 })
    const { page, context } = await openConsole(browser, app, { reader: { ...admin, role: 10 } })
    await page.goto(`/channel/edit/${id}`)
    const editor = page.getByRole('dialog', { name: '编辑渠道' })
    await expect.poll(() => box(editor, '名称').inputValue()).toBe('Aimed')
    expect(await box(editor, '密钥').inputValue()).toBe('')
    await box(editor, 'API 地址').fill('https://elsewhere.example/v1')
    await editor.getByText('地址以 /v1 结尾').waitFor()
    await button(editor, '保存').click()
    await editor.getByText('修改接口地址或类型时需要重新填写密钥').waitFor()
    expect((await channelNamed('Aimed'))?.base_url).toBe(app.upstream.url)
    await context.close()
    await app.pool.query('delete from channels where id = $1', [id])
  })

  test('retry failed tests, remove failed models, and never remove the last model', async () => {
    const { id } = await app.make.channel({ name: 'Failing', models: 'gpt-4o,gpt-4o-mini', modelMapping: '' })
    const broken = app.upstream.withDirectives('status=401')
    const { page, context } = await open(`/admin/channels?test=${id}`)
    const tests = page.getByRole('dialog', { name: '测试模型' })
    await button(tests, '测试 gpt-4o').click()
    await tests.getByText('成功 1，失败 0，未测试 1').waitFor()
    await app.pool.query('update channels set base_url = $2 where id = $1', [id, broken])
    await button(tests, '测试 gpt-4o-mini').click()
    await button(tests, '重试失败的 1 个').click()
    await tests.getByText('成功 1，失败 1，未测试 0').waitFor()
    await button(tests, '删除失败的模型').click()
    await button(page.getByRole('alertdialog'), '删除').click()
    await toastShown(page, '已删除 1 个模型')
    expect((await channelNamed('Failing'))?.models).toBe('gpt-4o')
    await button(tests, '测试 gpt-4o').click()
    await tests.getByText('成功 0，失败 1，未测试 0').waitFor()
    await button(tests, '删除失败的模型').click()
    await toastShown(page, '没有删除：删除后渠道将没有任何模型')
    expect((await channelNamed('Failing'))?.models).toBe('gpt-4o')
    await context.close()
    await app.pool.query('delete from channels where id = $1', [id])
  })

  test('fold by tag, and change all channels of a tag at once', async () => {
    const one = await app.make.channel({ name: 'East one', models: 'gpt-4o' })
    const two = await app.make.channel({ name: 'East two', models: 'gpt-4o' })
    await app.pool.query("update channels set tag = 'east' where id = any($1)", [[one.id, two.id]])
    const { page, context } = await open('/admin/channels')
    await page.getByRole('cell', { name: 'East one', exact: true }).waitFor()
    await button(page, '按标签聚合').click()
    await page.getByRole('cell', { name: 'East one', exact: true }).waitFor({ state: 'hidden' })
    await button(page, /east 2 个渠道/).click()
    await page.getByRole('cell', { name: 'East two', exact: true }).waitFor()
    const weight = box(page, 'east 的权重')
    await weight.fill('-4')
    await weight.press('Enter')
    await weight.fill('9')
    await weight.press('Enter')
    await expect
      .poll(async () => (await app.pool.query("select distinct weight from channels where tag = 'east'")).rows)
      .toEqual([{ weight: 9 }])
    await act(page, 'east', '全部禁用')
    await page.getByText('0/2 启用').waitFor()
    await context.close()
    await app.pool.query("delete from channels where tag = 'east'")
  })

  test.each([
    { theme: 'light', width: 1440, height: 900 },
    { theme: 'dark', width: 390, height: 844 },
  ] as const)('pass the accessibility check: $theme, $width px', async (look) => {
    const { id } = await app.make.channel({ name: 'Heard', models: 'gpt-4o,house-model-2', key: 'sk-a,sk-b' })
    await app.pool.query("update channels set tag = 'seen', status = 3, status_reason = 'no' where id = $1", [id])
    const views = [
      '/admin/channels',
      '/admin/channels?fold=true&unfolded=seen',
      `/admin/channels?open=${id}`,
      `/admin/channels?test=${id}`,
      '/admin/channels?editTag=seen',
      '/channel/add',
      `/channel/edit/${id}`,
    ]
    // All in one window, so that the console is fetched once.
    const reader = { ...root, role: 100 }
    const { page, context, complaints } = await openConsole(browser, app, { ...look, language: 'en', reader })
    for (const path of views) {
      await page.goto(path)
      await drawn(page)
      // A page behind a dialog is judged only once the dialog has the focus.
      if (/test=|editTag=|channel\//.test(path)) {
        await page.waitForFunction(() => document.activeElement?.closest('[role=dialog]') != null)
      }
      for (const summary of await page.locator('summary').all()) await summary.click()
      expect([path, await serious(page)]).toEqual([path, []])
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
      expect([path, Math.max(overflow, 0)]).toEqual([path, 0])
      expect([path, complaints]).toEqual([path, []])
    }
    await context.close()
    await app.pool.query('delete from channels where id = $1', [id])
  })
})
