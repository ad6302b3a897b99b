import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { request } from 'undici'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startApp } from '#test/support/app.ts'
import { setOptions } from '#test/relay/serve.ts'

const assets = new URL('../../dist/client/assets/', import.meta.url)
const shell = readFileSync(new URL('../index.html', assets), 'utf8')

let app: Awaited<ReturnType<typeof startApp>>
beforeAll(async () => {
  app = await startApp()
})
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

test('the sign-in page needs at most 250 kB of compressed script, in a handful of files', () => {
  const first = [...shell.matchAll(/\/assets\/([^"]+\.js)/g)].map(([, name]) => name ?? '')
  const login = readdirSync(assets).find((name) => /^login-page-.*\.js$/.test(name)) ?? ''
  const files = new Set([...first, login].flatMap((file) => [...withImports(file)]))
  const total = [...files].map(sizeOf).reduce((sum, size) => sum + size, 0)
  expect(first.length).toBeGreaterThan(1)
  expect(total).toBeLessThan(250_000)
  expect(files.size).toBeLessThan(9)
})

test('the console comes in few files', () => {
  // Below a kilobyte are only the names by which pages are asked for.
  const real = readdirSync(assets).filter((name) => name.endsWith('.js') && statSync(new URL(name, assets)).size > 1000)
  expect(real.length).toBeLessThanOrEqual(16)
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
})
