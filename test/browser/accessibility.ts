import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type * as Axe from 'axe-core'
import type { Page } from 'playwright-core'

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Selectors of what is looked at, and of what is left out; all of the page unless they say otherwise. */
type Part = { within?: string; without?: string }
type Violation = { id: string; impact: string; html: string[] }

async function findViolations(page: Page, part: Part): Promise<Violation[]> {
  // It is half a megabyte, and stays until another document is loaded.
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(source)
  return page.evaluate(async ({ within, without }) => {
    const { axe } = window as unknown as { axe: typeof Axe }
    const { violations } = await axe.run(
      { include: within ?? document, ...(without === undefined ? {} : { exclude: without }) },
      // What is in frames is not the console's, and what is in order is not reported.
      { iframes: false, resultTypes: ['violations'] },
    )
    return violations.map(({ id, impact, nodes }) => ({
      id,
      impact: impact ?? '',
      html: nodes.map((node) => node.html.slice(0, 160)),
    }))
  }, part)
}

const inWords = ({ id, impact, html }: Violation): string => `${impact} ${id}: ${html.join(' | ')}`

/** What keeps people from using a page, and what makes it harder for them. */
export const violationsOf = async (page: Page, part: Part = {}): Promise<string[]> =>
  (await findViolations(page, part)).map(inWords)

/** What keeps people from using a page. */
export const seriousViolations = async (page: Page, part: Part = {}): Promise<string[]> =>
  (await findViolations(page, part)).filter(({ impact }) => impact === 'serious' || impact === 'critical').map(inWords)
