import { expect, test } from 'vitest'
import { describeWithBrowser } from '../support/chromium.ts'
import { openConsole, startInBrowser } from './console.ts'
import { box, button } from './parts.ts'

describeWithBrowser('the playground, loaded anew', async () => {
  const { app, browser } = await startInBrowser()
  await app.make.channel({ models: 'gpt-4o-mini' })
  await app.settled()

  test('keeps what was asked and what has come of the reply that was under way', async () => {
    const reader = { ...(await app.make.user()), role: 1 }
    await app.settled()
    const { page, context } = await openConsole(browser, app, {
      language: 'en',
      reader,
      path: '/playground?model=gpt-4o-mini',
    })
    await box(page, 'Message').fill('[[words=400,stall=20]] a long answer')
    await page.keyboard.press('Enter')
    await page.locator('[data-reply=incomplete]', { hasText: 'You said' }).waitFor()
    await button(page, 'Stop').waitFor()
    await page.reload()
    await page.locator('[data-turn]', { hasText: 'a long answer' }).waitFor()
    const reply = page.locator('[data-reply=complete]')
    await reply.getByText('Stopped').waitFor()
    expect(await reply.innerText()).toContain('You said')
    await context.close()
  })
})
