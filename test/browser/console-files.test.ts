import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import { request } from 'undici'
import { afterAll, expect, test } from 'vitest'
import { startApp } from '#test/support/app.ts'
import { setOptions } from '#test/relay/serve.ts'
import { describeWithBrowser, launchBrowser } from '../support/chromium.ts'
import { listenLocally } from '../support/local-server.ts'
import { builtConsole, openConsole } from './console.ts'

// Not what some earlier run has left.
await builtConsole()
const assets = new URL('../../dist/client/assets/', import.meta.url)
const shell = readFileSync(new URL('../index.html', assets), 'utf8')

const app = await startApp()
afterAll(() => app[Symbol.asyncDispose]())

/** Files that come with the given one, whatever imports them at once. */
function withImports(file: string, found = new Set<string>()): Set<string> {
  if (found.has(file)) return found
  found.add(file)
  const source = readFileSync(new URL(file, assets), 'utf8')
  for (const [, name] of source.matchAll(/(?:from|import)\s*["']\.\/([^"']+\.js)["']/g)) withImports(name ?? '', found)
  return found
}

const sizeOf = (file: string): number => {
  const compressed = new URL(`${file}.br`, assets)
  return statSync(compressed, { throwIfNoEntry: false })?.size ?? statSync(new URL(file, assets)).size
}

