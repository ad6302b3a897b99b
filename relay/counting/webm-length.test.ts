import { expect, test } from 'vitest'
import { liveWebm, webm } from '#test/support/audio-files.ts'
import { processorMs } from '#server/processor-time.ts'
import { webmSeconds } from './webm-length.ts'

test('a recording states its length, or its blocks show it, and the longer counts', () => {
  expect(webmSeconds(webm(90.2))).toBeCloseTo(90.2)
  // Blocks of 20 ms, in clusters whose sizes are left open, as browsers record.
  expect(webmSeconds(liveWebm(90.2))).toBeCloseTo(90.2)
  expect(webmSeconds(liveWebm(90.2, { stated: 1 }))).toBeCloseTo(90.2)
  expect(webmSeconds(liveWebm(10, { stated: 90.2 }))).toBeCloseTo(90.2)
  // Audio and video beside each other, whose blocks say how long they play.
  expect(webmSeconds(liveWebm(90.2, { tracks: 2 }))).toBeCloseTo(90.2)
})

test('a file that ends anywhere is measured to its last block, and another file is none', () => {
  const bytes = liveWebm(3)
  let longest = 0
  for (let end = 0; end <= bytes.length; end += 1) {
    const seconds = webmSeconds(bytes.subarray(0, end)) ?? 0
    expect(seconds).toBeGreaterThanOrEqual(longest - 0.03)
    longest = Math.max(longest, seconds)
  }
  expect(longest).toBeCloseTo(3)
  for (const other of [Buffer.alloc(0), Buffer.alloc(5000), Buffer.from('RIFF no sound'), Buffer.alloc(5000, 0xff)])
    expect(webmSeconds(other)).toBeUndefined()
})

test('a file of nothing but elements, however many, is looked through in one pass', () => {
  const empty = Buffer.alloc(4_000_000)
  for (let at = 0; at < empty.length; at += 2) empty.writeUInt16BE(0xa080, at)
  const file = Buffer.concat([webm(1).subarray(0, 32), empty])
  const startedAt = processorMs()
  expect(webmSeconds(file)).toBeUndefined()
  expect(processorMs() - startedAt).toBeLessThan(3000)
})
