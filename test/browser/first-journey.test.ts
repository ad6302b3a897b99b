import type { Locator, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { describeWithBrowser } from '../support/chromium.ts'
import { escape, openConsole, startInBrowser } from './console.ts'

const account = { username: 'captain', password: 'a good long one' }

/** 1000 prompt and 500 completion tokens at a ratio of 0.075 and a completion ratio of 4. */
const prompt = '[[usage=1000:500,words=24,gate=seen,gateat=8]] Tell me something'
const charge = { quota: 225, shown: '$0.000450' }

const box = (place: Page | Locator, name: string): Locator => place.getByRole('textbox', { name, exact: true })

/** Waits until the checklist has ticked these, and of the others none. */
async function doneSteps(page: Page, titles: string[]): Promise<void> {
  const steps = page.getByRole('region', { name: '开始使用' }).getByRole('listitem')
  const done = async () =>
    await steps
      .filter({ has: page.getByLabel('已完成') })
      .getByRole('link')
      .allTextContents()
  await steps.first().waitFor()
  await expect.poll(done).toEqual(titles)
}

async function setUp(page: Page): Promise<void> {
  await page.goto('/')
  await page.waitForURL('**/setup')
  await box(page, '管理员用户名').fill(account.username)
  await box(page, '密码').fill(account.password)
  await box(page, '确认密码').fill('another one')
  await page.getByRole('button', { name: '初始化系统' }).click()
  await page.getByText('两次输入的密码不一致').waitFor()
  await box(page, '确认密码').fill(account.password)
  // It leads on by itself soon after: not before it was read here.
  const read = Promise.withResolvers<void>()
  await page.route('**/app/tokens', async (route) => {
    await read.promise
    await route.continue()
  })
  await page.getByRole('button', { name: '初始化系统' }).click()
  await page.getByText('系统初始化成功').waitFor()
  read.resolve()
  // The founder is signed in at once; the way in is tried all the same.
  await page.waitForURL('**/app/tokens')
  await doneSteps(page, [])
  await page.context().clearCookies()
  await page.evaluate(() => localStorage.removeItem('user'))
  await page.goto('/')
}

async function signIn(page: Page): Promise<void> {
  // A protected page leads to the login and back.
  await page.goto('/admin/channels')
  await page.waitForURL('**/login?*returnTo=*')
  await box(page, '用户名或邮箱').fill(account.username)
  await box(page, '密码').fill('wrong password')
  await page.getByRole('main').getByRole('button', { name: '登录', exact: true }).click()
  await page.getByText('用户名或密码错误，或账号已被封禁').waitFor()
  await box(page, '密码').fill(account.password)
  await page.getByRole('main').getByRole('button', { name: '登录', exact: true }).click()
  await page.waitForURL('**/admin/channels')
}

/** Each step leads to where it is done. */
const takeStep = (page: Page, title: string): Promise<void> =>
  page.getByRole('region', { name: '开始使用' }).getByRole('link', { name: title, exact: true }).click()

async function addChannel(page: Page, upstream: string): Promise<void> {
  await takeStep(page, '添加渠道')
  const drawer = page.getByRole('dialog')
  await box(drawer, '名称').fill('First channel')
  await box(drawer, '密钥').fill('sk-upstream')
  await drawer.locator('[name=baseUrl]').fill(upstream)
  await box(drawer, '自定义模型名称').fill('gpt-4o-mini')
  await page.keyboard.press('Enter')
  await drawer.getByRole('button', { name: '创建', exact: true }).click()
  await page.getByRole('cell', { name: 'First channel', exact: true }).waitFor()
  await doneSteps(page, ['添加渠道', '设置价格'])
  const folder = process.env['IMAGES']
  if (folder) await page.screenshot({ path: `${folder}/first-steps.png` })
}

/** The last step of the checklist, which is then no more to be seen. */
async function testChannel(page: Page): Promise<void> {
  await page.getByRole('link', { name: '渠道', exact: true }).click()
  await doneSteps(page, ['添加渠道', '设置价格', '创建令牌', '完成首次调用'])
  await takeStep(page, '测试渠道')
  const tests = page.getByRole('dialog', { name: '测试模型' })
  await tests.getByRole('button', { name: '测试 gpt-4o-mini', exact: true }).click()
  await tests.getByText('成功 1，失败 0，未测试 0').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('region', { name: '开始使用' }).waitFor({ state: 'detached' })
}

async function makeToken(page: Page): Promise<string> {
  await takeStep(page, '设置价格')
  await page.waitForURL('**/admin/prices?show=missing')
  await takeStep(page, '创建令牌')
  const drawer = page.getByRole('dialog')
  await box(drawer, '名称').fill('My program')
  await drawer.getByRole('button', { name: '$10', exact: true }).click()
  await drawer.getByRole('button', { name: '创建', exact: true }).click()
  await page.getByText('密钥已经创建').waitFor()
  await page.getByRole('button', { name: '测试连接' }).click()
  await page.getByText('1 个模型').waitFor()
  await page
    .getByText(/You said/)
    .first()
    .waitFor()
  const key = await page
    .getByText(/^sk-\w{48}$/)
    .first()
    .textContent()
  await page.keyboard.press('Escape')
  await page.getByRole('cell', { name: 'My program', exact: true }).waitFor()
  await doneSteps(page, ['添加渠道', '设置价格', '创建令牌', '完成首次调用'])
  await takeStep(page, '完成首次调用')
  const use = page.getByRole('dialog')
  await use.getByRole('button', { name: '测试连接' }).waitFor()
  await escape(page, use)
  return key ?? ''
}

/** What stands of the reply while its end is still to come, and the whole of it. */
async function chat(page: Page, goOn: () => void): Promise<{ part: string; complete: string }> {
  await page.getByRole('link', { name: '操练场' }).click()
  await box(page, '消息').fill(prompt)
  // It can be pressed once the model is known.
  await page.getByRole('button', { name: '发送', exact: true }).click()
  const beginning = page.locator('[data-reply=incomplete]').getByText(/^You said: \S/)
  const part = await beginning.innerText()
  goOn()
  const complete = await page.locator('[data-reply=complete]').innerText()
  return { part: part.trim(), complete }
}

describeWithBrowser('the first hour of an installation', async () => {
  const { app, browser } = await startInBrowser({ setUp: false })

  test('goes from setup to a charged chat without leaving the console', async () => {
    const { page, complaints } = await openConsole(browser, app)
    await setUp(page)
    await signIn(page)
    await addChannel(page, app.upstream.url)
    const key = await makeToken(page)
    expect(key).toMatch(/^sk-[0-9A-Za-z]{48}$/)

    const { part, complete } = await chat(page, () => app.upstream.openGate('seen'))
    expect(complete).toContain(part)
    expect(complete.length).toBeGreaterThan(part.length)
    await expect.poll(() => page.locator('[data-charge=exact]').textContent()).toBe(charge.shown)

    const charged = (await app.logs()).filter(({ quota }) => quota === charge.quota)
    expect(charged).toMatchObject([
      { type: 2, model_name: 'gpt-4o-mini', prompt_tokens: 1000, completion_tokens: 500, is_stream: true },
    ])
    await testChannel(page)
    await page.goto('/app/logs/api-usage')
    await page.getByText(charge.shown).first().waitFor()
    expect(await app.violations()).toEqual([])
    expect(complaints).toEqual([])
  })
})
