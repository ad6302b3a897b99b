import { Secret, TOTP } from 'otpauth'
import type { Page } from 'playwright-core'
import { afterAll, expect, test } from 'vitest'
import { describeWithBrowser } from '../support/chromium.ts'
import { long } from '../support/long.ts'
import { startMailServer, textOf } from '../support/mail-server.ts'
import { wrongPassword } from '../support/wrong-password.ts'
import { violationsOf } from './accessibility.ts'
import { drawn, firstText, follow, openConsole, startInBrowser, toastShown } from './console.ts'

const account = { username: 'sailor', password: 'a good long one' }
const replaced = 'another long one'

const box = (page: Page, name: string) => page.getByRole('textbox', { name, exact: true })
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })

/** A device that keeps passkeys and asks its owner for a finger, who always gives it. */
async function addAuthenticator(page: Page): Promise<void> {
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('WebAuthn.enable')
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
}

describeWithBrowser('the account of a person', async () => {
  const { app, browser } = await startInBrowser({ setUp: false })
  // Browsers keep passkeys for names, never for bare addresses.
  const site = { url: app.url.replace('127.0.0.1', 'localhost') }
  await app.rest(null, 'POST', '/api/setup', {
    username: 'captain',
    password: account.password,
    confirmPassword: account.password,
    SelfUseModeEnabled: false,
    DemoSiteEnabled: false,
  })
  await app.make.option('CheckInEnabled', 'true')
  await app.make.channel({ models: Array.from({ length: 12 }, (_, at) => `model-${at}`).join(',') })
  const smtp = await startMailServer()
  const mail = { SMTPServer: '127.0.0.1', SMTPPort: String(smtp.port), SMTPFrom: 'gateway@x.example' }
  for (const [key, value] of Object.entries({
    ...mail,
    EmailVerificationEnabled: 'true',
    QuotaForInviter: '1500000',
  }))
    await app.make.option(key, value)
  await app.services.options.reload()
  await app.pool.query(`update users set aff_code = 'CAPT' where username = 'captain'`)
  afterAll(() => smtp.close())

  /** The code in the mail that is sent next. */
  const mailedCode = async (send: () => Promise<unknown>): Promise<string> => {
    const before = smtp.mails.length
    await send()
    await expect.poll(() => smtp.mails.length).toBeGreaterThan(before)
    return /[：:]([0-9a-f]{6})\b/.exec(textOf(smtp.mails.at(-1)?.source ?? ''))?.[1] ?? 'no code'
  }

  const later = () =>
    app.pool.query(`update authenticators set last_step = last_step - 4; update sessions set verified_at = null`)

  async function logIn(page: Page, password: string) {
    await box(page, '用户名或邮箱').fill(account.username)
    await box(page, '密码').fill(password)
    await page.getByRole('main').getByRole('button', { name: '登录', exact: true }).click()
  }

  async function logOut(page: Page) {
    await page.evaluate(async () => {
      await fetch('/api/user/logout')
      localStorage.removeItem('user')
    })
    await page.goto('/login?returnTo=/app/me')
  }

  /** By an invitation, with an address that is proved. */
  async function register(page: Page) {
    await page.goto('/register?aff=CAPT')
    await box(page, '用户名').fill(account.username)
    await box(page, '密码').fill('short')
    await box(page, '确认密码').fill('short')
    await box(page, '邮箱').fill('sailor@x.example')
    const resend = await firstText(page, 'button', '秒后重发')
    const code = await mailedCode(() => button(page, '获取验证码').click())
    await toastShown(page, '验证码发送成功')
    expect(await resend()).toBe('30 秒后重发')
    await box(page, '邮箱验证码').fill(code)
    const submit = page.getByRole('main').getByRole('button', { name: '注册', exact: true })
    await submit.click()
    await page.getByText('密码长度不得小于 8 位！').waitFor()
    await box(page, '密码').fill(account.password)
    await submit.click()
    await page.getByText('两次输入的密码不一致').waitFor()
    await box(page, '确认密码').fill(account.password)
    await submit.click()
    await toastShown(page, '注册成功！')
    await page.waitForURL('**/login*')
    const { rows } = await app.pool.query(`select u.email, i.username as inviter, i.aff_count, i.aff_quota
      from users u join users i on i.id = u.inviter_id where u.username = 'sailor'`)
    expect(rows).toEqual([{ email: 'sailor@x.example', inviter: 'captain', aff_count: 1, aff_quota: '1500000' }])
  }

  test('from registration by an invitation to its end, with a check-in, a second factor and a passkey in between', async () => {
    const { page, context, complaints } = await openConsole(browser, site)
    await addAuthenticator(page)
    await register(page)
    await page.goto('/login?returnTo=/app/me')
    await logIn(page, account.password)
    await page.getByRole('heading', { name: '个人设置' }).waitFor()
    // Somebody came by this reader's own invitations.
    await app.pool.query(`update users set aff_quota = 1500000, aff_count = 3 where username = 'sailor'`)
    await page.reload()

    const checkIn = /user\.account\.checkIn\b/
    await page.route(checkIn, (route) => route.fulfill({ status: 502, body: 'out of order' }))
    await button(page, '立即签到').click()
    await toastShown(page, '签到失败，请稍后再试')
    await page.unroute(checkIn)
    await button(page, '立即签到').click()
    await toastShown(page, '签到成功，获得 $0.002')
    expect(await button(page, '今日已签到').isDisabled()).toBe(true)
    await expect.poll(() => box(page, '邀请链接').inputValue()).toMatch(/^http:\/\/localhost:\d+\/register\?aff=\w{4}$/)
    await page.evaluate(() => {
      navigator.clipboard.writeText = () => Promise.reject(new Error('denied'))
    })
    await button(page, '复制邀请链接').click()
    const byHand = page.getByRole('alertdialog', { name: '无法复制到剪贴板，请手动复制' })
    expect(await box(page, '要复制的内容').inputValue()).toContain('/register?aff=')
    await byHand.getByRole('button', { name: '关闭' }).click()
    await box(page, '显示名称').fill('Sailor')
    await page.getByRole('main').getByRole('button', { name: '保存', exact: true }).first().click()
    await toastShown(page, '用户信息更新成功！')
    await button(page, '划转到余额').click()
    await box(page, '划转额度').fill('0.5')
    await button(page, '划转').click()
    await page
      .getByText(/划转金额最低为/)
      .first()
      .waitFor()
    await box(page, '划转额度').fill('2')
    await button(page, '划转').click()
    await toastShown(page, '划转成功')
    await button(page, '更换邮箱').click()
    const binding = page.getByRole('dialog', { name: '绑定邮箱' })
    await binding.getByRole('button', { name: '获取验证码' }).click()
    await binding.getByText('请输入邮箱！').waitFor()
    await box(page, '邮箱').fill('new-sailor@x.example')
    await binding.getByRole('button', { name: '绑定', exact: true }).click()
    await binding.getByText('请输入邮箱验证码！').waitFor()
    await box(page, '邮箱验证码').fill(
      await mailedCode(() => binding.getByRole('button', { name: '获取验证码' }).click()),
    )
    await binding.getByRole('button', { name: '绑定', exact: true }).click()
    await toastShown(page, '邮箱绑定成功！')
    await page.getByText('new-sailor@x.example').waitFor()
    await button(page, '展开其余 2 个').click()
    await button(page, '复制 model-9').waitFor()
    await drawn(page)

    await page.goto('/app/me?tab=notify')
    await button(page, '$5').click()
    const update = /user\.account\.updateSettings/
    await page.route(update, (route) => route.fulfill({ status: 502, body: 'out of order' }))
    await button(page, '保存').click()
    await page.getByText('更新设置失败').waitFor()
    await page.unroute(update)
    await button(page, '保存').click()
    await toastShown(page, '设置已更新')

    await page.goto('/app/me?tab=security')
    await app.pool.query("update sessions set created_at = now() - interval '11 minutes', verified_at = null")
    await button(page, '启用身份验证器').click()
    const owner = page.getByRole('dialog', { name: '请验证是您本人' })
    await owner.getByRole('textbox', { name: '当前密码' }).fill(account.password)
    await owner.getByRole('button', { name: '确认', exact: true }).click()
    const secret = (await page.getByRole('region', { name: '密钥' }).textContent()) ?? ''
    const generator = new TOTP({ secret: Secret.fromBase32(secret) })
    // The next one: it is taken as early as this, and longest.
    const code = () => generator.generate({ timestamp: Date.now() + 30_000 })
    await box(page, '应用中显示的验证码').fill(code())
    await button(page, '启用').click()
    await page.getByRole('dialog', { name: '保存恢复码' }).waitFor()
    const codes = ((await page.getByRole('region', { name: '恢复码' }).textContent()) ?? '').trim().split('\n')
    expect(codes).toHaveLength(10)
    await button(page, '我已保存').click()

    await logOut(page)
    await logIn(page, account.password)
    await later()
    await box(page, '验证码').fill(wrongPassword(generator))
    await button(page, '验证').click()
    await page.getByText('验证码错误，或已使用过').waitFor()
    await box(page, '验证码').fill(code())
    await button(page, '验证').click()
    await page.getByRole('heading', { name: '个人设置' }).waitFor()

    await page.goto('/app/me?tab=security')
    await later()
    await button(page, '添加通行密钥').click()
    await box(page, '名称').fill('My laptop')
    await button(page, '继续').click()
    const again = page.getByRole('dialog', { name: '请验证是您本人' })
    await again.getByRole('textbox', { name: '验证码' }).fill(codes[0] ?? '')
    await again.getByRole('button', { name: '验证', exact: true }).click()
    await page.getByText('My laptop', { exact: true }).waitFor()
    await drawn(page)
    expect(await violationsOf(page)).toEqual([])

    await logOut(page)
    await logIn(page, account.password)
    await button(page, '使用通行密钥').click()
    await page.getByRole('heading', { name: '个人设置' }).waitFor()

    await logOut(page)
    await button(page, '使用通行密钥登录').click()
    await page.getByRole('heading', { name: '个人设置' }).waitFor()

    await page.goto('/app/me?tab=security')
    await later()
    await box(page, '当前密码').fill(account.password)
    await box(page, '新密码').fill(replaced)
    await box(page, '确认新密码').fill('something else')
    await button(page, '修改密码').click()
    await page.getByText('两次输入的密码不一致！').waitFor()
    await box(page, '确认新密码').fill(replaced)
    await button(page, '修改密码').click()
    await again.getByRole('button', { name: '使用通行密钥' }).click()
    await toastShown(page, '密码修改成功！')
    for (const name of ['当前密码', '新密码', '确认新密码'])
      await expect.poll(() => box(page, name).inputValue()).toBe('')

    await later()
    await button(page, '删除账户').click()
    const last = page.getByRole('alertdialog')
    await last.getByRole('textbox').fill(account.username)
    await last.getByRole('button', { name: '删除账户' }).click()
    await again.getByRole('button', { name: '使用通行密钥' }).click()
    await page.waitForURL('**/login')
    await toastShown(page, '账户已删除！')
    const { rows } = await app.pool.query(`select deleted_at from users where username like 'sailor (deleted %'`)
    expect(rows).toHaveLength(1)
    expect(complaints).toEqual([])
    await context.close()
  })

  test('a forgotten password is replaced by the mailed link, and a password that everybody knows is warned of', async () => {
    await app.make.option('ServerAddress', site.url)
    await app.services.options.reload()
    const { username, id } = await app.make.user()
    await app.pool.query(
      `update users set email = 'lost@x.example', email_normalized = 'lost@x.example' where id = $1`,
      [id],
    )
    const { page, context, complaints } = await openConsole(browser, site)
    await page.goto('/reset')
    await box(page, '邮箱').fill('lost@x.example')
    const resend = await firstText(page, 'button', '秒后重发')
    await button(page, '发送重置邮件').click()
    await toastShown(page, '重置邮件发送成功，请检查邮箱！')
    expect(await resend()).toBe('30 秒后重发')
    const link = () => /https?:\/\/\S+\/user\/reset\?\S+/.exec(textOf(smtp.mails.at(-1)?.source ?? ''))?.[0]
    await expect.poll(link).toBeDefined()
    await page.goto(link() ?? '')
    expect(await box(page, '邮箱').inputValue()).toBe('lost@x.example')
    expect(await box(page, '邮箱').isEditable()).toBe(false)
    await button(page, '确认重置密码').click()
    await toastShown(page, '新密码已复制到剪贴板')
    const password = await page.evaluate(() => navigator.clipboard.readText())
    await page.getByText(password, { exact: true }).waitFor()

    await app.pool.query('update users set must_change_password = true where id = $1', [id])
    await page.getByRole('link', { name: '去登录' }).click()
    await box(page, '用户名或邮箱').fill(username)
    await box(page, '密码').fill(password)
    await page.getByRole('main').getByRole('button', { name: '登录', exact: true }).click()
    await toastShown(page, '您正在使用默认密码！')
    await page.waitForURL('**/app/tokens')
    await page.getByRole('main').or(page.getByRole('alert')).getByText('请立刻修改默认密码！').first().waitFor()
    expect(complaints).toEqual([])
    await context.close()
  })

  test.runIf(long)('a name that another window changes stays when the other one is saved here', async () => {
    const reader = await app.make.user()
    const { page, context } = await openConsole(browser, site, { reader, path: '/app/me' })
    await box(page, '显示名称').fill('Able seaman')
    const { account: elsewhere } = app.trpc(reader).user
    await elsewhere.update.mutate({ username: `${reader.username}-2` })
    await button(page, '保存').click()
    await toastShown(page, '用户信息更新成功！')
    expect(await elsewhere.get.query()).toMatchObject({
      username: `${reader.username}-2`,
      displayName: 'Able seaman',
    })
    await context.close()
  })

  test.runIf(long)('a setting that another window changes stays when others are saved here', async () => {
    const reader = await app.make.user()
    const { page, context } = await openConsole(browser, site, { reader, path: '/app/me?tab=notify' })
    await box(page, '通知邮箱').fill('sailor@x.example')
    // A threshold that nobody chose is shown as the site's, and not saved as one's own.
    expect(await box(page, '额度预警阈值').getAttribute('placeholder')).toBe('1')
    expect(await box(page, '额度预警阈值').inputValue()).toBe('')
    const { account: elsewhere } = app.trpc(reader).user
    await elsewhere.updateSettings.mutate({ notifyType: 'email', acceptUnsetModelRatioModel: true })
    await button(page, '保存').click()
    await toastShown(page, '设置已更新')
    expect((await elsewhere.get.query()).settings).toMatchObject({
      notificationEmail: 'sailor@x.example',
      quotaWarningThreshold: null,
      acceptUnsetModelRatioModel: true,
    })
    await context.close()
  })

  test.runIf(long)('fits a phone in English, and the notices follow the language of the console', async () => {
    const reader = await app.make.user()
    const { page, context, complaints } = await openConsole(browser, site, {
      reader,
      language: 'en',
      width: 390,
      height: 844,
      theme: 'dark',
      path: '/app/me',
    })
    for (const tab of ['profile', 'security', 'notify']) {
      await follow(page, `/app/me?tab=${tab}`)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await drawn(page)
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
      expect([tab, overflow]).toEqual([tab, 0])
    }
    const language = async () =>
      (await app.pool.query('select language from users where id = $1', [reader.id])).rows[0].language
    await expect.poll(language).toBe('en')
    expect(complaints).toEqual([])
    await context.close()
  })
})
