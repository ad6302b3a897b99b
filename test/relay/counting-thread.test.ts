import { afterAll, expect, test } from 'vitest'
import { countPrompt } from '#relay/counting/estimate-usage.ts'
import { cheapTextTokens } from '#relay/counting/cheap-count.ts'
import { createTokenCounter } from '#relay/billing/token-counter.ts'
import { openAiChat } from '#relay/dialects/openai-chat/index.ts'
import { wav } from '../support/audio-files.ts'
import { longestPause } from '../support/processor-time.ts'

const failures: unknown[] = []
const counter = createTokenCounter((error) => failures.push(error))
afterAll(() => counter.close())

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
    const first = createTokenCounter((error) => failures.push(error))
    await first.count(['hello world'], 'gpt-4o')
    await first.close()
  }
  expect(await longestPause(fresh)).toBeLessThan(50)
  expect(await counter.count(['hello world'], 'gpt-4o')).toBe(2)
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

test('a short text does not wait for a long one', async () => {
  let isLongDone = false
  const long = counter.count([random().repeat(8)], 'gpt-4o').then(() => (isLongDone = true))
  expect(await counter.count(['hello world'], 'gpt-4o')).toBe(2)
  expect(isLongDone).toBe(false)
  await long
})

test('a recording that takes minutes to look through holds up no text, and is given up before the next', async () => {
  expect(await counter.secondsOf(new Blob([new Uint8Array(wav(2))]))).toBe(2)
  // The head of a file of this kind, and then nothing but empty boxes.
  const box = Buffer.from('\0\0\0\x08free')
  const head = Buffer.from('\0\0\0\x14ftypM4A \0\0\0\0M4A ')
  const endless = new Blob([head, Buffer.alloc(48 * megabyte, box)])
  let isEndlessDone = false
  const measured = counter.secondsOf(endless).finally(() => (isEndlessDone = true))
  const next = counter.secondsOf(new Blob([new Uint8Array(wav(3))]))
  expect(await counter.count(['The quick brown fox jumps'], 'gpt-4o')).toBe(5)
  expect(isEndlessDone).toBe(false)
  expect(await measured).toBeUndefined()
  expect(await next).toBe(3)
})

test('what is not counted in time, or when the process stops, is estimated', async () => {
  const closing = createTokenCounter((error) => failures.push(error))
  const text = random()
  const counting = closing.count([text], 'gpt-4o')
  await closing.close()
  expect(await counting).toBe(cheapTextTokens(text))
  expect(failures).toEqual([])
})
