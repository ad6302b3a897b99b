import { expect, test } from 'vitest'
import { setOptions } from '#test/relay/serve.ts'
import { describeWithBrowser } from '../support/chromium.ts'
import { openConsole, startInBrowser } from './console.ts'

describeWithBrowser('the groups of the playground', async () => {
  const { app, browser } = await startInBrowser()
  await app.make.channel({ models: 'gpt-4o-mini', group: 'default' })
  await app.make.channel({ models: 'gpt-4o', group: 'vip' })
  await app.make.channel({ models: 'gpt-4', group: 'partners' })
  await app.make.channel({ models: 'gpt-4.1', group: 'by-name' })
  await setOptions(app, {
    GroupRatio: JSON.stringify({ default: 1, vip: 1, partners: 1, 'by-name': 1 }),
    UserUsableGroups: JSON.stringify({ default: 'Default', vip: 'VIP', 'by-name': 'By its name', auto: 'Any' }),
    AutoGroups: JSON.stringify(['default', 'vip']),
  })
  await app.settled()

  test.each([
    ['vip', ['gpt-4o']],
    ['by-name', ['gpt-4.1']],
    ['auto', ['gpt-4o', 'gpt-4o-mini']],
  ])('%s offers the models that its calls may name', async (group, models) => {
    const reader = { ...(await app.make.user()), role: 1 }
    await app.settled()
    const path = `/playground?group=${group}`
    const { page, context } = await openConsole(browser, app, { language: 'en', reader, path })
    await page.getByRole('combobox', { name: 'Model', exact: true }).click()
    const offered = page.getByRole('option', { name: /^gpt-/ })
    await offered.first().waitFor()
    expect((await offered.allTextContents()).toSorted()).toEqual(models)
    await context.close()
  })
})
