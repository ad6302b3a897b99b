import { expect, test } from 'vitest'
import { describeWithBrowser, launchBrowser } from '../support/chromium.ts'
import { violationsOf } from './accessibility.ts'

/** Each character's image as a text; blank ones are empty, and boxes for missing glyphs are all alike. */
const imagesOf = (text: string) => {
  const context = document.createElement('canvas').getContext('2d')
  if (!context) throw new Error('no canvas')
  context.font = '24px sans-serif'
  return [...text].map((character) => {
    context.clearRect(0, 0, 32, 32)
    context.fillText(character, 4, 28)
    const pixels = context.getImageData(0, 0, 32, 32).data
    return pixels.some((value) => value > 0) ? pixels.join() : ''
  })
}

describeWithBrowser('the test browser', () => {
  test('draws Chinese characters, for the screenshots and the contrast checks of the console', async () => {
    const browser = await launchBrowser()
    try {
      const page = await browser.newPage()
      const images = await page.evaluate(imagesOf, '渠道令牌')
      expect(new Set(images.filter(Boolean)).size).toBe(4)
    } finally {
      await browser.close()
    }
  })

  test('finds fields without a name and words that one can hardly read', async () => {
    const browser = await launchBrowser()
    try {
      const page = await (await browser.newContext()).newPage()
      await page.setContent('<body style="background:#fff"><p style="color:#ddd">pale</p><input></body>')
      const found = (await violationsOf(page)).join(' ')
      expect(found).toContain('color-contrast: ')
      expect(found).toContain('label: ')
    } finally {
      await browser.close()
    }
  })
})
