import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { describeWithBrowser } from '../support/chromium.ts'
import type { TestUser } from '../support/factories.ts'
import { violationsOf } from './accessibility.ts'
import { drawn, follow, type Look, openConsole, startInBrowser, toastShown } from './console.ts'
import { isTaken, long } from '#test/support/long.ts'

/** What users wrote is not translated. */
const ours = { without: 'article' }

describeWithBrowser('people', async () => {
  const { app, browser } = await startInBrowser({ setUp: false })
  const root = await app.make.user({ role: 100, username: 'founder' })
  const reader = await app.make.user({ username: 'anna' })
  await app.make.token(reader)
  await app.rest(null, 'POST', '/api/setup', { SelfUseModeEnabled: false, DemoSiteEnabled: false })

  const signInAs = (person: TestUser) =>
    app.pool.query(
      `insert into sessions (id_hash, user_id, user_agent, client_ip, expires_at)
       values ('another', $1, 'Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0', '192.0.2.7', now() + interval '1 hour')`,
      [person.id],
    )
  /** Looked at by people: `PICTURES=folder npm test -- test/browser/people.test.ts`. */
  const look = async (page: Page, name: string) => {
    const folder = process.env['PICTURES']
    if (folder) await page.screenshot({ path: `${folder}/people-${name}.png` })
  }

  const openAs = async (person: TestUser, path: string, look: Look = {}) => {
    const window = await openConsole(browser, app, { ...look, reader: { ...person, role: person === root ? 100 : 1 } })
    await window.page.goto(path)
    return window
  }

  test('an administrator finds a user, changes the balance with a reason, promotes, disables, and the audit log shows it', async () => {
    const { page, context, complaints } = await openAs(root, '/admin/users')
    await page.getByRole('button', { name: '添加用户' }).click()
    await drawn(page)
    expect((await page.getByRole('dialog', { name: '添加用户' }).boundingBox())?.width).toBe(600)
    await page.getByRole('textbox', { name: '用户名', exact: true }).fill('clara')
    await page.getByRole('textbox', { name: '密码', exact: true }).fill('a good long one')
    await page.getByRole('button', { name: '创建', exact: true }).click()
    await toastShown(page, '用户账户创建成功！')
    await page.getByPlaceholder('搜索 ID、用户名或邮箱').fill('anna')
    await page.waitForURL(/keyword=anna/)
    await page.getByRole('cell', { name: 'founder', exact: true }).waitFor({ state: 'detached' })
    await page.getByRole('cell', { name: 'anna', exact: true }).click()
    await page.getByRole('heading', { name: 'anna' }).waitFor()
    await page.getByRole('button', { name: '编辑', exact: true }).click()
    await page.getByRole('textbox', { name: '增加额度' }).fill('2')
    await page.getByRole('button', { name: '保存', exact: true }).click()
    await page.getByText('请填写调整额度的原因').first().waitFor()
    await page.getByRole('textbox', { name: '调整原因' }).fill('补偿')
    await page.getByRole('button', { name: '保存', exact: true }).click()
    await toastShown(page, '保存成功')
    for (const act of ['提升为管理员', '降级为普通用户', '禁用']) {
      await drawn(page)
      await page.getByRole('button', { name: '更多操作' }).click()
      await page.getByRole('menuitem', { name: act, exact: true }).click()
      const question = page.getByRole('alertdialog')
      await question.getByRole('button', { name: '确认', exact: true }).click()
      await question.waitFor({ state: 'detached' })
      await toastShown(page, '操作成功完成！')
    }
    await drawn(page)
    expect(await violationsOf(page, ours)).toEqual([])
    await signInAs(reader)
    await page.reload()
    const sessions = page.getByRole('list', { name: '登录会话' })
    await sessions.getByRole('button', { name: '结束会话' }).first().click()
    await look(page, 'end-session')
    await page.getByRole('alertdialog').getByRole('button', { name: '结束会话' }).click()
    await page.getByText('没有登录会话').waitFor()
    await look(page, 'user')
    await page.getByRole('link', { name: '查看全部' }).last().click()
    await page.getByRole('cell', { name: '禁用用户', exact: true }).first().waitFor()
    await page.getByRole('cell', { name: '提升为管理员', exact: true }).first().waitFor()
    await page.getByRole('cell', { name: '修改用户', exact: true }).first().click()
    const panel = page.getByRole('complementary', { name: '审计记录' })
    await panel.getByText('quota').waitFor()
    await panel.getByText('补偿').waitFor()
    await panel
      .getByText(/^\(\$\d+\.\d{6}\)$/)
      .first()
      .waitFor()
    await drawn(page)
    expect(await violationsOf(page, ours)).toEqual([])
    expect(complaints).toEqual([])
    await context.close()
  })

  test('a change of a user that fails in part and is sent again changes the balance once, and keeps what others changed', async () => {
    const person = await app.make.user({ username: 'twice', quota: 0 })
    const { page, context } = await openAs(root, `/admin/users?edit=${person.id}`)
    const drawer = page.getByRole('dialog', { name: '编辑用户' })
    await expect.poll(() => drawer.getByRole('textbox', { name: '用户名' }).inputValue()).toBe('twice')
    await drawer.getByRole('textbox', { name: '增加额度' }).fill('2')
    await drawer.getByRole('textbox', { name: '调整原因' }).fill('补偿')
    await drawer.getByRole('button', { name: '添加消费上限' }).click()
    let refused = 0
    await page.route(/spendCaps\.set/, (route) => (refused++ === 0 ? route.abort() : route.continue()))
    await drawer.getByRole('button', { name: '保存', exact: true }).click()
    await drawer.getByText(/没有保存/).waitFor()
    // Meanwhile another administrator gives the user another name, which a network that comes back lets this page read.
    await app.trpc(root).admin.users.update.mutate({ id: person.id, displayName: 'Meanwhile' })
    const read = page.waitForResponse(/users\.get/)
    await page.evaluate(() => {
      window.dispatchEvent(new Event('offline'))
      window.dispatchEvent(new Event('online'))
    })
    await read
    await drawn(page)
    // The answer is lost, so that the form cannot know that the balance is changed already.
    let lost = 0
    await page.route(/users\.update/, async (route) => {
      if (lost++ > 0) return route.continue()
      await route.fetch()
      await route.abort()
    })
    await drawer.getByRole('button', { name: '保存', exact: true }).click()
    await expect.poll(() => app.balanceOf(person.id)).toBe(1_000_000)
    await drawer.getByText(/没有保存/).waitFor()
    // The cap was set before that: who takes it away again finds it gone.
    const capsOf = () => app.trpc(root).admin.spendCaps.list.query({ userId: person.id })
    expect(await capsOf()).toHaveLength(1)
    await drawer.getByRole('button', { name: /^移除/ }).click()
    await drawer.getByRole('button', { name: '保存', exact: true }).click()
    await toastShown(page, '保存成功')
    expect(await capsOf()).toEqual([])
    expect(lost).toBe(2)
    expect(await app.balanceOf(person.id)).toBe(1_000_000)
    expect((await app.trpc(root).admin.users.get.query({ id: person.id })).displayName).toBe('Meanwhile')
    await context.close()
  })

  test.runIf(long)('the form of a user takes nothing before it shows that user, nor along to another one', async () => {
    const cap = { period: 'week' as const, seconds: 0, zone: 'Asia/Shanghai', amount: 5_000_000, models: [] }
    const { users, spendCaps } = app.trpc(root).admin
    const [early, late] = [await app.make.user({ username: 'early' }), await app.make.user({ username: 'late' })]
    await users.update.mutate({ id: late.id, displayName: 'Latecomer' })
    await spendCaps.set.mutate({ userId: late.id, caps: [cap], expected: { caps: [] } })
    const { page, context } = await openAs(root, `/admin/users?edit=${early.id}`)
    const drawer = page.getByRole('dialog', { name: '编辑用户' })
    const field = (name: string) => drawer.getByRole('textbox', { name, exact: true })
    const press = (name: string) => drawer.getByRole('button', { name, exact: true })
    await expect.poll(() => field('用户名').inputValue()).toBe('early')
    await press('取消').click()
    await drawer.waitFor({ state: 'detached' })

    const { promise: held, resolve: release } = Promise.withResolvers<void>()
    await page.route(/users\.get/, async (route) => {
      await held
      await route.continue()
    })
    await follow(page, `/admin/users?edit=${late.id}`)
    await drawer.locator('[aria-busy=true]').waitFor()
    expect(await drawer.getByRole('textbox').or(drawer.getByRole('combobox')).count()).toBe(0)
    expect(await press('添加消费上限').count()).toBe(0)
    await page.keyboard.type('x')
    release()
    await expect.poll(() => field('用户名').inputValue()).toBe('late')
    await drawer.locator('[name=username]:focus').waitFor()
    await press('添加消费上限').click()
    await press('保存').click()
    await drawer.waitFor({ state: 'detached' })
    const caps = await spendCaps.list.query({ userId: late.id })
    expect(caps.map(({ period }) => period).toSorted()).toEqual(['day', 'week'])

    // Back over the list to the first one, and from there to the second, as the menu of the browser's back button leads.
    await page.evaluate(() => history.go(-3))
    await expect.poll(() => field('用户名').inputValue()).toBe('early')
    await drawn(page)
    await field('显示名称').fill('Typed')
    await page.evaluate(() => history.go(2))
    await page.getByRole('alertdialog').getByRole('button', { name: '放弃修改' }).click()
    await expect.poll(() => field('用户名').inputValue()).toBe('late')
    await drawn(page)
    expect(await field('显示名称').inputValue()).toBe('Latecomer')
    await context.close()
  })

  test.runIf(long)('a row that is opened before a search begins stays open while its page is fetched', async () => {
    const { page, context } = await openAs(root, '/admin/users')
    const row = page.getByRole('cell', { name: 'anna', exact: true })
    await row.waitFor()
    const release = Promise.withResolvers<void>()
    await page.route(/assets\/detail-page/, async (route) => {
      await release.promise
      await route.continue()
    })
    // So that the search has yet to begin however long the click takes.
    await page.clock.install()
    await page.clock.pauseAt(Date.now() + 60_000)
    await page.getByPlaceholder('搜索 ID、用户名或邮箱').fill('founder')
    await row.click()
    await page.waitForURL(`**/app/users/${reader.id}`)
    await page.clock.fastForward(1000)
    await page.clock.resume()
    release.resolve()
    await page.getByRole('heading', { name: 'anna' }).waitFor()
    expect(new URL(page.url()).pathname).toBe(`/app/users/${reader.id}`)
    await context.close()
  })

  test('a message is written, arrives with a badge, harms nobody, and its sender sees that it was read', async () => {
    const other = await app.make.user({ username: 'bert' })
    const sender = await openAs(root, '/admin/messages')
    const { page } = sender
    await page.getByRole('button', { name: '新建消息' }).first().click()
    await page.getByRole('textbox', { name: '标题' }).fill('维护通知')
    await page.getByRole('combobox', { name: '格式' }).selectOption('html')
    await page
      .getByRole('textbox', { name: '内容' })
      .fill(
        '<p>今晚维护</p><img src=x onerror="window.hacked=1"><script>window.hacked=1</script><form><input name=password></form>',
      )
    await page.getByRole('textbox', { name: '搜索用户名或显示名称' }).fill('bert')
    await page.getByRole('checkbox', { name: 'bert' }).check()
    await look(page, 'compose')
    await page.getByRole('button', { name: '发送', exact: true }).click()
    await toastShown(page, '消息已发送给 1 位用户')

    const inbox = await openAs(other, '/app/tokens', { width: 390, height: 844 })
    await inbox.page.getByRole('button', { name: '收件箱，1 条未读' }).click()
    await inbox.page.getByRole('link', { name: /维护通知/ }).click()
    await inbox.page.getByText('今晚维护').waitFor()
    await inbox.page.getByRole('button', { name: '收件箱', exact: true }).waitFor()
    expect(await inbox.page.evaluate(() => (window as { hacked?: number }).hacked)).toBeUndefined()
    expect(await inbox.page.locator('article form, article input, article script').count()).toBe(0)
    await drawn(inbox.page)
    expect(await violationsOf(inbox.page, ours)).toEqual([])
    await inbox.page.route(/user\.messages\.list\b/, (route) => route.fulfill({ status: 502, body: 'out of order' }))
    await inbox.page.goto('/app/inbox/999999')
    const missing = inbox.page.getByRole('main').getByText('消息不存在')
    await missing.waitFor()
    await inbox.page.getByRole('main').getByRole('link', { name: '返回收件箱' }).last().click()
    await inbox.page.getByText('加载消息失败').waitFor()
    await inbox.context.close()

    await page.goto('/admin/messages')
    await page.getByRole('cell', { name: '维护通知', exact: true }).click()
    await page.getByRole('listitem').filter({ hasText: 'bert' }).getByText('已读').waitFor()
    await look(page, 'recipients')
    expect(sender.complaints).toEqual([])
    await sender.context.close()
  })

  test('an announcement is read once by everybody, until its words change', async () => {
    const reading = await app.make.user()
    const announce = async (words: string) => {
      await app.make.option('Notice', words)
      await app.services.options.reload()
    }
    await announce('## 停机维护\n\n今晚 **22:00** 停机维护')
    const { page, context, complaints } = await openAs(reading, '/app/wallet')
    const dialog = page.getByRole('dialog', { name: '公告' })
    await dialog.getByRole('heading', { name: '停机维护' }).waitFor()
    await drawn(page)
    expect(await violationsOf(page, ours)).toEqual([])
    await look(page, 'announcement')
    await dialog.getByRole('button', { name: '我知道了' }).click()
    await dialog.waitFor({ state: 'detached' })
    // The browser remembers; the page of tests sets its own memory anew with each visit.
    await page.getByRole('link', { name: 'API令牌' }).click()
    await drawn(page)
    expect(await dialog.count()).toBe(0)
    await announce('维护完成')
    await page.reload()
    await dialog.getByText('维护完成').waitFor()
    await announce('')
    expect(complaints).toEqual([])
    await context.close()
  })

  test.each([
    ['/admin/users?sort=used', 'admin.users.list', '"sort":"id"'],
    ['/admin/channels?sort=usedQuota', 'admin.channels.list', '"sort":"id"'],
    ['/app/tokens?sort=spend', 'user.tokens.list', '"pageSize":100'],
    ['/app/tokens?name=key&sort=spend', 'user.tokens.search', '"keyword":"key"'],
  ])('the file of %s is fetched in an order that no call changes meanwhile', async (path, procedure, asked) => {
    const { page, context } = await openAs(root, `${path}&order=desc`)
    await drawn(page)
    const request = page.waitForRequest((sent) => sent.url().includes(procedure))
    await page.getByRole('button', { name: '导出 CSV' }).click()
    const sent = await request
    const input = `${decodeURIComponent(sent.url())}${sent.postData() ?? ''}`
    expect(input).toContain(asked)
    expect(input).not.toMatch(/"sort":"(used|usedQuota|spend)"/)
    await context.close()
  })

  test('in English, on a phone and a wide screen, each page stands without a fault', async () => {
    const looks = [{ width: 390, height: 844 }, { theme: 'dark' as const }]
    const paths = ['/admin/audit', '/admin/users', `/app/users/${reader.id}`, '/admin/messages', '/app/inbox']
    for (const [at, look] of looks.entries()) {
      const { page, context, complaints } = await openAs(root, '/admin/audit', { ...look, language: 'en' })
      // In the short form each page in one look, and the next page in the other.
      for (const path of paths.filter((_, place) => isTaken(2, at, place))) {
        await follow(page, path)
        await drawn(page)
        const wide = await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth)
        expect([path, wide, await violationsOf(page, ours)]).toEqual([path, false, []])
        if (process.env['PICTURES']) {
          await page.screenshot({
            path: `${process.env['PICTURES']}/${look.width ?? 1440}${path.replaceAll('/', '-')}.png`,
          })
        }
      }
      expect(complaints).toEqual([])
      await context.close()
    }
  })
})
