import { expect, test } from 'vitest'
import { audioFormatsOf } from './audio-format.ts'

const rateOf = (rate: unknown) =>
  audioFormatsOf({ audio: { input: { format: { type: 'audio/pcm', rate } } } }).input?.bytesPerSecond

test('a rate that no recording has makes its audio no shorter and no longer than those that there are', () => {
  expect([1, 8000, 16_000, 24_000, 48_000, 1e9].map(rateOf)).toEqual([16_000, 16_000, 32_000, 48_000, 96_000, 96_000])
  expect([0, -1, '24000', undefined].map(rateOf)).toEqual([48_000, 48_000, 48_000, 48_000])
})
