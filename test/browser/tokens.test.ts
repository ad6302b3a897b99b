import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { setOptions } from '#test/relay/serve.ts'
import { describeWithBrowser } from '../support/chromium.ts'
import { long } from '../support/long.ts'
import { recordProcessLog } from '../support/process-log.ts'
import { seriousViolations } from './accessibility.ts'
import { drawn, firstText, follow, leftHistory, openConsole, startInBrowser, toastShown } from './console.ts'

/** 1000 prompt and 500 completion tokens at a ratio of 0.075 and a completion ratio of 4. */
const body = {
  model: 'gpt-4o-mini',
  max_tokens: 500,
  messages: [{ role: 'user', content: '[[usage=1000:500]] Tell me something' }],
}
const charge = { quota: 225, shown: '$0.000450' }

const shot = async (page: Page, name: string): Promise<void> => {
  const folder = process.env['SHOTS']
  if (folder) await page.screenshot({ path: `${folder}/${name}.png` })
}

describeWithBrowser('the tokens page', async () => {
  const { app, browser } = await startInBrowser()
  await app.make.channel()
  await app.services.channels.reload()
  const reader = await app.make.user({ quota: 10_000_000 })

  const call = (key: string) => app.relay(key.replace('sk-', ''), '/v1/chat/completions', body)
  const keyShown = async (page: Page): Promise<string> => {
    const line = page.getByText(/^sk-\w{48}$/).first()
    await line.waitFor()
    return (await line.textContent()) ?? ''
  }

  test('leads from a key with a spend cap to its receipt, to the cap that is reached, and to another key of the same token', async () => {
    const { page, complaints } = await openConsole(browser, app, { reader })
    await page.goto('/app/tokens')
    await page.getByRole('button', { name: '新建令牌' }).first().click()
    const drawer = page.getByRole('dialog')
    await drawer.getByRole('textbox', { name: '名称', exact: true }).fill('Capped program')
    await drawer.getByText('不限额度').click()
    await drawer.getByRole('button', { name: '添加消费上限' }).click()
    await drawer.getByRole('combobox', { name: '周期' }).selectOption('任意 5 小时')
    await drawer.locator('[name="spendCaps.0.amount"]').fill('0.0006')
    await shot(page, 'form-zh')
    await drawer.getByRole('button', { name: '创建', exact: true }).click()
    const key = await keyShown(page)
    for (const client of ['opencode', 'Gemini CLI', 'Codex CLI']) {
      await page.getByRole('tab', { name: client }).click()
      await page.getByRole('tabpanel').getByText(key.slice(0, 20)).first().waitFor()
    }
    await shot(page, 'use-zh')
    await page.keyboard.press('Escape')
    await leftHistory(page, 'form', 'use')

    expect((await call(key)).status).toBe(200)
    await page.goto('/app/logs/api-usage')
    await page.getByText(charge.shown).first().click()
    await page.locator('[data-verdict=equal]').getByText(charge.shown).waitFor()
    const refused = await call(key)
    expect([refused.status, (await refused.json()).error.code]).toEqual([429, 'insufficient_quota'])

    await page.goto('/app/tokens')
    const row = page.getByRole('row', { name: /Capped program/ })
    await row.getByText('任意 5 小时').waitFor()
    await row.getByText('恢复时间').waitFor()
    await drawn(page)
    await shot(page, 'tokens-zh')

    await row.getByRole('button', { name: /操作/ }).click()
    await page.getByRole('menuitem', { name: '更换密钥' }).click()
    const question = page.getByRole('alertdialog')
    await question.getByRole('combobox', { name: '旧密钥' }).selectOption('旧密钥立即停用')
    await shot(page, 'rotate-zh')
    await question.getByRole('button', { name: '更换密钥' }).click()
    await toastShown(page, '密钥已更换')
    await expect.poll(() => keyShown(page)).not.toBe(key)
    const next = await keyShown(page)
    expect((await call(key)).status).toBe(401)
    // It is the same token: what was spent stays spent.
    expect((await call(next)).status).toBe(429)
    expect(complaints).toEqual([])
  })

  test('shows caps on a phone and in English, and changes them', async () => {
    const owner = await app.make.user()
    const caps = [{ period: 'rolling' as const, seconds: 18_000, zone: 'UTC', amount: 300, models: [] }]
    const [token] = await app.trpc(owner).user.tokens.createMany.mutate({ name: 'Phone program', spendCaps: caps })
    const { page, complaints } = await openConsole(browser, app, {
      reader: owner,
      language: 'en',
      theme: 'dark',
      width: 390,
      height: 844,
    })
    await app.make.spendCap({ scope: 'user', id: owner.id }, { seconds: 604_800, amount: 50_000_000 })
    await page.goto('/app/tokens')
    await page.getByText('Spend caps of the account, all tokens together').waitFor()
    await page.getByText('Phone program').first().waitFor()
    await page.getByText('Any 5 h').first().waitFor()
    await drawn(page)
    await shot(page, 'tokens-en-phone')
    await page.getByText('Phone program').first().click()
    const drawer = page.getByRole('dialog')
    // What is stored has come once its cap is there.
    await drawer.locator('[name="spendCaps.0.amount"]').waitFor()
    await drawer.getByRole('button', { name: 'Raise for a while' }).click()
    const question = page.getByRole('alertdialog')
    await question.getByRole('textbox', { name: 'Temporary cap' }).fill('0.5')
    await shot(page, 'raise-en-phone')
    await question.getByRole('button', { name: 'Raise', exact: true }).click()
    await toastShown(page, 'The spend cap is raised')
    await drawer.getByRole('button', { name: 'End the raise' }).waitFor()
    await drawer.getByRole('button', { name: 'Add a spend cap' }).click()
    await drawer.locator('[name="spendCaps.1.amount"]').fill('5')
    await shot(page, 'form-en-phone')
    expect(await seriousViolations(page, { within: '[role=dialog]' })).toEqual([])
    await drawer.getByRole('button', { name: 'Save', exact: true }).click()
    await toastShown(page, 'Saved')
    await page.getByText('1 more').first().waitFor()

    // A key fills its first line, instead of leaving its beginning alone there.
    await page.goto(`/app/tokens?use=${token?.id}`)
    await keyShown(page)
    const linesOf = (block: Element) => {
      const range = document.createRange()
      range.selectNodeContents(block)
      return [...range.getClientRects()].map(({ width }) => width)
    }
    const [first = 0, second = 0] = await page
      .getByText(/^sk-\w{48}$/)
      .first()
      .evaluate(linesOf)
    expect(second).toBeGreaterThan(0)
    expect(first).toBeGreaterThan(second)
    expect(complaints).toEqual([])
  })

  test('a row says what its token spent in seven days and when it was last used; the keys of selected tokens are copied', async () => {
    const owner = await app.make.user({ quota: 10_000_000 })
    const tokens = [await app.make.token(owner), await app.make.token(owner)]
    const much = { ...body, messages: [{ role: 'user', content: '[[usage=1000000:0]] Tell me something' }] }
    expect((await app.relay(tokens[0]?.key ?? '', '/v1/chat/completions', much)).status).toBe(200)
    const { page, complaints, context } = await openConsole(browser, app, { reader: owner })
    await page.goto('/app/tokens')
    const row = page.getByRole('row', { name: new RegExp(`token ${tokens[0]?.key.slice(0, 4)}`) })
    await row.getByRole('img', { name: '今天与前 6 天共 $0.15' }).waitFor()
    await row.getByText(/刚刚|分钟/).waitFor()
    await page.getByRole('checkbox', { name: '选择本页全部' }).check()
    await page.getByRole('button', { name: '复制所选密钥' }).click()
    await toastShown(page, '已复制')
    const copied = await page.evaluate(() => navigator.clipboard.readText())
    expect(copied.split('\n').toSorted()).toEqual(tokens.map(({ key }) => `sk-${key}`).toSorted())
    expect(complaints).toEqual([])
    await context.close()
  })

  test.runIf(long)('of a search all that fits is exported, and a space that is typed after a word stays', async () => {
    const owner = await app.make.user({ quota: 10_000_000 })
    await app.trpc(owner).user.tokens.createMany.mutate({ name: 'fleet van', count: 12 })
    await app.trpc(owner).user.tokens.createMany.mutate({ name: 'another' })
    const { page, context } = await openConsole(browser, app, { reader: owner })
    await page.goto('/app/tokens?size=10')
    const search = page.getByPlaceholder('搜索名称')
    await search.fill('fleet ')
    await page.waitForURL(/name=fleet/)
    await drawn(page)
    expect(await search.inputValue()).toBe('fleet ')
    await search.press('End')
    await search.pressSequentially('van')
    await page.waitForURL(/name=fleet(\+|%20)van/)
    await drawn(page)
    const saved = page.waitForEvent('download')
    await page.getByRole('button', { name: '导出 CSV' }).click()
    const lines = (await readFile(await (await saved).path(), 'utf8')).trim().split('\r\n')
    expect(lines).toHaveLength(13)
    await context.close()
  })

  test('a deletion of several that broke off goes on with those that are left', async () => {
    const owner = await app.make.user({ quota: 10_000_000 })
    for (const _ of [1, 2, 3]) await app.make.token(owner)
    const { page, context } = await openConsole(browser, app, { reader: owner })
    const list = Promise.withResolvers<void>()
    await page.route(/tokens\.list/, (route) => list.promise.then(() => route.continue()))
    await page.goto('/app/tokens')
    const all = page.getByRole('checkbox', { name: '选择本页全部' })
    // Before there are rows nothing can be ticked.
    expect(await all.isDisabled()).toBe(true)
    list.resolve()
    let asked = 0
    await page.route(/tokens\.remove/, async (route) => {
      asked += 1
      if (asked === 2) await route.abort()
      else await route.continue()
    })
    await all.check()
    await page.getByRole('button', { name: '删除', exact: true }).click()
    const question = page.getByRole('alertdialog')
    await question.getByRole('button', { name: '删除', exact: true }).click()
    await question.getByRole('alert').waitFor()
    await question.getByRole('button', { name: '删除', exact: true }).click()
    await question.waitFor({ state: 'detached' })
    await page.getByText('还没有令牌').waitFor()
    expect(asked).toBe(5)
    await context.close()
  })

  test.runIf(long)('without a network a change says so and is not made later; lists are read again after', async () => {
    const owner = await app.make.user({ quota: 10_000_000 })
    const token = await app.make.token(owner)
    const { page, context } = await openConsole(browser, app, { reader: owner })
    await page.goto('/app/tokens')
    const actions = page.getByRole('button', { name: /^操作 / })
    // The menu is loaded when it is opened first.
    await actions.click()
    await page.getByRole('menuitem', { name: '禁用', exact: true }).waitFor()
    await context.setOffline(true)
    await page.getByRole('menuitem', { name: '禁用', exact: true }).click()
    await toastShown(page, '无法连接到服务器')
    // What is shown is read again once the network is back, and nothing is sent beside that.
    const readAgain = page.waitForResponse(/user\.tokens\.list/)
    await context.setOffline(false)
    await readAgain
    await drawn(page)
    const { rows } = await app.pool.query('select status from tokens where id = $1', [token.id])
    expect(rows).toEqual([{ status: 1 }])
    await context.close()
  })

  test.runIf(long)('a question that was opened above a form stays when the form closes below it', async () => {
    const { page, complaints, context } = await openConsole(browser, app, { reader })
    const caps = [{ period: 'rolling' as const, seconds: 18_000, zone: 'UTC', amount: 100_000, models: [] }]
    const [token] = await app.trpc(reader).user.tokens.createMany.mutate({ name: 'Raised', spendCaps: caps })
    await page.goto(`/app/tokens?form=${token?.id}`)
    const drawer = page.getByRole('dialog', { name: '编辑令牌' })
    await drawer.locator('[name="spendCaps.0.amount"]').waitFor()
    await drawer.getByRole('button', { name: '临时提高' }).click()
    const question = page.getByRole('alertdialog')
    await question.getByRole('textbox', { name: '临时上限' }).fill('0.5')
    await follow(page, '/app/tokens')
    await drawer.waitFor({ state: 'detached' })
    await question.getByRole('button', { name: '提高', exact: true }).click()
    await toastShown(page, '消费上限已提高')
    const { rows } = await app.pool.query('select raised_amount::int from spend_caps where subject_id = $1', [
      token?.id,
    ])
    expect(rows).toEqual([{ raised_amount: 250_000 }])
    // Neither leaves the page as it was below them.
    await page.getByRole('button', { name: '新建令牌' }).click()
    await page.getByRole('dialog', { name: '新建令牌' }).getByRole('textbox', { name: '名称', exact: true }).focus()

    // The form that closes below the palette gives its focus back, and does not take the palette along.
    await page.keyboard.press('Control+k')
    const palette = page.getByRole('combobox', { name: '搜索页面、令牌或请求 ID' })
    await palette.waitFor()
    await page.goBack()
    await page.getByRole('dialog', { name: '新建令牌' }).waitFor({ state: 'detached' })
    await page.keyboard.press('Escape')
    await palette.waitFor({ state: 'detached' })
    // What had the focus is gone with the form: it goes to the page, or to what the form was opened with.
    const focused = () =>
      page.evaluate(() => {
        const at = document.activeElement
        return at?.tagName === 'BUTTON' ? at.textContent : at?.id
      })
    await expect.poll(focused).toMatch(/^content$|新建令牌/)
    await page.keyboard.press('Control+k')
    await palette.fill('钱包')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/app/wallet')
    expect(complaints).toEqual([])
    await context.close()
  })

  test('opens the operator’s chat page with a key of the reader behind the #, and leads a reader without an enabled token to the tokens', async () => {
    await app.make.token(reader)
    await setOptions(app, {
      Chats: JSON.stringify([
        { Framed: `${app.upstream.url}/#/?key={key}&url={address}` },
        { Leaking: `${app.upstream.url}/?key={key}` },
      ]),
    })
    const { page, complaints } = await openConsole(browser, app, { reader })
    await page.goto('/chat2link')
    await page.getByText('Framed').first().waitFor()
    await page.getByText('聊天链接配置错误').waitFor()
    await drawn(page)
    await shot(page, 'chat-links-zh')
    await page.getByRole('link', { name: '在此打开' }).click()
    await page.waitForURL('**/app/chat/0')
    const frame = page.locator('iframe')
    await frame.waitFor()
    const source = (await frame.getAttribute('src')) ?? ''
    expect(source).toMatch(/#\/\?key=sk-\w{48}&url=http/)
    expect(await frame.getAttribute('referrerpolicy')).toBe('no-referrer')
    await shot(page, 'chat-zh')
    await page.goto('/app/chat/1')
    await page.getByText('聊天链接配置错误').waitFor()

    // A chat page that leads its frame elsewhere would take the key along.
    const asked: { url: string; referer: string | undefined }[] = []
    page.on('request', (request) => asked.push({ url: request.url(), referer: request.headers()['referer'] }))
    await page.addInitScript(() =>
      document.addEventListener('securitypolicyviolation', ({ effectiveDirective }) =>
        document.documentElement.setAttribute('data-refused', effectiveDirective),
      ),
    )
    const elsewhere = 'http://localhost:1/taken'
    await page.route(`${app.upstream.url}/`, (route) =>
      route.fulfill({ status: 302, headers: { location: elsewhere }, body: '' }),
    )
    await page.goto('/app/chat/0')
    await page.locator('[data-refused=frame-src]').waitFor({ state: 'attached' })
    const framed = asked.filter(({ url }) => url.startsWith(app.upstream.url))
    expect(framed.map(({ referer }) => referer)).toEqual([undefined])
    expect(framed[0]?.url).not.toContain('?key')
    expect(asked.map(({ url }) => url)).not.toContain(elsewhere)
    // The browser names what it refused.
    await expect.poll(() => complaints.join()).toContain(elsewhere.replace('taken', ''))
    complaints.splice(0)

    const without = await app.make.user()
    await app.make.token(without, { expiresAt: new Date(Date.now() - 1000) })
    const other = await openConsole(browser, app, { reader: without, language: 'en', path: '/app/wallet' })
    await drawn(other.page)
    const heading = await firstText(other.page, 'h1, h2, h3', 'No enabled token available')
    await follow(other.page, '/app/chat/0')
    expect(await heading()).toBe('No enabled token available')
    await other.page.waitForURL('**/app/tokens')
  })

  test('says which key a chat page is given, changes it with the choice, and neither asks for an address with it nor logs it', async () => {
    const owner = await app.make.user()
    const [first, second] = [await app.make.token(owner), await app.make.token(owner)]
    const keys = [first.key, second.key]
    await setOptions(app, { Chats: JSON.stringify([{ Framed: `${app.upstream.url}/#/?key={key}` }]) })
    const processLog = recordProcessLog(app)
    const { page, context } = await openConsole(browser, app, { reader: owner, language: 'en' })
    const sent: string[] = []
    const written: string[] = []
    page.on('request', (request) => sent.push(`${request.url().split('#')[0]} ${request.postData() ?? ''}`))
    page.on('console', (message) => written.push(message.text()))
    const shownWith = async (key: string) => {
      await page.locator(`iframe[src$="#/?key=sk-${key}"]`).waitFor()
      const mask = `sk-${key.slice(0, 3)}***${key.slice(-3)}`
      await page.getByText(`Its key ${mask} is given to ${new URL(app.upstream.url).host}.`).waitFor()
    }
    // Until its key has come a link shows where it leads, and cannot be opened.
    const isReveal = (url: URL) => url.pathname.includes('user.tokens.reveal')
    const holdReveals = async () => {
      const release = Promise.withResolvers<void>()
      await page.route(isReveal, async (route) => {
        await release.promise
        await route.continue()
      })
      return release
    }
    const release = await holdReveals()
    await page.goto('/chat2link')
    await page.getByText(new URL(app.upstream.url).host).waitFor()
    expect(await page.getByRole('link', { name: 'Open here' }).count()).toBe(0)
    release.resolve()
    await page.getByRole('link', { name: 'Open here' }).waitFor()
    await page.unroute(isReveal)
    await page.goto('/app/chat/0')
    // The newest comes first.
    await shownWith(second.key)
    const choice = page.getByRole('combobox', { name: 'Token in use' })
    await choice.fill(`token ${first.key.slice(0, 4)}`)
    const chosen = await holdReveals()
    await page.getByRole('option').first().click()
    // The page goes with its key, until the other one has come.
    await page.locator('iframe').waitFor({ state: 'detached' })
    chosen.resolve()
    await shownWith(first.key)
    await drawn(page)

    const has = (text: string) => keys.some((key) => text.includes(key))
    expect(sent.length).toBeGreaterThan(5)
    expect(sent.filter(has)).toEqual([])
    expect(written.filter(has)).toEqual([])
    expect(processLog.filter(has)).toEqual([])
    const framed = app.upstream.requests.map(({ path, query, headers }) => JSON.stringify([path, query, headers]))
    expect(framed.filter(has)).toEqual([])
    for (const table of ['logs', 'audit_entries']) {
      const { rows } = await app.pool.query(`select 1 from "${table}" t where t::text like any ($1)`, [
        keys.map((key) => `%${key}%`),
      ])
      expect([table, rows]).toEqual([table, []])
    }
    await context.close()
  })
})