const first = [...shell.matchAll(/\/assets\/([^"]+\.js)/g)].map(([, name]) => name ?? '')
const pageFiles = readdirSync(assets).filter((name) => /page-[\w-]+\.js$/.test(name))

/** The file of a page is only a name for a part of a larger one: found by what is in that alone. */
const fileOf = (name: string, holds: string): string =>
  pageFiles.find((file) => {
    const [, from = ''] = /from"\.\/([\w-]+\.js)"/.exec(readFileSync(new URL(file, assets), 'utf8')) ?? []
    return file.startsWith(`${name}-`) && from.startsWith(holds)
  }) ?? 'none'

// In English, whose sentences come besides.
test.each([
  ['the home page', 'home-page', 'entry', 205_000],
  ['the page about the site', 'about-page', 'entry', 205_000],
  ['the sign-in page', 'login-page', 'sign-in', 245_000],
  ['the registration', 'register-page', 'accounts', 250_000],
  ['the set-up', 'page', 'accounts', 250_000],
  ['the price list', 'page', 'tables', 250_000],
])('%s needs no more compressed script than it may, in a handful of files', (_what, name, holds, most) => {
  const english = readdirSync(assets).find((file) => /^en-visitors-[\w-]+\.js$/.test(file)) ?? 'none'
  const files = new Set([...first, english, fileOf(name, holds)].flatMap((file) => [...withImports(file)]))
  const total = [...files].map(sizeOf).reduce((sum, size) => sum + size, 0)
  expect(first.length).toBeGreaterThan(1)
  expect(total).toBeLessThan(most)
  expect(files.size).toBeLessThan(13)
})

/** Below a kilobyte are only the names by which pages are asked for. */
const realFiles = (): string[] =>
  readdirSync(assets).filter((name) => name.endsWith('.js') && statSync(new URL(name, assets)).size > 1000)

test('no two files of the console wait for each other', () => {
  const files = realFiles()
  const circles = files.flatMap((file) =>
    [...withImports(file)]
      .filter((other) => other > file && withImports(other).has(file))
      .map((other) => [file, other]),
  )
  expect(circles).toEqual([])
})

test('the console comes in few files', () => {
  expect(realFiles().length).toBeLessThanOrEqual(17)
})

test('whoever takes compressed files gets them, with the type of what is inside', async () => {
  const file = [...shell.matchAll(/\/assets\/(libraries-[^"]+\.js)/g)][0]?.[1] ?? ''
  const plain = readFileSync(new URL(file, assets), 'utf8')
  const open = async (encoding: string | undefined) => {
    const headers = encoding === undefined ? {} : { 'accept-encoding': encoding }
    const { statusCode, headers: replied, body } = await request(`${app.url}/assets/${file}`, { headers })
    return { statusCode, replied, bytes: Buffer.from(await body.arrayBuffer()) }
  }
  const brotli = await open('gzip, deflate, br')
  expect(brotli).toMatchObject({ statusCode: 200, replied: { 'content-encoding': 'br', vary: 'accept-encoding' } })
  expect(brotli.replied['content-type']).toMatch(/javascript/)
  expect(brotli.replied['cache-control']).toMatch(/immutable/)
  expect(brotliDecompressSync(brotli.bytes).toString()).toBe(plain)
  const gzip = await open('gzip')
  expect(gzip.replied['content-encoding']).toBe('gzip')
  expect(gunzipSync(gzip.bytes).toString()).toBe(plain)
  const none = await open('identity')
  expect(none.replied['content-encoding']).toBeUndefined()
  expect(none.bytes.toString()).toBe(plain)
})

test('what root writes for the head of every page stands in it, and its script runs under the policy’s nonce', async () => {
  await setOptions(app, {
    custom_head_html: '<meta name="marked" content="by root">',
    global_css: '.marked { color: red }',
    global_js: 'window.marked = true',
  })
  const { body, headers } = await request(`${app.url}/login`)
  const html = await body.text()
  expect(html).toContain('<meta name="marked" content="by root">')
  expect(html).toContain('.marked { color: red }')
  const nonce = /script-src[^;]*'nonce-([^']+)'/.exec(String(headers['content-security-policy']))?.[1] ?? 'none'
  expect(html).toContain(`nonce="${nonce}"`)
  expect(html).toContain('window.marked = true')
})

test('the document itself shows the frame of a page under the name of the site, before any script', async () => {
  await setOptions(app, { SystemName: 'Acme <b>&' })
  const { body } = await request(`${app.url}/login`)
  const html = await body.text()
  expect(html).toContain('<title>Acme &#60;b&#62;&#38;</title>')
  expect(html).toMatch(/class="first-paint"[^>]*>\s*<header>Acme &#60;b&#62;&#38;<\/header>/)
  expect(html).not.toContain('__SITE_NAME__')
  // From edge to edge, as the page is that follows.
  expect(html).toMatch(/<head>[^]*body\s*\{\s*margin:\s*0[;}][^]*<\/head>/)
})

/** A site of somebody else's: a stylesheet, a script and an image, which say whose they are. */
async function startSite(name: string) {
  const files: Record<string, [type: string, body: string]> = {
    '/sheet.css': ['text/css', `:root { --sheet-of-${name}: 1 }`],
    '/script.js': ['text/javascript', `window.scriptOf_${name} = 1`],
    '/image.svg': ['image/svg+xml', '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'],
  }
  const asked: string[] = []
  const server = createServer((req, res) => {
    asked.push(req.url ?? '')
    const [type, body] = files[req.url ?? ''] ?? ['text/plain', '']
    res.writeHead(200, { 'content-type': type }).end(body)
  })
  return { ...(await listenLocally(server)), asked }
}

describeWithBrowser('a page of the console', async () => {
  const browser = await launchBrowser()
  afterAll(() => browser.close())

  test('loads the stylesheets and the appended scripts of origins that root’s own texts name, and of no other', async () => {
    await using named = await startSite('named')
    await using other = await startSite('other')
    // What is put together is not named.
    const { host } = new URL(other.url)
    await setOptions(app, {
      custom_head_html: `<link rel="stylesheet" href="${named.url}/sheet.css"><script>
        window.tag = "<script async>"
        window.append = (src) => document.head.append(Object.assign(document.createElement('script'), { src }))
        append("${named.url}/script.js")
      </script>`,
      global_css: '',
      global_js: `window.written = "<script src='x'>"
        append(location.protocol + "//${host}/script.js")
        document.head.append(Object.assign(document.createElement('link'), { rel: 'stylesheet', href: location.protocol + "//${host}/sheet.css" }))`,
    })
    const { page, context, complaints } = await openConsole(browser, app, { path: '/login' })
    await page.waitForFunction(() => 'scriptOf_named' in window)
    const valueOf = (name: string) =>
      page.evaluate((property) => getComputedStyle(document.documentElement).getPropertyValue(property), name)
    await expect.poll(() => valueOf('--sheet-of-named')).toBe('1')
    // Each of the two is refused, and says so.
    await expect.poll(() => complaints.filter((words) => words.includes(host)).length).toBeGreaterThanOrEqual(2)
    expect(other.asked).toEqual([])
    expect(await page.evaluate(() => 'scriptOf_other' in window)).toBe(false)
    // What looks like a tag inside of a script is left as it was written.
    expect(await page.evaluate(() => [Reflect.get(window, 'tag'), Reflect.get(window, 'written')])).toEqual([
      '<script async>',
      "<script src='x'>",
    ])
    expect(complaints.filter((words) => !words.includes(host))).toEqual([])
    complaints.length = 0
    await context.close()
  })

  test('shows a logo that lies at an address without TLS', async () => {
    await using images = await startSite('images')
    await setOptions(app, { custom_head_html: '', global_js: '', Logo: `${images.url}/image.svg` })
    const { page, context } = await openConsole(browser, app, { path: '/login' })
    await page.waitForFunction((src) => {
      const image = document.querySelector<HTMLImageElement>(`img[src="${src}"]`)
      return image?.complete && image.naturalWidth > 0
    }, `${images.url}/image.svg`)
    await context.close()
  })

  test('asks the server for nothing that a cache on the way may answer', async () => {
    const { page, context } = await openConsole(browser, app)
    const asked = page.waitForRequest((request) => request.url().includes('/trpc/'))
    await page.goto('/login')
    expect(await (await asked).headerValue('cache-control')).toBe('no-store')
    await context.close()
  })
})
