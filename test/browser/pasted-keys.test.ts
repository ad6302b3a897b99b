import { expect, test } from 'vitest'
import { roles } from '#core/roles.ts'
import { describeWithBrowser } from '../support/chromium.ts'
import { openConsole, startInBrowser } from './console.ts'

describeWithBrowser('a key that is pasted to find its token', async () => {
  const { app, browser } = await startInBrowser()

  test('is in no address, in the palette and in the list of tokens, and goes to no other list', async () => {
    const reader = { ...(await app.make.user({ role: roles.root })), role: roles.root }
    const [token, another] = [await app.make.token(reader), await app.make.token(reader)]
    const nameOf = ({ key }: typeof token) => `token ${key.slice(0, 4)}`
    const { page, context, complaints } = await openConsole(browser, app, { reader, language: 'en' })
    const addresses: string[] = []
    const paths = new Set<string>()
    page.on('request', (request) => {
      addresses.push(decodeURIComponent(request.url()))
      if (request.postData()?.includes(token.key)) paths.add(new URL(request.url()).pathname)
    })
    await page.goto('/app/tokens')
    const rows = page.getByRole('main')
    await rows.getByText(nameOf(another)).first().waitFor()
    await page.getByRole('button', { name: 'Key', exact: true }).click()
    await page.getByPlaceholder('sk-').fill(`sk-${token.key}`)
    await page.keyboard.press('Enter')
    await rows.getByText(nameOf(another)).first().waitFor({ state: 'detached' })
    await rows.getByText(nameOf(token)).first().waitFor()
    expect(page.url()).not.toContain(token.key)

    await page.keyboard.press('Escape')
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog').getByRole('combobox').fill(`sk-${token.key}`)
    await page.getByRole('option', { name: nameOf(token) }).waitFor()
    expect(addresses.filter((address) => address.includes(token.key))).toEqual([])
    expect([...paths]).toEqual(['/trpc/user.tokens.search'])
    expect(complaints).toEqual([])
    await context.close()
  })
})
