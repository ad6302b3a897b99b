import { Client } from 'pg'
import type { Browser, BrowserContext, Locator, Page, Request } from 'playwright-core'
import { afterAll, inject } from 'vitest'
import { fingerprintOf } from '../../client/lib/announcement.ts'
import { buildConsole } from '#scripts/console.ts'
import { type App, startApp } from '../support/app.ts'
import { complaintsOfPages, launchBrowser } from '../support/chromium.ts'
import { until } from '../support/processes.ts'
import { demoNotice } from '#test/seed/index.ts'
import type { TestUser } from '../support/factories.ts'

/** How long anything in a page may take: a shared machine stalls for seconds at a time. */
const timeoutMs = 60_000

export type Look = { theme?: 'light' | 'dark'; language?: 'zh' | 'en'; width?: number; height?: number }

type Site = { url: string }
type Reader = TestUser & { role?: number }

/** Test files run beside each other: one of them builds, the others wait for it. The lock ends with whoever has it. */
export async function builtConsole(): Promise<void> {
  const lock = new Client(inject('databaseServer'))
  await lock.connect()
  try {
    await lock.query("select pg_advisory_lock(hashtext('console'))")
    if (!buildConsole()) throw new Error('the console could not be built')
  } finally {
    await lock.end()
  }
}

/**
 * The built console on an app of its own, and a browser, for the tests of the `describe` that awaits them; they end with it. With
 * `setUp: false` its set-up page is still open.
 */
export async function startInBrowser({ setUp = true } = {}): Promise<{ app: App; browser: Browser }> {
  await builtConsole()
  const app = await startApp()
  if (setUp) await app.pool.query("insert into setup_records (id, version, initialized_at) values (1, '0', now())")
  const browser = await launchBrowser()
  afterAll(async () => {
    await browser.close()
    await app[Symbol.asyncDispose]()
  })
  return { app, browser }
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
  await context.addInitScript((text) => {
    // A frame may have no storage.
    if (window === window.top) localStorage.setItem('user', text)
  }, JSON.stringify(user))
}

