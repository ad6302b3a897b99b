import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { setOptions } from '#test/relay/serve.ts'
import { describeWithBrowser } from '../support/chromium.ts'
import { isTaken, long } from '../support/long.ts'
import { drawn, follow, openConsole, startInBrowser } from './console.ts'
import { box, button } from './parts.ts'

type Sent = { model: string; temperature?: number; reasoning_effort?: string }

/** What a page sends to its models from now on. */
function sentBy(page: Page): Sent[] {
  const sent: Sent[] = []
  page.on('request', (request) => {
    if (request.url().endsWith('/pg/chat/completions')) sent.push(request.postDataJSON() as Sent)
  })
  return sent
}

/** Holds back what models take, from the next question on, until it is released. */
async function holdParameters(page: Page): Promise<() => void> {
  const release = Promise.withResolvers<void>()
  await page.route(/user\.models\.parameters/, async (route) => {
    await release.promise
    await route.continue()
  })
  return release.resolve
}

describeWithBrowser('the models of the playground', async () => {
  const { app, browser } = await startInBrowser()
  await app.make.channel({ models: 'gpt-4o-mini,o3-mini', group: 'default' })
  await app.make.channel({ models: 'gpt-4o', group: 'vip' })
  await app.make.channel({ models: 'gpt-4', group: 'partners' })
  await app.make.channel({ models: 'gpt-4.1', group: 'by-name' })
  await setOptions(app, {
    GroupRatio: JSON.stringify({ default: 1, vip: 1, partners: 1, 'by-name': 1 }),
    UserUsableGroups: JSON.stringify({ default: 'Default', vip: 'VIP', 'by-name': 'By its name', auto: 'Any' }),
    AutoGroups: JSON.stringify(['default', 'vip']),
  })
  await app.settled()

  const offers = [
    ['vip', ['gpt-4o']],
    ['by-name', ['gpt-4.1']],
    ['auto', ['gpt-4o', 'gpt-4o-mini']],
  ] as const
  test.each(offers.filter((_, place) => isTaken(2, place, 1)))(
    '%s offers the models that its calls may name',
    async (group, models) => {
      const reader = { ...(await app.make.user()), role: 1 }
      await app.settled()
      const path = `/playground?group=${group}`
      const { page, context } = await openConsole(browser, app, { language: 'en', reader, path })
      await page.getByRole('combobox', { name: 'Model', exact: true }).click()
      const offered = page.getByRole('option', { name: /^gpt-/ })
      await offered.first().waitFor()
      expect((await offered.allTextContents()).toSorted()).toEqual(models)
      await context.close()
    },
  )

  /** Where a reader has chosen how hard models think that do. */
  const openWithEffort = async () => {
    const reader = { ...(await app.make.user()), role: 1 }
    await app.settled()
    const opened = await openConsole(browser, app, { language: 'en', reader, path: '/playground?model=o3-mini' })
    await opened.page.getByRole('combobox', { name: 'Reasoning effort' }).selectOption('high')
    return opened
  }

  test('nothing is sent before it is known what the model takes: neither a message nor what asks again', async () => {
    const { page, context } = await openWithEffort()
    const sent = sentBy(page)
    const complete = page.locator('[data-reply=complete]')
    const releaseFirst = await holdParameters(page)
    await page.goto('/playground?model=o3-mini')
    await box(page, 'Message').fill('think')
    await page.keyboard.press('Enter')
    await expect.poll(() => button(page, 'Send').isDisabled()).toBe(true)
    expect(sent).toEqual([])
    releaseFirst()
    await complete.waitFor()

    await page.unrouteAll()
    const releaseSecond = await holdParameters(page)
    await page.reload()
    await complete.waitFor()
    expect(await button(page, 'Answer again').isDisabled()).toBe(true)
    releaseSecond()
    await button(page, 'Answer again').click()
    await expect.poll(() => sent.length).toBe(2)
    for (const body of sent) {
      expect(body).toMatchObject({ model: 'o3-mini', reasoning_effort: 'high' })
      expect(body).not.toHaveProperty('temperature')
    }
    await context.close()
  })

  test.runIf(long)('of two models neither is asked before both are known, and each is sent what it takes', async () => {
    const { page, context } = await openWithEffort()
    await page.goto('/playground?model=gpt-4o-mini&beside=gpt-4o-mini')
    await drawn(page)
    const sent = sentBy(page)
    const release = await holdParameters(page)
    await follow(page, '/playground?model=gpt-4o-mini&beside=o3-mini')
    await page.getByRole('log', { name: /o3-mini/ }).waitFor()
    await box(page, 'Message').fill('think')
    await page.keyboard.press('Enter')
    await expect.poll(() => button(page, 'Send').isDisabled()).toBe(true)
    expect(sent).toEqual([])
    release()
    await expect.poll(() => page.locator('[data-reply=complete]').count()).toBe(2)
    expect(Object.fromEntries(sent.map(({ model, ...body }) => [model, body.reasoning_effort]))).toEqual({
      'gpt-4o-mini': undefined,
      'o3-mini': 'high',
    })
    await context.close()
  })

  test.runIf(long)('what a model takes cannot be found out: a message goes all the same', async () => {
    const { page, context } = await openWithEffort()
    await page.goto('/playground?model=gpt-4o-mini')
    await drawn(page)
    await page.route(/user\.models\.parameters/, (route) => route.fulfill({ status: 500 }))
    await follow(page, '/playground?model=o3-mini')
    await box(page, 'Message').fill('think')
    await page.keyboard.press('Enter')
    await page.locator('[data-reply=complete]').waitFor()
    await context.close()
  })
})
