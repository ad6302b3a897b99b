import type { CDPSession, Page } from 'playwright-core'

/** Pixels by which the page is wider than its window. */
export const overflow = (page: Page): Promise<number> =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)

/**
 * Texts that have less room than they need. What ends in an ellipsis is data, whole on hover (`HoverTips`); the name of a control, a
 * column or a section is never cut, nor does it stand over its edge.
 */
function textsCut(): string[] {
  const names = 'button, label, th, legend, h1, h2, h3, h4, [role=tab], [role=menuitem], [role=option]'
  const isCut = (element: HTMLElement): boolean => {
    // A pixel is where texts stand that are for screen readers alone.
    if (element.clientWidth <= 1 || element.scrollWidth <= element.clientWidth + 1) return false
    const { overflowX, textOverflow } = getComputedStyle(element)
    const isName = element.closest(names) !== null
    if (/auto|scroll/.test(overflowX) || (overflowX === 'visible' && !element.matches(names))) return false
    return (isName || textOverflow !== 'ellipsis') && element.innerText.trim() !== ''
  }
  return [...document.querySelectorAll<HTMLElement>('body *:not(input, textarea, select, svg *)')]
    .filter(isCut)
    .map(({ tagName, innerText, scrollWidth, clientWidth }) => {
      const words = innerText.replaceAll(/\s+/g, ' ').slice(0, 60)
      return `${tagName.toLowerCase()} “${words}” needs ${scrollWidth} of ${clientWidth} px`
    })
}

/** What does not fit into the window. */
export async function widthFaults(page: Page): Promise<string[]> {
  const beyond = await overflow(page)
  return [...(beyond > 0 ? [`is ${beyond} px wider than its window`] : []), ...(await page.evaluate(textsCut))]
}

const devtools = new WeakMap<Page, Promise<CDPSession>>()
const devtoolsOf = (page: Page): Promise<CDPSession> => {
  const session = devtools.get(page) ?? page.context().newCDPSession(page)
  devtools.set(page, session)
  return session
}

export const widthOf = (page: Page): Promise<number> => page.evaluate(() => window.innerWidth)

/**
 * Makes the window narrower or wider, and waits until the page has taken its new form. Not by `setViewportSize`: a page whose window
 * was resized so may never again be idle (Chromium 153).
 */
export async function widen(page: Page, width: number): Promise<void> {
  const metrics = { width, height: 900, deviceScaleFactor: 1, mobile: false }
  await (await devtoolsOf(page)).send('Emulation.setDeviceMetricsOverride', metrics)
  await page.evaluate(async () => {
    for (let frames = 0; frames < 2; frames += 1) await new Promise((resolve) => requestAnimationFrame(resolve))
  })
  await page.waitForFunction(() => document.querySelector('[aria-busy=true]') === null)
}
