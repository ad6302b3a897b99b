import { afterAll, expect, test } from 'vitest'
import { cheapTextTokens } from '#relay/counting/cheap-count.ts'
import { createTokenCounter } from '#relay/billing/token-counter.ts'
import { wav } from '../support/audio-files.ts'

const failures: unknown[] = []
// Texts of 48 MB are copied meanwhile, and threads started.
const counter = createTokenCounter((error) => failures.push(error), { waitMs: 15_000, startMs: 60_000 })
afterAll(() => counter.close())

const megabyte = 1_048_576
const random = (): string => Buffer.from(crypto.getRandomValues(new Uint8Array(49_152))).toString('base64')

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
