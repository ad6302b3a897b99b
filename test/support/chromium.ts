import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Browser, chromium } from 'playwright-core'
import { afterEach, describe, expect } from 'vitest'

const require = createRequire(import.meta.url)
const cache = fileURLToPath(new URL('../../.cache', import.meta.url))
const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

const isExecutable = (path: string) => {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

const inPath = () =>
  (process.env.PATH ?? '')
    .split(delimiter)
    .flatMap((folder) => names.map((name) => join(folder, name)))
    .find(isExecutable)

const installed = process.env.CHROMIUM_PATH || inPath()
const comesAlong = process.platform === 'linux' && process.arch === 'x64'

/** Why no browser can be started on this machine; undefined where one can. */
const noBrowser =
  installed || comesAlong
    ? undefined
    : `no Chromium comes along for ${process.platform}-${process.arch}: install one, or set CHROMIUM_PATH`

/** What pages have complained of, a list for each; a test that means it takes it out. */
export const complaintsOfPages: string[][] = []

/**
 * `describe` for what needs a browser: a page that complains fails the test that opened it. Without a browser it is skipped and says
 * so; under CI it fails.
 */
export function describeWithBrowser(name: string, body: () => void | Promise<void>): void {
  const isSkipped = noBrowser !== undefined && !process.env.CI
  describe.skipIf(isSkipped)(isSkipped ? `${name} (${noBrowser})` : name, async () => {
    if (isSkipped) return
    afterEach(() => {
      expect(
        complaintsOfPages.flatMap((complaints) => complaints.splice(0)),
        'errors and warnings of pages',
      ).toEqual([])
    })
    await body()
  })
}

/** Two test files may come at once, so the folder gets its name only when it is complete. */
async function unpack(): Promise<string> {
  const home = join(dirname(require.resolve('@sparticuz/chromium')), '..')
  const { version }: { version: string } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'))
  const folder = join(cache, `chromium-${version}`)
  if (existsSync(folder)) return folder
  mkdirSync(cache, { recursive: true })
  const made = mkdtempSync(`${folder}.new-`)
  const { inflate } = await import('@sparticuz/chromium')
  const before = process.env.TMPDIR
  // The package unpacks into the temporary folder of the moment it is called.
  process.env.TMPDIR = made
  const unpacked = ['chromium.br', 'al2023.tar.br'].map((name) => inflate(join(home, 'bin', name)))
  if (before === undefined) delete process.env.TMPDIR
  else process.env.TMPDIR = before
  await Promise.all(unpacked)
  try {
    renameSync(made, folder)
  } catch (error) {
    if (!existsSync(folder)) throw error
    rmSync(made, { recursive: true })
  }
  return folder
}

/** Without a font that has them Chinese characters are blank, and most machines have none. */
function writeFonts(): string {
  const home = dirname(require.resolve('@expo-google-fonts/noto-sans-sc/package.json'))
  const file = join(cache, 'fonts.conf')
  const folders = ['400Regular', '700Bold'].map((weight) => `<dir>${join(home, weight)}</dir>`)
  const content = `<fontconfig>${folders.join('')}<cachedir>${join(cache, 'fontconfig')}</cachedir></fontconfig>\n`
  if (existsSync(file) && readFileSync(file, 'utf8') === content) return file
  mkdirSync(cache, { recursive: true })
  const made = `${file}.${process.pid}`
  writeFileSync(made, content)
  renameSync(made, file)
  return file
}

type Prepared = { executablePath: string; env: Record<string, string> }

/** Finds or unpacks the browser; quick when it was done before. */
export async function prepareBrowser(): Promise<Prepared | undefined> {
  if (noBrowser) return undefined
  const fonts: Record<string, string> = process.platform === 'linux' ? { FONTCONFIG_FILE: writeFonts() } : {}
  if (installed) return { executablePath: installed, env: fonts }
  const folder = await unpack()
  const libraries = [join(folder, 'al2023/lib'), process.env.LD_LIBRARY_PATH].filter(Boolean).join(delimiter)
  return { executablePath: join(folder, 'chromium'), env: { ...fonts, LD_LIBRARY_PATH: libraries } }
}

async function launch(): Promise<Browser> {
  const prepared = await prepareBrowser()
  if (!prepared) throw new Error(noBrowser)
  return chromium.launch({
    executablePath: prepared.executablePath,
    // A page of a test lives for seconds: compiling its code once more, optimised, costs more than it saves, and so does
    // interpreting it first and collecting its first garbage every megabyte.
    args: [
      '--no-sandbox',
      '--disable-dev-shm-usage',
      '--js-flags=--no-opt --always-sparkplug --min-semi-space-size=32',
    ],
    env: { ...process.env, ...prepared.env },
  })
}

/** The browser of this worker, for one test file after another. It ends with the worker. */
let ofWorker: Promise<Browser> | undefined

/** A browser with nothing open; closing it closes what was opened in it. */
export async function launchBrowser(): Promise<Browser> {
  const before = await ofWorker?.catch(() => undefined)
  if (before?.isConnected()) return before
  ofWorker = launch()
  const browser = await ofWorker
  // What does not come says where it was awaited before the whole test runs out of time.
  browser.on('context', (context) => context.setDefaultTimeout(60_000))
  browser.close = async () => {
    await Promise.all(browser.contexts().map((context) => context.close()))
  }
  return browser
}
