import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { describeWithBrowser } from '../support/chromium.ts'
import { long } from '../support/long.ts'
import { drawn, openConsole, startInBrowser } from './console.ts'
import { box, button } from './parts.ts'

/** Holds back the answers to a question, from the next one on, until they are released. */
async function hold(page: Page, question: RegExp): Promise<() => void> {
  const release = Promise.withResolvers<void>()
  await page.route(question, async (route) => {
    await release.promise
    await route.continue()
  })
  return release.resolve
}

describeWithBrowser('what is selected', async () => {
  const { app, browser } = await startInBrowser()
  const root = { ...(await app.make.user({ username: 'root', role: 100 })), role: 100 }
  for (let number = 1; number <= 11; number += 1) await app.make.channel({ name: `East ${number}`, models: 'gpt-4o' })
  for (const name of ['West 1', 'West 2']) await app.make.channel({ name, models: 'gpt-4o' })
  for (const username of ['north1', 'north2', 'south1']) await app.make.user({ username })
  await app.settled()

  const openChannels = async () => {
    const path = '/admin/channels?keyword=East&size=10'
    const { page, context } = await openConsole(browser, app, { reader: root, path })
    const all = page.getByRole('checkbox', { name: '选择本页全部' })
    const bar = page.getByRole('toolbar', { name: '批量操作' })
    await all.check()
    await bar.getByText('已选择 10 项').waitFor()
    await drawn(page)
    const search = async (words: string) => {
      await page.getByPlaceholder('搜索 ID、名称、密钥').fill(words)
      await page.waitForURL((address) => address.searchParams.get('keyword') === words)
    }
    return { page, context, all, bar, search }
  }

  test('stays on other pages, and goes with the filters; rows that answer to others cannot be ticked', async () => {
    const { page, context, all, bar, search } = await openChannels()
    await button(page, '下一页').click()
    await page.getByRole('cell', { name: 'East 1', exact: true }).waitFor()
    await bar.getByText('已选择 10 项').waitFor()

    const release = await hold(page, /admin\.channels\.list\b/)
    await search('West')
    await bar.waitFor({ state: 'detached' })
    expect(await page.getByRole('cell', { name: 'East 1', exact: true }).count()).toBe(1)
    expect(await all.isDisabled()).toBe(true)
    const ticks = page.getByRole('checkbox', { name: /^选择 East/ })
    expect(await ticks.isDisabled()).toBe(true)
    await page.locator('tr[data-row]').focus()
    await page.keyboard.press('x')
    await page.setViewportSize({ width: 390, height: 844 })
    await page.getByRole('listitem').filter({ has: ticks }).waitFor()
    expect(await ticks.isDisabled()).toBe(true)
    await page.setViewportSize({ width: 1440, height: 900 })
    release()
    await page.getByRole('cell', { name: 'West 1', exact: true }).waitFor()
    expect(await bar.count()).toBe(0)
    await all.check()
    await bar.getByText('已选择 2 项').waitFor()
    await context.close()
  })

  test.runIf(long)('is not what an earlier question is answered with, late', async () => {
    const { page, context, bar, search } = await openChannels()
    const release = await hold(page, /admin\.channels\.matching\b/)
    await button(bar, '选择符合条件的全部 11 项').click()
    await search('West')
    await page.getByRole('cell', { name: 'West 1', exact: true }).waitFor()
    release()
    await drawn(page)
    expect(await bar.count()).toBe(0)
    await context.close()
  })

  test('stays as it was changed while everything that matches was asked for', async () => {
    const { page, context, all, bar } = await openChannels()
    const release = await hold(page, /admin\.channels\.matching\b/)
    const everything = button(bar, '选择符合条件的全部 11 项')
    const asked = page.waitForRequest(/admin\.channels\.matching\b/)
    await everything.click()
    await asked
    await button(bar, '清除选择').click()
    await bar.waitFor({ state: 'detached' })
    // No row moves away from under the pointer for what can be done with it.
    const row = page.locator('tr[data-row]').first()
    const place = await row.boundingBox()
    await all.check()
    await bar.waitFor()
    expect(await row.boundingBox()).toEqual(place)
    await everything.click()
    await page.getByRole('checkbox', { name: '选择 East 11', exact: true }).uncheck()
    await bar.getByText('已选择 9 项').waitFor()
    release()
    await drawn(page)
    await bar.getByText('已选择 9 项').waitFor()
    await button(bar, '清除选择').click()
    await all.check()
    await everything.click()
    await bar.getByText('已选择 11 项').waitFor()
    // All edges of the columns are one stop of the tab key.
    const edges = page.getByRole('separator')
    const stops = () => edges.evaluateAll((all) => all.flatMap((edge, index) => (edge.tabIndex === 0 ? [index] : [])))
    expect(await stops()).toEqual([0])
    await edges.nth(0).focus()
    await page.keyboard.press('ArrowDown')
    expect(await stops()).toEqual([1])
    const before = Number(await edges.nth(1).getAttribute('aria-valuenow'))
    await page.keyboard.press('ArrowRight')
    await expect.poll(() => edges.nth(1).getAttribute('aria-valuenow')).toBe(String(before + 16))
    await context.close()
  })

  test.runIf(long)('is put under the tag that was sent: the dialog takes no other meanwhile', async () => {
    const { page, context, bar } = await openChannels()
    await button(bar, '设置标签').click()
    const dialog = page.getByRole('dialog', { name: '为 10 个渠道设置标签' })
    const field = dialog.getByRole('combobox')
    await field.fill('east')
    await page.getByRole('option', { name: '添加“east”' }).click()
    const release = await hold(page, /admin\.channels\.(setTag|list)\b/)
    const set = page.waitForResponse(/admin\.channels\.setTag\b/)
    const listed = page.waitForRequest(/admin\.channels\.list\b/)
    await button(dialog, '确认').click()
    await expect.poll(() => field.isDisabled()).toBe(true)
    release()
    await set
    await listed
    await dialog.waitFor({ state: 'detached' })
    expect(await bar.count()).toBe(0)
    await context.close()
  })

  test.runIf(long)('are those who were found for a message, once they are', async () => {
    const { page, context } = await openConsole(browser, app, { reader: root, path: '/admin/messages' })
    await button(page, '新建消息').first().click()
    const drawer = page.getByRole('dialog', { name: '新建消息' })
    const here = drawer.getByRole('checkbox', { name: '选择本页' })
    const people = drawer.getByRole('group', { name: '用户' }).getByRole('checkbox')
    const everybody = button(drawer, /^选择全部 \d+ 位匹配的用户$/)
    const usable = async () => [await here.isEnabled(), await people.first().isEnabled(), await everybody.isEnabled()]
    await box(drawer, '搜索用户名或显示名称').fill('north')
    await button(drawer, '选择全部 2 位匹配的用户').waitFor()
    await expect.poll(usable).toEqual([true, true, true])
    const release = await hold(page, /admin\.users\.list\b/)
    await box(drawer, '搜索用户名或显示名称').fill('south')
    await expect.poll(usable).toEqual([false, false, false])
    expect(await people.count()).toBe(2)
    release()
    await button(drawer, '选择全部 1 位匹配的用户').waitFor()
    await here.check()
    await drawer.getByText('已选择 1 位').waitFor()
    await context.close()
  })
})
