import type { Page } from 'playwright-core'
import { roles } from '#core/roles.ts'
import { english } from '../../client/i18n/en.ts'
import { routes } from '../../client/app/routes.tsx'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { describeWithBrowser } from '../support/chromium.ts'
import type { TestUser } from '../support/factories.ts'
import { seriousViolations } from './accessibility.ts'
import { drawn, follow, openConsole, startInBrowser } from './console.ts'
import { widthFaults } from './widths.ts'
import { isTaken } from '#test/support/long.ts'

type Screen = {
  path: string
  /** What is open to everyone is looked at without a session. */
  isPublic?: boolean
  /** Opens what the address alone does not. */
  open?: (page: Page) => Promise<unknown>
}

const screens: Record<string, Screen> = {
  home: { path: '/', isPublic: true },
  about: { path: '/about', isPublic: true },
  login: { path: '/login?expired=true', isPublic: true },
  register: { path: '/register', isPublic: true },
  reset: { path: '/reset', isPublic: true },
  'reset confirmation': { path: '/user/reset?email=a@example.com&token=abc', isPublic: true },
  tokens: { path: '/app/tokens' },
  'new token': { path: '/app/tokens?form=new' },
  'use of a token': {
    path: '/app/tokens?use=1',
    open: async (page) => {
      await page.getByRole('button', { name: 'Test connection' }).click()
      await page.getByText('You said').first().waitFor()
    },
  },
  profile: { path: '/app/me' },
  security: { path: '/app/me?tab=security' },
  notifications: { path: '/app/me?tab=notify' },
  'other settings': { path: '/app/me?tab=other' },
  playground: {
    path: '/playground?model=gpt-4o-mini&beside=gpt-4o',
    open: async (page) => {
      await page.getByRole('textbox', { name: 'Message', exact: true }).fill('[[thinking=20,status=429,every=2]] Hi')
      await page.keyboard.press('Enter')
      await page.locator('[data-reply=complete], [data-reply=error]').nth(1).waitFor()
    },
  },
}

const looks = [
  { theme: 'light', width: 1440, height: 900 },
  { theme: 'dark', width: 390, height: 844 },
] as const

/** What a page says, also to those who do not see it; what was typed into its fields is somebody's data. Statements are no language. */
function textsInPage(): string[] {
  const lines = (element: HTMLElement): string[] => element.innerText.split('\n')
  const apart = new Set([...document.querySelectorAll<HTMLElement>('[translate=no]')].flatMap(lines))
  const texts = [lines(document.body).filter((line) => !apart.has(line))]
  for (const element of document.querySelectorAll('[aria-label], [placeholder], [title]'))
    texts.push(['aria-label', 'placeholder', 'title'].map((name) => element.getAttribute(name) ?? ''))
  return texts.flat()
}

const isChinese = (text: string): boolean => /[\u4e00-\u9fff]/.test(text)
/** What only the English console says; a word like JSON is the same in both. */
const englishTexts = new Set(
  Object.entries<string>(english).flatMap(([sentence, translation]) => (isChinese(sentence) ? [translation] : [])),
)
const isEnglish = (text: string): boolean =>
  !isChinese(text) && (englishTexts.has(text.trim()) || /\b[a-z]{2,} [a-z]{2,}\b/.test(text))

/** One by one, so that each page is met in both without being fetched twice. */
const appearances = [
  { theme: 'dark', language: 'en', isForeign: isChinese },
  { theme: 'light', language: 'zh', isForeign: isEnglish },
] as const
type Appearance = (typeof appearances)[number]
type Shown = Pick<Appearance, 'theme' | 'language'>

/** Changes theme and language in place, as choosing them in another tab does. */
const show = (page: Page, { theme, language }: Shown): Promise<void> =>
  page.evaluate(
    async (choices) => {
      for (const [key, value] of Object.entries(choices)) {
        localStorage.setItem(key, value)
        window.dispatchEvent(new StorageEvent('storage', { key }))
      }
      for (let frames = 0; frames < 2; frames += 1) await new Promise((resolve) => requestAnimationFrame(resolve))
      // Colours on their way are neither the old ones nor the new.
      await Promise.allSettled(document.getAnimations().map(({ finished }) => finished))
    },
    { 'theme-mode': theme, i18nextLng: language },
  )

/** Far more than any page shows at once; a long list draws what is in sight. */
const mostElements = 4000

/** What is wrong with the words of a page and with the room they take. */
const faultsOf = async (page: Page, { language, isForeign }: Appearance): Promise<string[]> => [
  ...(await page.evaluate(textsInPage)).filter(isForeign).map((text) => `${language}: ${text}`),
  ...(await widthFaults(page)).map((fault) => `${language}: ${fault}`),
  ...((await page.locator('*').count()) > mostElements ? ['draws more than is in sight'] : []),
]

/** In both languages; the page is left as it was met. */
async function widthFaultsOf(page: Page, { theme }: (typeof looks)[number]): Promise<string[]> {
  const found: string[] = []
  for (const language of ['zh', 'en'] as const) {
    await show(page, { theme, language })
    found.push(...(await widthFaults(page)).map((fault) => `${language}: ${fault}`))
  }
  return found
}

const tabs = ['operation', 'ratelimit', 'models', 'system', 'other']
const pathsOfRoot = [
  ...routes.filter(({ paths: [path], role }) => role > roles.guest && !path.includes(':')).map(({ paths }) => paths[0]),
  ...tabs.map((tab) => `/admin/settings?tab=${tab}`),
  '/pricing',
  '/pricing?view=card&open=gpt-4o-mini',
  '/admin/prices?open=buying',
  '/admin/channels?form=new',
  '/nowhere',
]

