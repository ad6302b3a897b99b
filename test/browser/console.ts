import { mkdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { buildConsole } from '#scripts/console.ts'
import { root } from '#scripts/steps.ts'
import type { TestUser } from '../support/factories.ts'

export type Look = { theme?: 'light' | 'dark'; language?: 'zh' | 'en'; width?: number; height?: number }

type Site = { url: string }
type Reader = TestUser & { role?: number }

const building = join(root, 'dist/building')
const longestBuildMs = 120_000

const isAbandoned = (): boolean =>
  Date.now() - (statSync(building, { throwIfNoEntry: false })?.mtimeMs ?? 0) > longestBuildMs

/** Test files run beside each other: one of them builds, the others wait for it. */
export async function builtConsole(): Promise<void> {
  mkdirSync(join(root, 'dist'), { recursive: true })
  for (;;) {
    try {
      mkdirSync(building)
      break
    } catch {
      if (isAbandoned()) rmSync(building, { recursive: true, force: true })
      else await delay(200)
    }
  }
  try {
    if (!buildConsole()) throw new Error('the console could not be built')
  } finally {
    rmSync(building, { recursive: true, force: true })
  }
}

/** What the console itself remembers after login; the cookie is the session. */
async function remember(context: BrowserContext, site: Site, reader: Reader): Promise<void> {
  await context.addCookies([{ name: 'session', value: reader.sessionId, url: site.url, sameSite: 'Strict' }])
  const user = {
    id: reader.id,
    username: reader.username,
    displayName: reader.username,
    role: reader.role ?? 1,
    status: 1,
    group: 'default',
    mustChangePassword: false,
  }
  await context.addInitScript((text) => localStorage.setItem('user', text), JSON.stringify(user))
}

/** A browser window of its own on the running console, signed in where a reader is given. */
export async function openConsole(browser: Browser, site: Site, look: Look & { reader?: Reader } = {}) {
  const { theme = 'light', language = 'zh', width = 1440, height = 900, reader } = look
  const context = await browser.newContext({
    baseURL: site.url,
    viewport: { width, height },
    reducedMotion: 'reduce',
    timezoneId: 'Asia/Shanghai',
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  await context.addInitScript(
    ([mode, words]) => {
      localStorage.setItem('theme-mode', mode ?? '')
      localStorage.setItem('i18nextLng', words ?? '')
    },
    [theme, language],
  )
  if (reader) await remember(context, site, reader)
  // What does not come says where it was awaited before the whole test runs out of time.
  context.setDefaultTimeout(20_000)
  const page = await context.newPage()
  const complaints = listenForComplaints(page)
  return { context, page, complaints }
}

/** What a page must never do: throw, or write an error into its console. */
function listenForComplaints(page: Page): string[] {
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('console', (message) => {
    // A refused call is an answer, which the page shows.
    if (message.type() === 'error' && !message.text().includes('Failed to load resource')) {
      complaints.push(message.text())
    }
  })
  return complaints
}
