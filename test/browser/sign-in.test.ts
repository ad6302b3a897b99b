import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWithBrowser, launchBrowser } from '../support/chromium.ts'
import { long } from '../support/long.ts'
import { createVisits } from '../support/sign-in/visits.ts'
import { type SignInWorld, startSignInWorld } from '../support/sign-in/world.ts'
import { violationsOf } from './accessibility.ts'
import { builtConsole, drawn, follow, type Look, openConsole, toastShown } from './console.ts'

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })

/** Looked at by people: `IMAGES=folder npm test -- test/browser/sign-in.test.ts`. */
const look = async (page: Page, name: string) => {
  await drawn(page)
  const folder = process.env['IMAGES']
  if (folder) await page.screenshot({ path: `${folder}/sign-in-${name}.png`, fullPage: true })
}

describeWithBrowser('accounts elsewhere', () => {
  let world: SignInWorld
  let browser: Browser
  const { newUser, userOf } = createVisits(() => world)

  beforeAll(async () => {
    await builtConsole()
    world = await startSignInWorld()
    await world.setOptions({ WeChatAccountQRCodeImageURL: '/icon.svg' })
    browser = await launchBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await world?.[Symbol.asyncDispose]()
  })

  async function open(options: Look & Parameters<typeof openConsole>[2] = {}) {
    const opened = await openConsole(browser, world.app, options)
    // The widget of Telegram is a script of its own; nothing here leaves the machine.
    await opened.context.route('https://telegram.org/**', (route) =>
      route.fulfill({ body: '', contentType: 'text/javascript' }),
    )
    return opened
  }

  test('make an account, sign in to it again, and lead back to where the reader was going', async () => {
    const id = newUser('oidc', { preferred_username: 'trinity', name: 'Trinity' })
    const first = await open()
    await first.page.goto('/login?returnTo=/app/wallet')
    await look(first.page, 'login')
    await button(first.page, '使用 OIDC 继续').click()
    await first.page.waitForURL('**/app/wallet')
    await toastShown(first.page, '登录成功！')
    expect(await userOf('oidc', id)).toMatchObject({ username: 'trinity', display_name: 'Trinity' })
    await first.context.close()

    const second = await open()
    newUser('github', { name: 'Ann' })
    await second.page.goto('/register?aff=none')
    await look(second.page, 'register')
    // What cannot be an invitation replaces none.
    await second.page.goto('/register?aff=AbCd%3Futm_source%3Dnewsletter')
    await drawn(second.page)
    expect(await second.page.evaluate(() => localStorage.getItem('aff'))).toBe('none')
    await button(second.page, '使用 GitHub 继续').click()
    await second.page.waitForURL('**/app/tokens')
    expect([...first.complaints, ...second.complaints]).toEqual([])
    await second.context.close()
  })

  test('say on the login page why they signed nobody in, and the next attempt goes where the first would have gone', async () => {
    newUser('linuxdo')
    const { page, context, complaints } = await open()
    await page.goto('/oauth/github?code=stolen&state=made-up')
    await page.waitForURL('**/login')
    await page.getByRole('alert').getByText('登录状态校验失败，请重新登录').waitFor()
    await look(page, 'wrong-state')
    await page.goto('/login?returnTo=/app/me')
    world.linuxdo.behave('broken')
    // The provider itself is out of order only once it has sent the browser back.
    await page.route(`${world.linuxdo.url}/oauth2/authorize*`, async (route) => {
      const state = new URL(route.request().url()).searchParams.get('state') ?? ''
      await route.fulfill({
        status: 302,
        headers: { location: `${world.app.url}/oauth/linuxdo?code=x&state=${state}` },
      })
    })
    await button(page, '使用 Linux DO 继续').click()
    await page.waitForURL('**/login?returnTo=%2Fapp%2Fme')
    await page.getByText('无法连接至 Linux DO 服务器，请稍后重试！').waitFor()
    world.linuxdo.behave('normal')
    await page.unroute(`${world.linuxdo.url}/oauth2/authorize*`)
    await button(page, '使用 Linux DO 继续').click()
    await page.waitForURL('**/app/me')
    await page.goto('/oauth/nobody')
    await page.getByText('不支持的登录方式').waitFor()
    expect(complaints).toEqual([])
    await context.close()
  })

  test('are bound and unbound in the personal settings, with what went wrong said there', async () => {
    const reader = await world.app.make.user({ username: 'neo' })
    await world.sql(`update users set password_hash = 'x' where id = $1`, [reader.id])
    const { page, context, complaints } = await open({ reader })
    const id = newUser('github')
    await page.goto('/app/me')
    await page.getByRole('group', { name: 'GitHub' }).getByRole('button', { name: '绑定', exact: true }).click()
    await toastShown(page, 'GitHub 账户绑定成功！')
    await page.getByRole('group', { name: 'GitHub' }).getByText(id, { exact: true }).waitFor()
    const taken = newUser('oidc')
    await world.sql('update users set oidc_id = $1, oidc_issuer = $2 where id = $3', [
      taken,
      world.oidc.url,
      (await world.app.make.user()).id,
    ])
    await page.getByRole('group', { name: 'OIDC' }).getByRole('button', { name: '绑定', exact: true }).click()
    await toastShown(page, '该 OIDC 账户已被绑定')
    await page.waitForURL('**/app/me')

    world.wechat.assign('123456', 'wx-neo')
    await page.getByRole('group', { name: '微信' }).getByRole('button', { name: '绑定', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: '微信扫码' })
    await dialog.getByText('三分钟内有效').waitFor()
    await dialog.getByRole('textbox', { name: '验证码' }).fill('999999')
    await dialog.getByRole('button', { name: '绑定', exact: true }).click()
    await dialog.getByText('验证码错误或已过期').waitFor()
    await look(page, 'wechat')
    await dialog.getByRole('textbox', { name: '验证码' }).fill('123456')
    await dialog.getByRole('button', { name: '绑定', exact: true }).click()
    await toastShown(page, '微信账户绑定成功！')
    await look(page, 'bindings')
    expect(await violationsOf(page)).toEqual([])

    await page.getByRole('group', { name: 'GitHub' }).getByRole('button', { name: '解除绑定' }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: '解除绑定' }).click()
    await toastShown(page, 'GitHub 账户已解除绑定')
    expect(await userOf('github', id)).toBeUndefined()
    expect(complaints).toEqual([])
    await context.close()
  })

  test('have a way to sign up in the menu of a phone, whose bar has no room for it', async () => {
    const { page, context } = await open({ width: 390, height: 844, language: 'en', theme: 'light' })
    // The form takes the focus when it comes, which may be behind the menu.
    const isOpen = Promise.withResolvers<void>()
    await context.route('**/assets/login-page-*', async (route) => {
      await isOpen.promise
      await route.continue()
    })
    await page.goto('/login')
    await button(page, 'Menu').click()
    const join = page.getByRole('dialog').getByRole('link', { name: 'Sign up' })
    await join.waitFor()
    isOpen.resolve()
    await page.locator('input[name=username]').waitFor()
    await drawn(page)
    await join.click()
    await page.waitForURL('**/register')
    await context.close()
  })

  test('have the endpoints of their provider filled in from an address without TLS too', async () => {
    const root = await world.app.make.user({ role: 100 })
    const { page, context } = await open({ reader: { ...root, role: 100 }, path: '/admin/settings?tab=system' })
    const field = (name: string) => page.getByRole('textbox', { name, exact: true })
    await field('Well-Known URL').fill(`${world.app.url}/no-such`)
    await button(page, '获取端点').click()
    await toastShown(page, '获取 OIDC 配置失败，请检查网络状况和 Well-Known URL 是否正确')
    await field('Well-Known URL').fill(world.oidc.wellKnown)
    await button(page, '获取端点').click()
    await toastShown(page, '已获取 OIDC 配置，保存后生效')
    const names = ['OIDC authorization endpoint', 'OIDC token endpoint', 'OIDC user info endpoint']
    expect(await Promise.all(names.map((name) => field(name).inputValue()))).toEqual(
      ['auth', 'token', 'me'].map((name) => `${world.oidc.url}/${name}`),
    )
    await context.close()
  })

  test.runIf(long)('fit a phone in English and in the dark, without a fault', async () => {
    const reader = await world.app.make.user()
    const english = { width: 390, height: 844, language: 'en', theme: 'dark' } as const
    for (const { more, pages } of [
      { more: {}, pages: { 'phone-login': '/login', 'phone-register': '/register', 'phone-reset': '/reset' } },
      { more: { reader }, pages: { 'phone-bindings': '/app/me' } },
    ]) {
      const { page, context, complaints } = await open({ ...english, ...more })
      for (const [name, path] of Object.entries(pages)) {
        if (page.url() === 'about:blank') await page.goto(path)
        else await follow(page, path)
        await look(page, name)
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
        expect([name, overflow, await violationsOf(page), complaints]).toEqual([name, 0, [], []])
      }
      await context.close()
    }
  })
})
