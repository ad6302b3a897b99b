import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { exportCode } from '../../client/features/playground/export-code.ts'
import type { CallBody } from '../../client/features/playground/reply.ts'
import { describeWithBrowser } from '../support/chromium.ts'
import { long } from '../support/long.ts'
import { drawn, openConsole, startInBrowser } from './console.ts'

const message = (page: Page) => page.getByRole('textbox', { name: 'Message', exact: true })

const say = async (page: Page, words: string) => {
  await message(page).fill(words)
  await page.keyboard.press('Enter')
}

const onePixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

/** Looked at by hand: `SHOTS=folder npx vitest run test/browser/playground.test.ts`. */
const shot = async (page: Page, name: string): Promise<void> => {
  const folder = process.env['SHOTS']
  if (folder) await page.screenshot({ path: `${folder}/playground-${name}.png` })
}

describeWithBrowser('the playground', async () => {
  const { app, browser } = await startInBrowser()
  await app.make.channel({ models: 'gpt-4o-mini,gpt-4o,house-model,o3-mini,claude-sonnet-4-5' })
  await app.settled()

  const open = async (path: string, role = 1) => {
    const reader = { ...(await app.make.user({ role })), role }
    await app.settled()
    const opened = await openConsole(browser, app, { language: 'en', reader, path })
    await message(opened.page).waitFor()
    return { ...opened, reader }
  }

  test('stopping keeps what came, ends the call upstream and charges what was delivered', async () => {
    const { page, context, reader } = await open('/playground?model=gpt-4o-mini')
    // The row of a call that was stopped may be long in coming.
    let refused = 0
    await page.route(/user\.logs\.get/, (route) => (refused++ < 4 ? route.abort() : route.continue()))
    // It falls silent in the middle, so that there is something to stop however late that is.
    await say(page, '[[words=400,stall=20]] count')
    await page.getByText('You said').first().waitFor()
    await page.getByRole('button', { name: 'Stop', exact: true }).click()
    await page.getByText('Stopped').waitFor()
    expect(await page.locator('[data-reply=complete]').innerText()).toContain('You said')
    await expect
      .poll(async () => (await app.logs()).filter((row) => row.user_id === reader.id).map((row) => row.quota > 0))
      .toEqual([true])
    await page.locator('[data-charge=exact]').waitFor()
    await context.close()
  })

  test('what is sent before the models have come goes as soon as they have, and what is changed meanwhile waits for another Enter', async () => {
    for (const changes of [false, true]) {
      const reader = { ...(await app.make.user()), role: 1 }
      await app.settled()
      const { page, context } = await openConsole(browser, app, { language: 'en', reader })
      const release = Promise.withResolvers<void>()
      await page.route(
        (url) => url.pathname.includes('user.models.list'),
        async (route) => {
          await release.promise
          await route.continue()
        },
      )
      await page.goto('/playground')
      await message(page).waitFor()
      await say(page, 'early words')
      await expect.poll(() => page.getByRole('button', { name: 'Send' }).isDisabled()).toBe(true)
      if (changes) await message(page).fill('other words')
      release.resolve()
      if (changes) {
        await page.getByRole('combobox', { name: 'Model', exact: true }).waitFor()
        await drawn(page)
        expect(await message(page).inputValue()).toBe('other words')
        await page.keyboard.press('Enter')
      }
      await page.getByText(`You said: ${changes ? 'other' : 'early'} words`).waitFor()
      expect(await message(page).inputValue()).toBe('')
      expect(await page.locator('[data-reply]').count()).toBe(1)
      await context.close()
    }
  })

  test.runIf(long)('a message waits for an image that is still being made smaller, and goes with it', async () => {
    const { page, context } = await open('/playground?model=gpt-4o-mini')
    await page.evaluate(() => {
      const read = window.createImageBitmap.bind(window)
      const slow = (file: ImageBitmapSource) =>
        new Promise((goOn) => Object.assign(window, { goOn })).then(() => read(file))
      Object.assign(window, { createImageBitmap: slow })
    })
    await page.locator('input[type=file]').setInputFiles({ name: 'one.png', mimeType: 'image/png', buffer: onePixel })
    await page.waitForFunction(() => 'goOn' in window)
    await message(page).fill('what is this')
    await page.keyboard.press('Enter')
    await drawn(page)
    expect(await message(page).inputValue()).toBe('what is this')
    await page.evaluate(() => (window as unknown as { goOn: () => void }).goOn())
    await page.locator('[data-charge=exact]').waitFor()
    expect(await message(page).inputValue()).toBe('')
    expect(await page.getByRole('img', { name: 'Image 1' }).count()).toBe(1)
    await context.close()
  })

  test('a function is defined, called, given its result and answered with; the conversation stays on reload and leaves as code', async () => {
    const { page, context, complaints } = await open('/playground?model=gpt-4o-mini')
    await page.getByRole('button', { name: 'Edit tools' }).click()
    await page.getByRole('button', { name: 'Start from an example' }).click()
    await shot(page, 'tools')
    await page.getByRole('button', { name: 'Done', exact: true }).click()
    await page.locator('input[type=file]').setInputFiles({ name: 'one.png', mimeType: 'image/png', buffer: onePixel })
    await page.getByRole('button', { name: 'Remove image 1' }).waitFor()
    await say(page, 'call get_weather for what you see')
    await page.getByText('get_weather()').waitFor()
    await page.getByRole('textbox', { name: 'Result of get_weather' }).fill('{"temperature": 21}')
    await shot(page, 'call')
    await page.getByRole('button', { name: 'Return results and continue' }).click()
    await page.getByText('The tool says: {"temperature": 21}').waitFor()
    await page.locator('[data-charge=exact]').nth(1).waitFor()

    await page.reload()
    await page.getByText('The tool says: {"temperature": 21}').waitFor()
    await page.getByText('get_weather()').waitFor()
    await page.getByRole('img', { name: 'Image 1' }).waitFor()
    await page.locator('[data-charge=exact]').nth(1).waitFor()
    await drawn(page)
    await shot(page, 'reloaded')
    await page.getByRole('button', { name: 'Request and events' }).last().click()
    const raw = page.getByRole('dialog')
    await raw.getByText('"tool_call_id"').waitFor()
    await raw.getByText('"image_url"').first().waitFor()
    await raw.getByRole('tab', { name: 'Reply' }).click()
    await raw.getByText('"finish_reason": "stop"').waitFor()
    await shot(page, 'raw')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Export as code' }).click()
    const code = page.getByRole('dialog')
    for (const [form, words] of [
      ['OpenAI', 'from openai import OpenAI'],
      ['Anthropic', 'tool_result'],
      ['Google', 'function_response'],
    ]) {
      await code.getByRole('combobox', { name: 'API format' }).selectOption(`${form} format`)
      await code.getByRole('tab', { name: 'Python' }).click()
      await code
        .getByText(words ?? '')
        .first()
        .waitFor()
    }
    await shot(page, 'export')
    expect(complaints).toEqual([])
    await context.close()
  })

  test('conversations have names, are found, gone on with after a reload, and removed; on a phone as well', async () => {
    const { page, context, complaints, reader } = await open('/playground?model=gpt-4o-mini')
    const list = page.getByRole('dialog', { name: 'Conversations' })
    const shownList = async () => {
      await page.getByRole('button', { name: 'Conversations' }).click()
      await list.getByRole('listitem').first().waitFor()
    }
    await say(page, 'the weather in Rome')
    await page.getByText('You said').waitFor()
    await page.locator('[data-reply=complete]').waitFor()
    // Another tab has the same one open: it follows, and leaving it takes nothing away.
    const other = await context.newPage()
    await other.goto('/playground')
    await other.getByText('You said: the weather in Rome').waitFor()
    await say(page, 'and in Pisa')
    await other.getByText('You said: and in Pisa').waitFor()
    await other.getByRole('button', { name: 'New conversation' }).click()
    await other.getByText('Talk to a model').waitFor()
    await other.close()
    await page.reload()
    await page.getByText('You said: and in Pisa').waitFor()
    await page.getByRole('button', { name: 'New conversation' }).click()
    await page.getByText('Talk to a model').waitFor()
    // What was on its way when its conversation was left has stopped there.
    await say(page, '[[words=400,stall=20]] count')
    await page.getByText('You said').first().waitFor()
    await shownList()
    await list.getByRole('button', { name: /^the weather in Rome/ }).click()
    await page.getByText('You said: the weather in Rome').waitFor()
    await shownList()
    await list.getByRole('button', { name: /^\[\[words/ }).click()
    await page.getByText('Stopped').waitFor()

    await shownList()
    await list.getByRole('button', { name: 'Rename the weather in Rome' }).click()
    await list.getByRole('textbox', { name: 'Name of the conversation' }).fill('Trip')
    await page.keyboard.press('Enter')
    await list.getByRole('button', { name: /^Trip/ }).waitFor()
    await shot(page, 'conversations')
    await page.setViewportSize({ width: 390, height: 844 })
    await page.reload()
    await page.getByText('Stopped').waitFor()
    await shownList()
    await drawn(page)
    await shot(page, 'conversations-390')
    await list.getByRole('searchbox', { name: 'Search conversations' }).fill('in rome')
    await expect.poll(() => list.getByRole('listitem').count()).toBe(1)
    const saved = page.waitForEvent('download')
    await list.getByRole('button', { name: 'Export Trip' }).click()
    expect((await saved).suggestedFilename()).toBe('Trip.md')
    await list.getByRole('button', { name: 'Delete Trip' }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click()
    await list.getByText('No matching conversations').waitFor()
    await list.getByRole('searchbox', { name: 'Search conversations' }).fill('')
    await expect.poll(() => list.getByRole('listitem').count()).toBe(1)
    await list.getByRole('button', { name: /^\[\[words/ }).click()
    await page.getByText('Stopped').waitFor()
    await drawn(page)
    await shot(page, '390')

    // Kept for this reader alone, and no longer than until they sign out, where they say so.
    await shownList()
    await list.getByText('Delete my conversations and settings from this browser when I sign out').click()
    await page.keyboard.press('Escape')
    const storedKeys = () =>
      page.evaluate(() => Object.keys(localStorage).filter((key) => key.startsWith('playground')))
    expect(await storedKeys()).toContain(`playground-conversations-${reader.id}`)
    await page.getByRole('button', { name: 'Account' }).click()
    await page.getByRole('menuitem', { name: 'Log out' }).click()
    await page.waitForURL('**/login')
    expect(await storedKeys()).toEqual([])
    expect(complaints).toEqual([])
    await context.close()
  })

  test.each(['openai', 'anthropic', 'google'] as const)(
    'the exported code in the form of %s runs as it is, with its library, and goes on with the conversation',
    async (form) => {
      const { key } = await app.make.token(await app.make.user())
      const call: CallBody = {
        model: 'gpt-4o-mini',
        group: 'default',
        messages: [
          { role: 'system', content: 'Be "brief".' },
          { role: 'user', content: "What's the weather?" },
          {
            role: 'assistant',
            content: null,
            tool_calls: [
              { id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Rome"}' } },
            ],
          },
          { role: 'tool', tool_call_id: 'call_1', content: '21 degrees' },
        ],
        stream: true,
        stream_options: { include_usage: true },
        temperature: 0.7,
        max_tokens: 200,
        tools: [
          { type: 'function', function: { name: 'get_weather', parameters: { type: 'object', properties: {} } } },
        ],
      }
      const code = exportCode({ form, language: 'node' }, call, app.url).replace('sk-…', `sk-${key}`)
      const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', code])
      expect(stdout).toMatch(/The tool says: .*21 degrees/)
    },
  )

  test('offers and sends what the model takes: an effort where it thinks, sampling where it has it', async () => {
    const { page, context } = await open('/playground?model=o3-mini')
    await page.getByRole('combobox', { name: 'Reasoning effort' }).selectOption('high')
    expect(await page.getByRole('slider', { name: 'Temperature' }).count()).toBe(0)
    await say(page, 'think')
    await page.locator('[data-reply=complete]').waitFor()
    await page.getByRole('button', { name: 'Request and events' }).click()
    const raw = page.getByRole('dialog')
    await raw.getByText('"reasoning_effort": "high"').waitFor()
    expect(await raw.getByText('"temperature"').count()).toBe(0)
    await page.goto('/playground?model=claude-sonnet-4-5&beside=o3-mini')
    await page.getByText('Sent to o3-mini only').waitFor()
    await drawn(page)
    await shot(page, 'beside')
    await context.close()
  })

  test('two models answer the same message side by side, and clearing the context clears both', async () => {
    const { page, context, reader } = await open('/playground?model=gpt-4o-mini&beside=gpt-4o')
    await say(page, '[[thinking=30,usage=1000:500]] hello **both**\n```js\nlet both = 1\n```')
    const replies = page.locator('[data-reply=complete]')
    await expect.poll(() => replies.count()).toBe(2)
    // Each is thinking, Markdown and code, and costs what its own model was charged.
    for (const part of [page.locator('strong', { hasText: 'both' }), page.locator('pre', { hasText: 'let both = 1' })])
      await expect.poll(() => replies.filter({ has: part }).count()).toBe(2)
    for (const text of [page.getByText('Thinking', { exact: true }), page.getByText('1,000 in, 500 out')])
      await expect.poll(() => text.count()).toBe(2)
    await expect.poll(() => page.locator('[data-charge=exact]').count()).toBe(2)
    const rows = (await app.logs()).filter((row) => row.user_id === reader.id)
    expect(rows.map((row) => row.model_name).toSorted()).toEqual(['gpt-4o', 'gpt-4o-mini'])
    expect((await page.locator('[data-charge=exact]').allInnerTexts()).toSorted()).toEqual(
      rows.map((row) => `$${(row.quota / 500_000).toFixed(6)}`).toSorted(),
    )
    await page.getByRole('button', { name: 'Clear context' }).click()
    await expect.poll(() => page.locator('[data-reply]').count()).toBe(0)
    await context.close()
  })

  test('a reply that makes room for another, or goes with its column, is stopped and not paid for to its end', async () => {
    const { page, context, reader } = await open('/playground?model=gpt-4o-mini')
    const ends = async () =>
      (await app.logs()).filter((row) => row.user_id === reader.id).map((row) => row.other['end'] ?? '')
    const coming = page.locator('[data-reply=incomplete]')
    await say(page, 'first words')
    await page.getByText('You said: first words').waitFor()
    await page.locator('[data-reply=complete]').waitFor()
    // It falls silent in the middle, however late the other is asked for.
    await say(page, '[[words=400,stall=20]] count')
    await coming.waitFor()
    await page.getByRole('button', { name: 'Answer again' }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete and answer again' }).click()
    await expect.poll(() => page.locator('[data-reply]').count()).toBe(1)
    await expect.poll(async () => (await ends()).filter((end) => end === 'hung-up').length).toBe(1)

    await page.locator('[data-reply=complete]').waitFor()
    await page.getByRole('button', { name: 'Clear context' }).click()
    await page.getByRole('button', { name: 'Compare two models' }).click()
    await expect.poll(() => page.getByRole('log').count()).toBe(2)
    await say(page, '[[words=400,stall=20]] count')
    await expect.poll(() => coming.count()).toBe(2)
    await page.getByRole('button', { name: 'Stop comparing' }).click()
    await expect.poll(async () => (await ends()).filter((end) => end === 'hung-up').length).toBe(2)
    // The one that is still read goes on.
    await coming.waitFor()
    await context.close()
  })

  test('a failed call says why, names the request, and can be asked again', async () => {
    const { page, context } = await open('/playground?model=gpt-4o-mini')
    await say(page, '[[status=400,message=No%20such%20thing]] hi')
    const reply = page.locator('[data-reply=error]')
    await reply.getByText('No such thing').waitFor()
    await reply.getByText(/Request ID: \w{31}/).waitFor()
    await page.getByRole('button', { name: 'Answer again' }).click()
    await reply.getByText('No such thing').waitFor()
    await context.close()
  })

  test('a missing price leads the super administrator to where it is set, and nobody else', async () => {
    const root = await open('/playground?model=house-model', 100)
    await say(root.page, 'hi')
    await root.page.getByRole('link', { name: 'Set its price' }).click()
    await root.page.waitForURL('**/admin/prices?show=missing')
    await root.context.close()

    const user = await open('/playground?model=house-model')
    await say(user.page, 'hi')
    await user.page.getByText('has no price yet').waitFor()
    expect(await user.page.getByRole('link', { name: 'Set its price' }).count()).toBe(0)
    await user.context.close()
  })

  const loginAndBack = '**/login?expired=true&returnTo=%2Fplayground*'

  test('a session that ended leads to the login and back', async () => {
    const { page, context, reader } = await open('/playground?model=gpt-4o-mini')
    // It ends when the words are on their way: whatever else the page asks for meanwhile still had it.
    await page.route('**/pg/chat/completions', async (route) => {
      await app.pool.query('delete from sessions where user_id = $1', [reader.id])
      await route.continue()
    })
    await say(page, 'hi')
    await page.waitForURL(loginAndBack)
    await page.getByText('login has expired').waitFor()
    await context.close()
  })

  test.runIf(long)('a session that ended unseen is said at the login, whichever answer reports it first', async () => {
    for (const held of ['auth.whoami', 'user.groups.list']) {
      const { page, context, reader } = await open('/playground?model=gpt-4o-mini')
      await app.pool.query('delete from sessions where user_id = $1', [reader.id])
      const release = Promise.withResolvers<void>()
      await page.route(
        (url) => url.pathname.startsWith('/trpc/') && url.pathname.includes(held),
        async (route) => {
          await release.promise
          // The page may have gone on.
          await route.continue().catch(() => {})
        },
      )
      await page.goto('/playground?model=gpt-4o-mini')
      await page.waitForURL(loginAndBack)
      release.resolve()
      await page.getByText('login has expired').waitFor()
      await drawn(page)
      expect(new URL(page.url()).searchParams.get('returnTo')).toMatch(/^\/playground/)
      await context.close()
    }
  })
})
