import { expect, test } from 'vitest'
import { roles } from '#core/roles.ts'
import { describeWithBrowser } from '../support/chromium.ts'
import { openConsole, startInBrowser } from './console.ts'

describeWithBrowser('fields of forms', async () => {
  const { app, browser } = await startInBrowser()
  const root = { ...(await app.make.user({ role: roles.root })), role: roles.root }

  test('a token form refuses a time that is typed in part or has passed, and says so beside the field', async () => {
    const { page, context } = await openConsole(browser, app, { reader: root, language: 'en' })
    await page.goto('/app/tokens?form=new')
    const drawer = page.getByRole('dialog')
    await drawer.getByRole('textbox', { name: 'Name', exact: true }).fill('too late')
    const [time, create] = [
      drawer.locator('[name=expiresAt]'),
      drawer.getByRole('button', { name: 'Create', exact: true }),
    ]
    // A day without an hour has no value, as an empty field has none: it would never expire.
    await time.focus()
    await page.keyboard.type('01012030')
    await create.click()
    await drawer.getByText('The expiry time format is wrong!').waitFor()
    await drawer.getByRole('button', { name: 'Never expires' }).click()
    await drawer.getByText('The expiry time format is wrong!').waitFor({ state: 'detached' })
    expect(await time.evaluate((field: HTMLInputElement) => field.validity.badInput)).toBe(false)
    await time.fill('2020-01-01T00:00')
    await create.click()
    await drawer.getByText('The expiry time must be in the future').waitFor()
    expect((await app.pool.query("select 1 from tokens where name = 'too late'")).rowCount).toBe(0)
    await context.close()
  })

  test('the models of music are a fixed list, which a channel of no other type keeps', async () => {
    const { page, context } = await openConsole(browser, app, { reader: root, language: 'en' })
    await page.goto('/admin/channels?form=new')
    const drawer = page.getByRole('dialog')
    const type = drawer.getByRole('combobox', { name: 'Type' })
    const models = drawer.getByRole('group', { name: 'Selected models' })
    await type.click()
    await page.keyboard.type('suno')
    await page.getByRole('option', { name: /Suno/ }).click()
    await expect.poll(() => models.allTextContents()).toEqual(['suno_musicsuno_lyrics'])
    await type.click()
    await page.keyboard.type('openai')
    await page.getByRole('option', { name: 'OpenAI', exact: true }).click()
    await models.waitFor({ state: 'detached' })
    // One that is stored has its own again once its type is chosen again.
    const { id } = await app.make.channel({ models: 'gpt-4o,gpt-4o-mini' })
    const opened = await openConsole(browser, app, { reader: root, language: 'en' })
    await opened.page.goto(`/admin/channels?form=${id}`)
    const editor = opened.page.getByRole('dialog')
    const own = editor.getByRole('group', { name: 'Selected models' })
    await expect.poll(() => own.allTextContents()).toEqual(['gpt-4ogpt-4o-mini'])
    for (const [typed, option, expected] of [
      ['suno', /Suno/, 'suno_musicsuno_lyrics'],
      ['openai', /^OpenAI$/, 'gpt-4ogpt-4o-mini'],
    ] as const) {
      await editor.getByRole('combobox', { name: 'Type' }).click()
      await opened.page.keyboard.type(typed)
      await opened.page.getByRole('option', { name: option }).click()
      await expect.poll(() => own.allTextContents()).toEqual([expected])
    }
    await opened.context.close()
    await context.close()
  })
})
