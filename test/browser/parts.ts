import type { Locator, Page } from 'playwright-core'

export const box = (place: Page | Locator, name: string): Locator => place.getByRole('textbox', { name, exact: true })
export const button = (place: Page | Locator, name: string | RegExp): Locator =>
  place.getByRole('button', { name, exact: typeof name === 'string' })

/** Chooses in the menu at the end of a row. */
export async function act(page: Page, name: string, action: string): Promise<void> {
  await button(page, `操作 ${name}`).click()
  await page.getByRole('menuitem', { name: action, exact: true }).click()
}

/** Milliseconds of processor time that the page has used: they do not pass while other programs have the core. */
export async function pageWork(page: Page): Promise<() => Promise<number>> {
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('Performance.enable', { timeDomain: 'threadTicks' })
  return async () => {
    const { metrics } = await devtools.send('Performance.getMetrics')
    return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Infinity) * 1000
  }
}
