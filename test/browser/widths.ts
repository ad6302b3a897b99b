import type { Page } from 'playwright-core'

/** Pixels by which the page is wider than its window. */
const overflow = (page: Page): Promise<number> =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)

/**
 * What has less room than it needs. A text that ends in an ellipsis is data, whole on hover (`HoverTips`); an image is never cut,
 * nor is the name of a control, a column or a section, and it does not stand over its edge.
 */
function cutOff(): string[] {
  const names = 'button, label, th, legend, h1, h2, h3, h4, [role=tab], [role=menuitem], [role=option]'
  const isCut = (element: HTMLElement): boolean => {
    // A pixel is where texts stand that are for screen readers alone.
    if (element.clientWidth <= 1 || element.scrollWidth <= element.clientWidth + 1) return false
    const { overflowX, textOverflow } = getComputedStyle(element)
    const isName = element.closest(names) !== null
    if (/auto|scroll/.test(overflowX) || (overflowX === 'visible' && !element.matches(names))) return false
    const isImage = element.innerText.trim() === ''
    return isImage ? element.querySelector('svg, img') !== null : isName || textOverflow !== 'ellipsis'
  }
  return [...document.querySelectorAll<HTMLElement>('body *:not(input, textarea, select, svg *)')]
    .filter(isCut)
    .map(({ tagName, innerText, scrollWidth, clientWidth }) => {
      const words = innerText.replaceAll(/\s+/g, ' ').slice(0, 60) || 'image'
      return `${tagName.toLowerCase()} “${words}” needs ${scrollWidth} of ${clientWidth} px`
    })
}

/** What does not fit into the window. */
export async function widthFaults(page: Page): Promise<string[]> {
  const beyond = await overflow(page)
  return [...(beyond > 0 ? [`is ${beyond} px wider than its window`] : []), ...(await page.evaluate(cutOff))]
}
