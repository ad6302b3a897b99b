import { afterAll, expect, test } from 'vitest'
import { createTokenCounter } from '#relay/billing/token-counter.ts'
import { countPrompt } from '#relay/counting/estimate-usage.ts'
import { openAiChat } from '#relay/dialects/openai-chat/index.ts'
import { createScreener } from '#relay/request/screener.ts'
import { longestPause } from '../support/longest-pause.ts'
import { almost, pattern } from './slow-pattern.ts'

const onError = (error: unknown): never => {
  throw error
}
const counter = createTokenCounter(onError)
// A busy machine may take its time over what is measured.
const screener = createScreener({ quickMs: 1000, longestMs: 600_000 })
afterAll(() => Promise.all([counter.close(), screener.close()]))

const megabyte = 1_048_576
const random = (): string => Buffer.from(crypto.getRandomValues(new Uint8Array(49_152))).toString('base64')

/** Texts that an encoder takes its time over, and one of everyday words. */
const prompts: Record<string, string> = {
  words: 'The quick brown fox jumps over the lazy dog, again and again. ',
  'other scripts': '今天天气很好我们去公园散步吧。',
  'one letter': 'a',
  'packed bytes': random(),
}

const requestOf = (contents: string[]) =>
  openAiChat.parse({ model: 'gpt-4o', messages: contents.map((content) => ({ role: 'user', content })) }, {})

const filled = (text: string): string => text.repeat(Math.ceil(megabyte / text.length)).slice(0, megabyte)

test('the first count does not block the event loop, although an encoder is loaded', async () => {
  const fresh = async () => {
    const first = createTokenCounter(onError)
    await first.count(['hello world'], 'gpt-4o')
    await first.close()
  }
  expect(await longestPause(fresh)).toBeLessThan(50)
  // A thread that is late in starting goes on; until then the figure is an estimate.
  await expect.poll(() => counter.count(['hello world'], 'gpt-4o')).toBe(2)
})

test.each(Object.keys(prompts))('a prompt of a megabyte is counted without a pause of 50 ms: %s', async (name) => {
  const text = filled(prompts[name] ?? ' ')
  const request = requestOf([text])
  let tokens = 0
  const pause = await longestPause(async () => (tokens = await countPrompt(request, 'gpt-4o', counter.count)))
  expect(pause).toBeLessThan(50)
  expect(tokens).toBeGreaterThan(megabyte / 20)
})

test('so is one of many small messages', async () => {
  const request = requestOf(Array.from({ length: 20_000 }, (_, index) => `message ${index}`))
  let tokens = 0
  const pause = await longestPause(async () => (tokens = await countPrompt(request, 'gpt-4o', counter.count)))
  expect(pause).toBeLessThan(50)
  expect(tokens).toBeGreaterThan(20_000 * (3 + 1 + 2))
})

test('a text that fits a pattern almost does not block the event loop, and what it holds is found', async () => {
  let found: string[] = []
  const pause = await longestPause(async () => {
    const order = { list: `${pattern}\nregex:gi.t`, texts: ['harmless', `${almost} bomb how card zebra`] }
    found = await screener.find(order, { caller: 1, signal: new AbortController().signal })
  })
  expect(pause).toBeLessThan(50)
  expect(found).toEqual([pattern, 'regex:gi.t'])
})
