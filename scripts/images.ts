import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { demoNotice, demoPassword } from '#test/seed/index.ts'
import { launchBrowser } from '#test/support/chromium.ts'
import { launchProduct, until } from '#test/support/processes.ts'
import { fingerprintOf } from '../client/lib/announcement.ts'
import { root } from './steps.ts'

/** The dashboard that the home page and the README show, of a user of a demo world that is new. */
const reader = 'xiaochen'
const path = '/app/dashboard'
const viewport = { width: 1440, height: 900 }
const themes = ['light', 'dark'] as const
const languages = ['zh', 'en'] as const

/** Where it is evening now: the last day of the charts is then nearly over, whenever they are taken. */
function eveningZone(): string {
  const ahead = ((20 - new Date().getUTCHours() + 36) % 24) - 12
  return `Etc/GMT${ahead > 0 ? '-' : '+'}${Math.abs(ahead)}`
}

type Look = { theme: (typeof themes)[number]; language: (typeof languages)[number] }

async function open(browser: Browser, url: string, { theme, language }: Look): Promise<Page> {
  const context = await browser.newContext({
    baseURL: url,
    viewport,
    reducedMotion: 'reduce',
    timezoneId: eveningZone(),
  })
  await context.addInitScript(
    (entries) => Object.entries(entries).forEach(([key, value]) => localStorage.setItem(key, value)),
    {
      'theme-mode': theme,
      i18nextLng: language,
      announcement: JSON.stringify(fingerprintOf(demoNotice)),
    },
  )
  const page = await context.newPage()
  await page.goto(`/login?returnTo=${path}`)
  await page.locator('input[name=username]').fill(reader)
  await page.locator('input[name=password]').fill(demoPassword)
  await page.keyboard.press('Enter')
  // Its four charts are what comes last.
  await page.locator('.recharts-surface').nth(3).waitFor()
  await page.waitForFunction(() => document.querySelector('[aria-busy=true], [data-scope=toast] > *') === null)
  await page.mouse.move(0, 0)
  return page
}

/** As the browser compresses it: Playwright itself takes none as WebP. */
async function takeWebp(page: Page): Promise<Buffer> {
  const session = await page.context().newCDPSession(page)
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 82 })
  return Buffer.from(data, 'base64')
}

async function takeImages(browser: Browser, url: string): Promise<void> {
  for (const theme of themes)
    for (const language of languages) {
      const page = await open(browser, url, { theme, language })
      const file = `client/features/site/screenshots/${theme}-${language}.webp`
      writeFileSync(join(root, file), await takeWebp(page))
      console.log(file)
      if (theme === 'light' && language === 'en') {
        await page.screenshot({ path: join(root, 'docs/images/dashboard.png') })
        console.log('docs/images/dashboard.png')
      }
      await page.context().close()
    }
}

const folder = mkdtempSync(join(tmpdir(), 'images-'))
const demo = await launchProduct({ entry: 'scripts/demo.ts', environment: { DATA_DIR: folder } })
try {
  await until(() => demo.output().includes('Sign in:'), { unless: demo.exited, what: demo.output })
  await takeImages(await launchBrowser(), demo.url)
} finally {
  process.kill(demo.pid, 'SIGTERM')
  await demo.exited
  rmSync(folder, { recursive: true })
}
process.exit(0)
