import { expect, test } from 'vitest'
import { roles } from '#core/roles.ts'
import { describeWithBrowser } from '../support/chromium.ts'
import { follow, openConsole, startInBrowser } from './console.ts'

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

  test('what is wrong comes into view with the focus, also where it is searched for and came last', async () => {
    const { page, context } = await openConsole(browser, app, { reader: root, language: 'en', width: 390, height: 844 })
    await page.goto('/app/tokens?form=new')
    const drawer = page.getByRole('dialog')
    const create = drawer.getByRole('button', { name: 'Create', exact: true })
    const faultyField = drawer.locator('[aria-invalid=true]:focus')
    const expectInView = async (message: string) => {
      const words = drawer.getByText(message)
      await expect.poll(() => words.count()).toBe(1)
      const [top, end] = [await words.boundingBox(), await create.boundingBox()]
      expect((top?.y ?? Infinity) + (top?.height ?? 0)).toBeLessThan(end?.y ?? 0)
    }
    await drawer.getByRole('textbox', { name: 'Name', exact: true }).fill('limited')
    await drawer.getByText('Limit the models').click()
    await drawer.getByRole('textbox', { name: 'Name', exact: true }).focus()
    await create.click()
    await faultyField.and(drawer.getByRole('combobox', { name: 'Models allowed' })).waitFor()
    await expectInView('Choose at least 1')
    // Of two the first as they stand, though the switch brought it after the other.
    await drawer.getByRole('textbox', { name: 'IP allow-list' }).fill('nowhere')
    await drawer.getByRole('textbox', { name: 'Name', exact: true }).focus()
    await create.click()
    await faultyField.and(drawer.getByRole('combobox', { name: 'Models allowed' })).waitFor()

    const { id } = await app.make.channel({ models: 'gpt-4o', key: 'sk-alpha-1111-2222\nsk-beta-3333-4444' })
    await follow(page, `/admin/channels?form=${id}`)
    const save = drawer.getByRole('button', { name: 'Save', exact: true })
    // Of what is stored no key is seen before somebody asks for it.
    const keys = drawer.getByRole('textbox', { name: 'Key' })
    await expect.poll(() => keys.inputValue()).toBe('sk-alp••••2222\nsk-bet••••4444')
    expect(await keys.isEditable()).toBe(false)
    expect(await page.content()).not.toContain('1111-2222')
    await drawer.getByRole('button', { name: 'Copy Key' }).click()
    await expect
      .poll(() => page.evaluate(() => navigator.clipboard.readText()))
      .toBe('sk-alpha-1111-2222\nsk-beta-3333-4444')
    await drawer.getByRole('button', { name: 'Show Key' }).click()
    await expect.poll(() => keys.inputValue()).toBe('sk-alpha-1111-2222\nsk-beta-3333-4444')
    await drawer.getByRole('button', { name: 'Hide Key' }).click()
    await expect.poll(() => keys.inputValue()).toContain('••••')
    for (const name of ['Remove default', 'Show options']) {
      const room = await drawer.getByRole('button', { name }).last().boundingBox()
      expect(Math.min(room?.width ?? 0, room?.height ?? 0)).toBeGreaterThanOrEqual(24)
    }
    await drawer.getByRole('button', { name: 'Remove default' }).click()
    await save.click()
    await faultyField.and(drawer.getByRole('combobox', { name: 'Group' })).waitFor()
    await drawer.getByRole('button', { name: 'Remove gpt-4o' }).click()
    await save.click()
    await faultyField.and(drawer.getByRole('textbox', { name: 'Custom model name' })).waitFor()
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