/** A browser window of its own on the running console, signed in where a reader is given, and on the page of `path`. */
export async function openConsole(browser: Browser, site: Site, look: Look & { reader?: Reader; path?: string } = {}) {
  const { theme = 'light', language = 'zh', width = 1440, height = 900, reader, path } = look
  const context = await browser.newContext({
    baseURL: site.url,
    viewport: { width, height },
    reducedMotion: 'reduce',
    timezoneId: 'Asia/Shanghai',
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  await context.addInitScript(
    ([mode, words, announcement]) => {
      if (window !== window.top) return
      localStorage.setItem('theme-mode', mode ?? '')
      localStorage.setItem('i18nextLng', words ?? '')
      // Who opens the demonstration has read what it announces.
      localStorage.setItem('announcement', JSON.stringify(announcement))
    },
    [theme, language, fingerprintOf(demoNotice)],
  )
  if (reader) await remember(context, site, reader)
  await context.addInitScript(keepToasts)
  const page = await context.newPage()
  followRequests(page)
  const complaints = listenForComplaints(page)
  if (path) await page.goto(path)
  return { context, page, complaints }
}

type Keeping = { shownToasts: string[] }

/** Toasts go by themselves after some seconds, which a busy machine may spend elsewhere. */
function keepToasts(): void {
  const shown: string[] = []
  Object.assign(window, { shownToasts: shown } satisfies Keeping)
  const note = (node: Node): void => {
    const isToast = node.parentElement?.matches('[data-scope=toast]') ?? false
    if (isToast && node.textContent) shown.push(node.textContent)
  }
  new MutationObserver((changes) => {
    for (const { addedNodes } of changes) addedNodes.forEach(note)
  }).observe(document, { childList: true, subtree: true })
}

/** Waits until a toast has said this, whether or not it still stands there. Each counts once. */
export async function toastShown(page: Page, words: string): Promise<void> {
  await page.waitForFunction((sought) => {
    const all = (window as unknown as Keeping).shownToasts
    const at = all.findIndex((text) => text.includes(sought))
    return at >= 0 && all.splice(0, at + 1).length > 0
  }, words)
}

/** The first text with these words that one of the elements has from now on, however soon it changes. */
export async function firstText(page: Page, elements: string, words: string): Promise<() => Promise<unknown>> {
  await page.evaluate(
    ([selector, sought]) => {
      const texts: string[] = []
      Object.assign(window, { texts })
      new MutationObserver(() => {
        for (const { innerText } of document.querySelectorAll<HTMLElement>(selector))
          if (innerText.includes(sought)) texts.push(innerText)
      }).observe(document.body, { childList: true, subtree: true, characterData: true })
    },
    [elements, words] as const,
  )
  return async () => {
    const first = await page.waitForFunction(() => (window as unknown as { texts: string[] }).texts[0])
    return first.jsonValue()
  }
}

/** Presses the button of a toast that an act leads to, which stands as long as the pointer is over it: from before it comes. */
export async function pressInToast(
  page: Page,
  { words, button }: { words: string; button: string },
  act: () => Promise<unknown>,
): Promise<void> {
  await page.locator('[data-scope=toast]').dispatchEvent('pointerover')
  await act()
  await page
    .locator('[data-scope=toast] > *')
    .filter({ hasText: words })
    .getByRole('button', { name: button, exact: true })
    .click()
}

/** Takes an act back by the toast that reports it so. */
export const undo = (page: Page, words: string, act: () => Promise<unknown>): Promise<void> =>
  pressInToast(page, { words, button: '撤销' }, act)

/** Since when nothing has been under way for a page; null while something is. */
const silentSince = new WeakMap<Page, () => number | null>()

function followRequests(page: Page): void {
  const underWay = new Set<Request>()
  let endedAt = performance.now()
  const end = (request: Request): void => {
    underWay.delete(request)
    endedAt = performance.now()
  }
  page
    .on('request', (request) => {
      // What the document before had asked for ends with it.
      if (request.isNavigationRequest() && request.frame() === page.mainFrame()) underWay.clear()
      underWay.add(request)
    })
    .on('requestfinished', end)
    .on('requestfailed', end)
  silentSince.set(page, () => (underWay.size > 0 ? null : endedAt))
}

/** Goes to another page of the console as a link does: a whole load costs seconds of a core. */
export async function follow(page: Page, path: string): Promise<void> {
  await page.evaluate((address) => history.pushState(null, '', address), path)
}

/** So long nothing is asked for before a page counts as complete: one answer may lead to the next question. */
const silentMs = 500

/** Resolves once a page has nothing to do: what it was last asked for has begun, however late a busy machine lets it. */
const idle = (page: Page): Promise<unknown> =>
  page.waitForFunction(() => new Promise((resolve) => requestIdleCallback(() => resolve(true))))

/** Waits until nothing is under way for a page and all of it has been drawn: its own marks of loading are gone. */
export async function drawn(page: Page): Promise<void> {
  await page.waitForLoadState()
  for (;;) {
    await idle(page)
    const askedAt = performance.now()
    const isSilent = (): boolean => {
      const since = silentSince.get(page)?.() ?? null
      return since !== null && performance.now() - Math.max(since, askedAt) >= silentMs
    }
    await until(isSilent, { what: 'requests of the page do not end', seconds: timeoutMs / 1000 })
    await page.waitForFunction(() => document.querySelector('[aria-busy=true]') === null)
    await idle(page)
    // It may have gone on where it was taken for complete.
    if (isSilent()) return
  }
}

/** Presses Escape once the dialog stands: before, it would be lost, or close what lies below. */
export async function escape(page: Page, dialog: Locator): Promise<void> {
  await dialog.and(page.locator('[style*="--layer-index"]')).waitFor()
  await page.keyboard.press('Escape')
}

/**
 * Waits until what the address held open by these parameters is closed and out of the history. Browsers take that step back later,
 * and it would take the next page away.
 */
export async function leftHistory(page: Page, ...opened: string[]): Promise<void> {
  await page.waitForFunction((names) => {
    const search = new URLSearchParams(location.search)
    const here = search.size > 0 ? `${location.pathname}?${search}` : location.pathname
    return names.every((name) => !search.has(name)) && history.state?.from !== here
  }, opened)
}

/** What a page must never do: throw, or write an error or a warning into its console. */
function listenForComplaints(page: Page): string[] {
  const complaints: string[] = []
  complaintsOfPages.push(complaints)
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('console', (message) => {
    // A refused call is an answer, which the page shows.
    const isOfPage = !message.text().includes('Failed to load resource')
    if (/error|warning|assert/.test(message.type()) && isOfPage) complaints.push(message.text())
  })
  return complaints
}
