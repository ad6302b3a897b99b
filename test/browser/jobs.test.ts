import type { Locator, Page } from 'playwright-core'
import { afterAll, expect, test } from 'vitest'
import { describeWithBrowser } from '../support/chromium.ts'
import { completion, startReceiver } from '../support/receiver.ts'
import { seriousViolations } from './accessibility.ts'
import { drawn, openConsole, startInBrowser, toastShown } from './console.ts'

const button = (place: Page | Locator, name: string): Locator => place.getByRole('button', { name, exact: true })

describeWithBrowser('work that runs by itself', async () => {
  const { app, browser } = await startInBrowser()
  const root = await app.make.user({ username: 'root', role: 100 })
  // The first test passes, the others wait for somebody to end them.
  let tests = 0
  const upstream = await startReceiver(({ path }) => {
    if (path.endsWith('/models')) return { body: { data: [{ id: 'gpt-4o-mini' }, { id: 'newcomer' }] } }
    tests += 1
    return { body: completion, delayMs: tests === 1 ? 0 : 600_000 }
  })
  afterAll(() => upstream[Symbol.asyncDispose]())

  const open = (path: string) => openConsole(browser, app, { reader: { ...root, role: 100 }, path })

  test('is listed for root with its last run and the next, and runs at the press of a button', async () => {
    const { page, complaints } = await open('/admin/settings?tab=operation')
    const list = page.getByRole('list', { name: '定时任务' })
    await list.waitFor()
    await expect.poll(() => list.getByRole('listitem').count()).toBeGreaterThanOrEqual(5)
    const retention = list.getByRole('listitem').filter({ hasText: '清理过期数据' })
    await retention.getByText('尚未运行').waitFor()
    await button(retention, '立即运行 清理过期数据').click()
    await retention.getByText('已清理 0 行过期数据，其中日志 0 行').waitFor()
    await retention.getByText('下次运行').waitFor()
    await list.scrollIntoViewIfNeeded()
    expect(await seriousViolations(page)).toEqual([])
    expect(complaints).toEqual([])
  })

  test('charges that the database refused are named on the dashboard, read in the settings, booked again or given back', async () => {
    const [first, second] = [await app.make.user({ quota: 1000 }), await app.make.user({ quota: 1000 })]
    const numbers = { tokenId: 0, channelId: 0, quota: 300, promptTokens: 1, completionTokens: 2, cachedTokens: 0 }
    const texts = { content: '', username: '', tokenName: '', modelName: 'gpt-4o-mini', group: 'default', clientIp: '' }
    const times = { useTimeMs: 5, firstTokenMs: null }
    const row = { ...numbers, ...texts, ...times, counted: true, log: true, isStream: false, other: {} }
    for (const [index, user] of [first, second].entries())
      await app.pool.query("select ledger_set_aside($1, $2, 0, 0, 300, $3, 'this row is refused')", [
        `refused-${index}`,
        user.id,
        JSON.stringify({ ...row, id: `refused-${index}`, userId: user.id }),
      ])
    const balances = async () =>
      (await app.pool.query('select quota::int from users where id = any ($1) order by id', [[first.id, second.id]]))
        .rows
    const { page, complaints } = await open('/app/dashboard')
    await page.getByText('未入账的扣费：2 笔').waitFor()
    await page.getByRole('link', { name: '查看', exact: true }).click()
    const list = page.getByRole('list', { name: '未入账的扣费' })
    await button(list, '查看请求“refused-0”的扣费').click()
    const sheet = page.getByRole('dialog', { name: '未入账的扣费' })
    await sheet.getByText('"modelName": "gpt-4o-mini"').waitFor()
    expect(await seriousViolations(page)).toEqual([])
    await button(sheet, '关闭').click()
    await button(list, '将请求“refused-0”的扣费重新入账').click()
    await button(list, '查看请求“refused-0”的扣费').waitFor({ state: 'detached' })
    await button(list, '退还请求“refused-1”的额度').click()
    await button(page.getByRole('alertdialog').or(page.getByRole('dialog')), '退还').click()
    await page.getByText('没有未入账的扣费').waitFor()
    expect(await balances()).toEqual([{ quota: 700 }, { quota: 1000 }])
    expect(complaints).toEqual([])
  })

  test('on all channels that ends before anybody sees it run is reported, and the channels are read again', async () => {
    const { id } = await app.make.channel({ name: 'resting', status: 2 })
    const { page, context, complaints } = await open('/admin/channels')
    await page.getByRole('cell', { name: 'resting', exact: true }).waitFor()
    await drawn(page)
    const isOver =
      "select 1 from job_runs where name = 'channel-balances' and started_at is not null and running_since is null"
    await page.route(/admin\.channels\.runs\b/, async (route) => {
      await expect.poll(async () => (await app.pool.query(isOver)).rowCount).toBe(1)
      await route.continue()
    })
    await button(page, '批量操作').click()
    await page.getByRole('menuitem', { name: '更新所有渠道余额' }).click()
    await Promise.all([
      page.waitForRequest(/admin\.channels\.list\b/),
      toastShown(page, '已更新 0 个渠道的余额'),
      button(page.getByRole('alertdialog'), '开始更新').click(),
    ])
    expect(complaints).toEqual([])
    await context.close()
    await app.pool.query('delete from channels where id = $1', [id])
  })

  test('on all channels shows its progress, can be stopped, and shows the models that the upstream lists beyond a channel', async () => {
    const channels = app.trpc(root).admin.channels
    // A test is given up after a minute without a byte; a busy machine may take longer to press the button.
    const given = { type: 1, key: 'sk-x', models: ['gpt-4o-mini'], setting: '{"first_byte_timeout":600}' }
    for (const name of ['first', 'second', 'third'])
      await channels.create.mutate({ ...given, name, baseUrl: upstream.url })
    await (
      await app.services.jobs.run('channel-models')
    ).finished
    const { page, complaints } = await open('/admin/channels')
    await page.getByRole('img', { name: '上游新增 1 个模型，减少 0 个' }).first().waitFor()
    await button(page, '批量操作').click()
    await page.getByRole('menuitem', { name: '测试所有渠道' }).click()
    await button(page.getByRole('alertdialog').or(page.getByRole('dialog')), '开始测试').click()
    await page.getByText('1 / 3').waitFor()
    expect(await seriousViolations(page)).toEqual([])
    // Whoever comes later sees it too.
    await page.reload()
    await button(page, '停止 测试所有渠道').click()
    await toastShown(page, '已测试 1 个渠道')
    await page.getByText('first', { exact: true }).click()
    const panel = page
      .getByRole('dialog', { name: '渠道 first' })
      .or(page.getByRole('complementary', { name: '渠道 first' }))
    await button(panel, '加入新增的 1 个').click()
    await expect
      .poll(async () => (await app.pool.query("select models from channels where name = 'first'")).rows[0].models)
      .toBe('gpt-4o-mini,newcomer')
    expect(complaints).toEqual([])
  })
})
