import { expect, test } from 'vitest'
import { describeWithBrowser } from '../support/chromium.ts'
import { setOptions } from '../relay/serve.ts'
import { violationsOf } from './accessibility.ts'
import { drawn, follow, openConsole, startInBrowser, toastShown } from './console.ts'
import { holdLock } from '#test/support/held-lock.ts'
import { long } from '#test/support/long.ts'

describeWithBrowser('the settings', async () => {
  const { app, browser } = await startInBrowser({ setUp: false })
  const root = await app.make.user({ role: 100 })
  await app.make.channel({ models: 'gpt-4o-mini,nobodys-model' })
  await app.rest(null, 'POST', '/api/setup', { SelfUseModeEnabled: false, DemoSiteEnabled: false })

  async function open(path: string) {
    const window = await openConsole(browser, app, { reader: { ...root, role: 100 } })
    await window.page.goto(path)
    return window
  }

  test('keeps unsaved changes across tabs, saves them together, and the site shows them at once', async () => {
    const { page, context, complaints } = await open('/admin/settings?tab=other')
    await page.getByRole('textbox', { name: '系统名称', exact: true }).fill('Harbour')
    await page.getByRole('tab', { name: '速率限制设置' }).click()
    await page.getByRole('textbox', { name: '限制周期', exact: true }).fill('7')
    await page.getByText('2 项修改未保存').waitFor()
    await page.getByRole('button', { name: '保存', exact: true }).click()
    await toastShown(page, '保存成功')
    await page.getByText('没有未保存的修改').waitFor()
    expect(app.services.options.get('SystemName')).toBe('Harbour')
    expect(app.services.options.get('ModelRequestRateLimitDurationMinutes')).toBe(7)
    await page.getByRole('banner').getByText('Harbour').waitFor()
    expect(complaints).toEqual([])
    await context.close()
  })

  test('a comma in a number stands between thousands, and is refused where it may be a decimal point', async () => {
    const { page, context } = await open('/admin/settings?tab=ratelimit')
    await page.getByRole('tab', { name: '速率限制设置' }).click()
    const field = page.getByRole('textbox', { name: '限制周期', exact: true })
    await field.fill('1,5')
    await page.getByRole('button', { name: '保存', exact: true }).click()
    await toastShown(page, '请检查输入')
    expect(await field.inputValue()).toBe('1,5')
    await field.fill('1,000')
    await page.getByRole('button', { name: '保存', exact: true }).click()
    await toastShown(page, '保存成功')
    expect(app.services.options.get('ModelRequestRateLimitDurationMinutes')).toBe(1000)
    await context.close()
  })

  test('begins at its top, and overwrites what somebody else has saved meanwhile only once that was seen', async () => {
    const { page, context } = await open('/admin/settings')
    await drawn(page)
    expect((await page.getByRole('heading', { level: 1 }).boundingBox())?.y).toBeGreaterThan(56)
    await page.getByRole('tab', { name: '其他设置' }).click()
    const about = page.getByRole('textbox', { name: '关于', exact: true })
    await about.fill('mine')
    await setOptions(app, { About: 'theirs' })
    const save = page.getByRole('button', { name: '保存', exact: true })
    await save.click()
    await page.getByText('关于已被其他人修改，未保存；请核对后再次保存').waitFor()
    expect([await about.inputValue(), app.services.options.get('About')]).toEqual(['mine', 'theirs'])
    await save.click()
    await toastShown(page, '保存成功')
    expect(app.services.options.get('About')).toBe('mine')
    await context.close()
  })

  test.runIf(long)('what is typed while a save is under way stays, as a change of what was saved', async () => {
    const { page, context } = await open('/admin/settings?tab=other')
    const release = Promise.withResolvers<void>()
    await page.route(/options\.save/, async (route) => {
      await release.promise
      await route.continue()
    })
    const about = page.getByRole('textbox', { name: '关于', exact: true })
    await about.fill('first')
    await page.getByRole('button', { name: '保存', exact: true }).click()
    await about.fill('second')
    release.resolve()
    await toastShown(page, '保存成功')
    await drawn(page)
    expect([await about.inputValue(), app.services.options.get('About')]).toEqual(['second', 'first'])
    expect(await page.getByText('已被其他人修改').count()).toBe(0)
    await page.getByText('1 项修改未保存').waitFor()
    await page.getByRole('button', { name: '全部撤销' }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: '放弃修改' }).click()
    await page.getByText('没有未保存的修改').waitFor()
    expect(await about.inputValue()).toBe('first')
    await context.close()
  })

  test('looks for a newer version where root says that they are published, and says when it cannot', async () => {
    const { page, context } = await open('/admin/settings?tab=other')
    let answers = false
    await page.route('https://releases.example/latest', (route) =>
      answers
        ? route.fulfill({ json: { tag_name: 'v999.0.0', body: 'Faster **streams**' } })
        : route.fulfill({ status: 502, body: 'out of order' }),
    )
    const check = page.getByRole('button', { name: '检查更新', exact: true })
    await check.click()
    await toastShown(page, '请先填写版本发布地址')
    // general_setting.release_link
    const address = 'https://releases.example/latest'
    await page.getByRole('textbox', { name: '版本发布地址', exact: true }).fill(address)
    await check.click()
    await toastShown(page, '检查更新失败，请稍后再试')
    answers = true
    await check.click()
    await page.getByText('有新版本：v999.0.0').waitFor()
    await page.getByText('Faster streams').waitFor()
    await context.close()
  })

  test('says which change was refused, keeps it as typed and saves the others', async () => {
    const { page, context } = await open('/admin/settings?tab=system')
    await page.getByText('允许通过 GitHub 账户登录和注册').click()
    await page.getByRole('textbox', { name: 'SMTP 服务器地址', exact: true }).fill('mail.example.com')
    await page.getByRole('button', { name: '保存', exact: true }).click()
    await toastShown(page, '部分保存失败，请重试')
    await page.getByText('请先填写「GitHub Client ID」，再打开「允许通过 GitHub 账户登录和注册」').waitFor()
    await page.getByText('1 项修改未保存').waitFor()
    expect(app.services.options.get('SMTPServer')).toBe('mail.example.com')
    expect(app.services.options.get('GitHubOAuthEnabled')).toBe(false)
    await context.close()
  })

  test('asks before password login is switched off, and leaves it on without consent', async () => {
    const { page, context } = await open('/admin/settings?tab=system')
    const toggle = page.getByRole('checkbox', { name: '允许通过密码进行登录' })
    await page.getByText('允许通过密码进行登录').click()
    await page.getByRole('alertdialog').getByRole('button', { name: '取消' }).click()
    expect(await toggle.isChecked()).toBe(true)
    await page.getByText('没有未保存的修改').waitFor()
    await page.getByRole('button', { name: '保存', exact: true }).click()
    await toastShown(page, '你似乎并没有修改什么')
    await context.close()
  })

  test.runIf(long)('a listed domain stays when it is added again, and what is none is refused', async () => {
    const { page, context } = await open('/admin/settings?q=EmailDomainWhitelist')
    const add = page.getByRole('combobox', { name: '邮箱域名白名单' })
    await add.fill('qq.com')
    await page.getByText('“qq.com” 已在其中').waitFor()
    await add.press('Enter')
    await page.getByRole('button', { name: '移除 qq.com' }).waitFor()
    await page.getByText('没有未保存的修改').waitFor()
    // What is typed counts when the field is left, as with Enter.
    await add.fill('nonsense')
    await add.press('Tab')
    await page.getByRole('button', { name: '移除 nonsense' }).waitFor()
    await page.getByRole('button', { name: '保存', exact: true }).click()
    await page.getByText('「nonsense」不是有效的域名').first().waitFor()
    expect(app.services.options.get('EmailDomainWhitelist')).not.toContain('nonsense')
    await context.close()
  })

  test('prices a model that nobody had priced, in dollars, and it leaves the list of those without a price', async () => {
    const { page, context, complaints } = await open('/admin/settings?ratio=unset_models')
    await page.getByRole('cell', { name: 'nobodys-model', exact: true }).click()
    const drawer = page.getByRole('dialog')
    await drawer.getByRole('textbox', { name: '输入价格' }).fill('3')
    await drawer.getByRole('textbox', { name: '输出价格' }).fill('15')
    await drawer.getByText('等于模型倍率 1.5、补全倍率 5、缓存倍率 –').waitFor()
    await drawer.getByRole('button', { name: '保存', exact: true }).click()
    await page.getByText('所有模型都已设置价格').waitFor()
    expect(app.services.options.get('ModelRatio')['nobodys-model']).toBe(1.5)
    expect(app.services.options.get('CompletionRatio')['nobodys-model']).toBe(5)
    await page.goto('/pricing?q=nobodys')
    await page.getByRole('cell', { name: '$15.00', exact: true }).waitFor()
    expect(complaints).toEqual([])
    await context.close()
  })

  test('edits groups as a table that is stored as the three documented options', async () => {
    const { page, context, complaints } = await open('/admin/settings')
    const box = (name: string) => page.getByRole('textbox', { name, exact: true })
    await box('新分组的名称').fill('default')
    await page.getByText('分组「default」已存在').waitFor()
    await box('新分组的名称').fill('staff')
    await page.keyboard.press('Enter')
    await box('staff 的倍率').fill('')
    await page.getByRole('button', { name: '保存', exact: true }).click()
    await toastShown(page, '请检查输入')
    await box('staff 的倍率').fill('0.35')
    // A figure that cannot be read is none: neither one that was left out.
    await box('staff 的充值倍率').fill('1,3')
    expect(await box('staff 的充值倍率').getAttribute('aria-invalid')).toBe('true')
    await page.getByRole('button', { name: '保存', exact: true }).click()
    await toastShown(page, '请检查输入')
    await box('staff 的充值倍率').fill('0.9')
    const usable = page.getByRole('checkbox', { name: '用户可以选择 staff' }).locator('xpath=..')
    await usable.click()
    await box('staff 的描述').fill('同事')
    // Off and on again leaves the description.
    await usable.click()
    await expect.poll(() => box('staff 的描述').isDisabled()).toBe(true)
    await usable.click()
    await expect.poll(() => box('staff 的描述').inputValue()).toBe('同事')
    await page.getByRole('button', { name: '移除分组 svip' }).click()
    await page.getByRole('button', { name: '保存', exact: true }).click()
    await toastShown(page, '保存成功')
    const { options } = app.services
    expect(options.get('GroupRatio')).toEqual({ default: 1, vip: 1, staff: 0.35 })
    expect(options.get('UserUsableGroups')).toMatchObject({ staff: '同事' })
    expect(options.get('TopupGroupRatio')).toEqual({ default: 1, vip: 1, staff: 0.9 })
    await page.goto('/admin/settings?groups=json')
    expect(JSON.parse(await box('分组倍率').inputValue())).toEqual({ default: 1, vip: 1, staff: 0.35 })
    await box('分组倍率').fill('{"default": 1, "staff": 0.5}')
    await page
      .getByRole('radiogroup', { name: '分组的编辑方式', exact: true })
      .getByText('表格', { exact: true })
      .click()
    expect(await box('staff 的倍率').inputValue()).toBe('0.5')
    expect(complaints).toEqual([])
    await context.close()
  })

  test('renames a group from its table, and users, tokens and channels follow', async () => {
    const { page, context, complaints } = await open('/admin/settings')
    const member = await app.make.user({ group: 'vip' })
    await page.getByRole('button', { name: '重命名分组 vip' }).click()
    const drawer = page.getByRole('dialog', { name: '重命名分组“vip”' })
    await drawer.getByRole('textbox', { name: '新名称' }).fill('member')
    await drawer.getByRole('button', { name: '重命名', exact: true }).click()
    await toastShown(page, '分组已重命名：1 个用户')
    await page.getByRole('textbox', { name: 'member 的倍率', exact: true }).waitFor()
    expect(app.services.options.get('GroupRatio')).toHaveProperty('member')
    expect((await app.pool.query('select "group" from users where id = $1', [member.id])).rows).toEqual([
      { group: 'member' },
    ])
    expect(complaints).toEqual([])
    await context.close()
  })

  test('says what could not be read, set back, filled in, removed or cleared, and what was added', async () => {
    await app.make.channel({ models: 'unpriced-model' })
    await app.make.option('global_model_mapping', '{"mapping":{"virtual":[{"model":"gpt-4o-mini","priorities":0}]}}')
    await app.services.options.reload()
    const { page, context } = await open('/admin/settings?ratio=visual')
    const text = (words: string) => () => page.getByText(words).first().waitFor()
    const toast = (words: string) => () => toastShown(page, words)
    const failWhile = async (procedure: string, shown: () => Promise<unknown>, act: () => Promise<unknown>) => {
      const calls = new RegExp(`/trpc/[\\w.,]*${procedure.replaceAll('.', '\\.')}\\b`)
      await page.route(calls, (route) => route.fulfill({ status: 502, body: 'out of order' }))
      await act()
      await shown()
      await page.unroute(calls)
    }
    const main = page.getByRole('main')
    const question = page.getByRole('alertdialog')
    const answer = async (name: string) => {
      await question.getByRole('button', { name }).click()
      await question.waitFor({ state: 'detached' })
    }
    await main.getByRole('button', { name: '添加模型', exact: true }).first().click()
    const drawer = page.getByRole('dialog', { name: '添加模型价格' })
    await drawer.getByRole('textbox', { name: '模型名称' }).fill('a-new-model')
    await drawer.getByRole('textbox', { name: '输入价格' }).fill('3')
    await failWhile('models.catalogPrices', toast('获取预设倍率失败，请重试'), () =>
      drawer.getByRole('button', { name: '从价格目录填入' }).click(),
    )
    await drawer.getByRole('button', { name: '保存', exact: true }).click()
    await toastShown(page, '添加成功')
    await drawer.waitFor({ state: 'detached' })

    await page.getByRole('tab', { name: '模型倍率 JSON' }).click()
    await main.getByRole('button', { name: '重置模型倍率' }).click()
    await failWhile('options.resetModelRatio', text('重置预设倍率失败，请重试'), () =>
      question.getByRole('button', { name: '重置模型倍率' }).click(),
    )
    await answer('取消')
    await main.getByRole('button', { name: '清理', exact: true }).click()
    await failWhile('logs.startClearing', text('日志清理失败：'), () =>
      question.getByRole('button', { name: '清理日志' }).click(),
    )
    await answer('取消')
    await page.getByRole('tab', { name: /未设置倍率模型/ }).click()
    await page.getByRole('checkbox', { name: '选择 unpriced-model' }).locator('xpath=..').click()
    await failWhile('models.catalogPrices', toast('填入官网倍率失败，请稍后重试'), () =>
      main.getByRole('button', { name: '从价格目录填入' }).click(),
    )
    await page.getByRole('tab', { name: '模型相关设置' }).click()
    await page
      .getByRole('row', { name: /virtual/ })
      .getByRole('button')
      .last()
      .click()
    await page.getByRole('menuitem', { name: '删除' }).click()
    await failWhile('options.mapping.update', text('删除失败：'), () =>
      question.getByRole('button', { name: '删除' }).click(),
    )
    await answer('取消')
    await failWhile('options.mapping.get', text('获取模型映射配置失败'), () => page.reload())
    await failWhile('options.list', text('系统设置加载失败'), () => page.reload())
    await context.close()
  })

  test('clears the log with a bar that moves, and stops at one press, keeping what was not reached', async () => {
    const old = 11_000
    await app.pool.query(
      `insert into logs (user_id, type, created_at) select 1, 2, now() - interval '100 days' from generate_series(1, ${old})`,
    )
    const { page, context } = await open('/admin/settings?q=LogConsumeEnabled')
    const left = async () =>
      (await app.pool.query("select 1 from logs where created_at < now() - interval '99 days'")).rowCount
    // The second portion waits for a row of its own that is held, so that how far it is stands still.
    await using unlock = await holdLock(
      app.pool,
      `select 1 from logs where id = (select min(id) + 7000 from logs where created_at < now() - interval '99 days') for update`,
    )
    const main = page.getByRole('main')
    await main.getByRole('button', { name: '清理', exact: true }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: '清理日志' }).click()
    await main.getByText('5,000 / 11,000').waitFor()
    const bar = main.getByRole('progressbar', { name: '清理历史日志' })
    expect(await bar.getAttribute('aria-valuenow')).toBe('5000')
    expect(await main.getByRole('button', { name: '清理', exact: true }).isDisabled()).toBe(true)
    expect(await violationsOf(page)).toEqual([])
    const stopped = page.waitForResponse((response) => response.url().includes('logs.cancelClearing'))
    await main.getByRole('button', { name: '停止' }).click()
    await stopped
    expect((await app.trpc(root).admin.logs.clearing.query())?.running?.ending).toBe(true)
    await unlock()
    await bar.waitFor({ state: 'detached' })
    expect(await main.getByRole('button', { name: '清理', exact: true }).isDisabled()).toBe(false)
    expect(await left()).toBe(old - 10_000)
    await context.close()
  })

  test('leads from the name of a setting in the address to its place among the others', async () => {
    const { page, context } = await open('/admin/settings?q=LogConsumeEnabled')
    const place = page.locator('#option-LogConsumeEnabled[data-found]')
    await place.waitFor()
    expect(await page.getByRole('tab', { name: '运营设置' }).getAttribute('aria-selected')).toBe('true')
    await expect.poll(() => place.evaluate((node) => node.contains(document.activeElement))).toBe(true)
    await expect.poll(() => place.evaluate((node) => node.getBoundingClientRect().top > 0)).toBe(true)
    await context.close()
  })

  test.runIf(long)('edits chat links as rows and keeps their order', async () => {
    const { page, context } = await open('/admin/settings')
    const box = (name: string) => page.getByRole('textbox', { name, exact: true })
    for (const [number, name] of [
      [1, 'First'],
      [2, 'Second'],
    ] as const) {
      await page.getByRole('button', { name: '添加链接' }).click()
      await box(`第 ${number} 个链接的名称`).fill(name)
      if (number === 1) await box('第 1 个链接的地址').fill('https://one.example/?key={key}')
    }
    await page.getByRole('button', { name: '保存', exact: true }).click()
    await page.getByText('每个聊天链接都需要名称和地址').waitFor()
    await box('第 2 个链接的地址').fill('https://two.example')
    await page.getByRole('button', { name: '保存', exact: true }).click()
    await page.getByText('聊天链接「First」的地址无法使用').waitFor()
    await box('第 1 个链接的地址').fill('https://one.example/#/?key={key}')
    await page.getByRole('button', { name: '上移「Second」' }).click()
    await page.getByRole('button', { name: '保存', exact: true }).click()
    await toastShown(page, '保存成功')
    expect(app.services.options.get('Chats')).toEqual([
      { Second: 'https://two.example' },
      { First: 'https://one.example/#/?key={key}' },
    ])
    await context.close()
  })

  test.runIf(long)('tabs, prices and users are accessible', async () => {
    const tabs = ['operation', 'ratelimit', 'models', 'system', 'other'].map((tab) => `/admin/settings?tab=${tab}`)
    const { page, context } = await open('/admin/users')
    const paths = ['/admin/users', ...tabs, '/pricing', '/pricing?view=card&open=gpt-4o-mini']
    for (const path of paths) {
      await follow(page, path)
      await page
        .getByRole('heading', { level: path.includes('tab=') ? 2 : 1 })
        .first()
        .waitFor()
      await drawn(page)
      expect([path, await violationsOf(page)]).toEqual([path, []])
    }
    await context.close()
  })
})