describeWithBrowser('the console', async () => {
  let reader: TestUser
  const { app, browser } = await startInBrowser({ setUp: false })

  // First, before anything is set up.
  test.each(looks.filter((_, place) => isTaken(2, place)))(
    'the setup screen can be used by everyone: $theme, $width px wide',
    async (look) => {
      const { page, context } = await openConsole(browser, app, { ...look, language: 'en' })
      await page.goto('/setup')
      await page.getByRole('button', { name: 'Initialize system' }).click()
      await page.getByText('Please enter the admin username').waitFor()
      expect(await seriousViolations(page)).toEqual([])
      expect(await widthFaultsOf(page, look)).toEqual([])
      await context.close()
    },
  )

  describe('every screen', () => {
    beforeAll(async () => {
      await app.pool.query("insert into setup_records (id, version, initialized_at) values (1, '0', now())")
      reader = await app.make.user({ username: 'reader' })
      // Names by chance may read like English.
      await app.make.channel({ name: 'two', models: 'gpt-4o-mini,gpt-4o' })
      await app.make.token(reader, { remainQuota: 400_000 })
      await app.make.token(reader, { unlimited: true, status: 2 })
      await app.settled()
    })

    const windows = new Map<string, ReturnType<typeof openConsole>>()
    /** Screens of one look share a window, so that the console is fetched once. */
    const windowFor = (look: (typeof looks)[number], isPublic: boolean) => {
      const name = `${look.theme} ${isPublic}`
      const opened =
        windows.get(name) ?? openConsole(browser, app, { ...look, language: 'en', ...(isPublic ? {} : { reader }) })
      windows.set(name, opened)
      return opened
    }
    afterAll(async () => {
      for (const opened of windows.values()) await (await opened).context.close()
    })

    // In the short form each screen is seen in one look, and the next screen in the other.
    describe.each(looks)('$theme, $width px wide', (look) => {
      test.each(Object.entries(screens).filter((_, place) => isTaken(2, place, looks.indexOf(look))))(
        '%s can be used by everyone, fits its window and reports no error',
        async (_, { path, isPublic, open }) => {
          const { page, complaints } = await windowFor(look, isPublic === true)
          if (page.url() === 'about:blank') await page.goto(path)
          else await follow(page, path)
          await drawn(page)
          await page.getByRole('heading').first().waitFor()
          await open?.(page)
          expect(await seriousViolations(page)).toEqual([])
          expect(await widthFaultsOf(page, look)).toEqual([])
          expect(complaints.splice(0)).toEqual([])
        },
      )
    })
  })

  test('the connection test of a token can be started once the model that it calls is known, not before', async () => {
    const { id } = await app.make.token(reader, { unlimited: true })
    const { page, context } = await openConsole(browser, app, { language: 'en', reader })
    const release = Promise.withResolvers<void>()
    await page.route(/trpc.*user\.models\.list/, async (route) => {
      await release.promise
      await route.continue()
    })
    await page.goto(`/app/tokens?use=${id}`)
    const start = page.getByRole('button', { name: 'Test connection' })
    await start.waitFor()
    expect(await start.isDisabled()).toBe(true)
    const clicked = start.click()
    release.resolve()
    await clicked
    await page.getByText('You said').first().waitFor()
    await context.close()
  })

  describe('the pages of root', () => {
    let root: TestUser
    beforeAll(async () => {
      root = await app.make.user({ username: 'root', role: 100 })
      const { id } = await app.make.token(root)
      await app.pool.query('update tokens set used_quota = 1 where id = $1', [id])
      // Names by chance may read like English.
      await app.pool.query("update tokens set name = 'T' || id")
      await app.pool.query("update logs set token_name = 'T1'")
      await app.make.channel({ name: 'one', models: 'gpt-4o-mini,nobodys-model' })
      await app.make.option('UserUsableGroups', '{"default":"Everybody"}')
      await app.services.options.reload()
      await app.settled()
    })

    // In Chinese as well, which says no English, and in the other theme. A window for each width: one that is resized may
    // never be idle again (Chromium 153). The short form sees half of the pages in the narrow one, a few in the wide one.
    test.each([
      { on: 'a phone', width: 390, height: 844, one: 2, offset: 0 },
      { on: 'a desk', width: 1440, height: 900, one: 8, offset: 1 },
    ])(
      'can be used by everyone on $on, speak English alone, fit their window and report no error',
      async ({ width, height, one, offset }) => {
        let [now, next] = appearances as readonly [Appearance, Appearance]
        const look = { ...now, width, height, reader: { ...root, role: 100 } }
        const { page, complaints, context } = await openConsole(browser, app, look)
        await page.goto('/app/me')
        const wrong: unknown[] = []
        for (const path of pathsOfRoot.filter((_, place) => isTaken(one, place, offset))) {
          await follow(page, path)
          await drawn(page)
          await page.getByRole('heading').first().waitFor()
          const found = [...(await seriousViolations(page)), ...(await faultsOf(page, now))]
          await show(page, next)
          found.push(...(await faultsOf(page, next)), ...complaints.splice(0))
          ;[now, next] = [next, now]
          if (found.length > 0) wrong.push([path, found])
        }
        expect(wrong).toEqual([])
        await context.close()
      },
      600_000,
    )
  })
})
