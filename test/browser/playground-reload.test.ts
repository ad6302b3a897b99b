import { expect, test } from 'vitest'
import { describeWithBrowser } from '../support/chromium.ts'
import { long } from '../support/long.ts'
import { follow, openConsole, startInBrowser } from './console.ts'
import { box, button } from './parts.ts'

describeWithBrowser('what the playground keeps', async () => {
  const { app, browser } = await startInBrowser()
  await app.make.channel({ models: 'gpt-4o-mini' })
  await app.settled()

  test('stays when it is loaded anew: what was asked, and what has come of the reply that was under way', async () => {
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

  test.runIf(long)('is named and removed by the keyboard alone, which is never left behind the list', async () => {
    const reader = { ...(await app.make.user()), role: 1 }
    await app.settled()
    const path = '/playground?model=gpt-4o-mini'
    const { page, context } = await openConsole(browser, app, { language: 'en', reader, path })
    const say = async (words: string) => {
      await box(page, 'Message').fill(words)
      await page.keyboard.press('Enter')
      await page.locator('[data-reply=complete]', { hasText: `You said: ${words}` }).waitFor()
    }
    await say('Rome')
    await button(page, 'New conversation').click()
    await say('Pisa')
    const list = page.getByRole('dialog', { name: 'Conversations' })
    const question = page.getByRole('alertdialog')
    await button(page, 'Conversations').press('Enter')
    // A dialog takes the focus some time after it has come, from wherever that is then.
    await list.locator(':focus').waitFor()
    const remove = async (name: string) => {
      await button(list, `Delete ${name}`).press('Enter')
      await question.locator(':focus').waitFor()
      await button(question, 'Delete').press('Enter')
      await question.waitFor({ state: 'hidden' })
    }
    const focused = (name: string) => list.locator(`:focus:is([aria-label="${name}"])`).waitFor()
    await button(list, 'Rename Rome').press('Enter')
    await focused('Name of the conversation')
    await page.keyboard.press('Escape')
    await focused('Rename Rome')
    await page.keyboard.press('Enter')
    await box(list, 'Name of the conversation').fill('Trip')
    await page.keyboard.press('Enter')
    await focused('Rename Trip')
    await remove('Trip')
    await expect.poll(() => list.getByRole('listitem').count()).toBe(1)
    await focused('Search conversations')
    // With the one on the page the page begins anew.
    await remove('Pisa')
    await list.waitFor({ state: 'hidden' })
    await page.locator('textarea:focus').waitFor()
    await context.close()
  })

  test('stays where it was typed and not sent: beside other conversations, and after the session; only who says so leaves nothing', async () => {
    const reader = { ...(await app.make.user()), role: 1 }
    await app.settled()
    const path = '/playground?model=gpt-4o-mini'
    const { page, context } = await openConsole(browser, app, { language: 'en', reader, path })
    const typed = async (words: string) => {
      await expect.poll(() => box(page, 'Message').inputValue()).toBe(words)
    }
    const list = page.getByRole('dialog', { name: 'Conversations' })
    await box(page, 'Message').fill('Rome')
    await page.keyboard.press('Enter')
    await page.locator('[data-reply=complete]', { hasText: 'You said: Rome' }).waitFor()
    await box(page, 'Message').fill('to go on with')
    await button(page, 'New conversation').click()
    await typed('')
    await box(page, 'Message').fill('to begin with')
    await button(page, 'Conversations').click()
    await list.getByRole('button', { name: /^Rome/ }).click()
    await typed('to go on with')
    await button(page, 'New conversation').click()
    await typed('to begin with')

    const expireIn = (days: number) =>
      app.pool.query("update sessions set expires_at = now() + $1 * interval '1 day' where user_id = $2", [
        days,
        reader.id,
      ])
    await expireIn(-1)
    await follow(page, '/app/wallet')
    await page.waitForURL('**/login?*')
    await expireIn(1)
    await page.goto('/playground')
    await typed('to begin with')

    // A conversation that is removed takes with it what was said, and not what is being typed.
    await button(page, 'Conversations').click()
    await list.getByRole('button', { name: /^Rome/ }).click()
    await typed('to go on with')
    await button(page, 'Conversations').click()
    await button(list, 'Delete Rome').click()
    await button(page.getByRole('alertdialog'), 'Delete').click()
    await page.getByText('Talk to a model').waitFor()
    await typed('to go on with')

    const stored = () => page.evaluate(() => Object.keys(sessionStorage).filter((key) => key.startsWith('playground')))
    expect(await stored()).toEqual([`playground-drafts-${reader.id}`])
    await button(page, 'Conversations').click()
    await list.getByText('Delete my conversations and settings from this browser when I sign out').click()
    await page.keyboard.press('Escape')
    await button(page, reader.username).click()
    await page.getByRole('menuitem', { name: 'Log out' }).click()
    await page.waitForURL('**/login')
    expect(await stored()).toEqual([])
    await context.close()
  })

  test('a reply whose connection broke says what it cost, however late that is known', async () => {
    const reader = { ...(await app.make.user()), role: 1 }
    await app.settled()
    const path = '/playground?model=gpt-4o-mini'
    const { page, context } = await openConsole(browser, app, { language: 'en', reader, path })
    let refused = 0
    await page.route(/user\.logs\.get/, (route) => (refused++ < 4 ? route.abort() : route.continue()))
    await box(page, 'Message').fill('[[words=400,cut=20]] count')
    await page.keyboard.press('Enter')
    await page.locator('[data-reply=error]', { hasText: 'You said' }).locator('[data-charge=exact]').waitFor()
    await context.close()
  })
})
