import { describe, expect, test } from 'vitest'
import { flac, framedFlac, mp3, opus, statedMp3, vorbis, wav } from '#test/support/audio-files.ts'
import { flacSeconds } from './flac-length.ts'
import { mp3Seconds } from './mp3-length.ts'
import { oggSeconds } from './ogg-length.ts'
import { wavSeconds } from './wav-length.ts'

/** Titles and an image in front of a file, in which bytes look like frames. */
const tag = (bytes: number): Buffer =>
  Buffer.concat([headOfTag(bytes), Buffer.concat([mp3(1), Buffer.alloc(bytes)]).subarray(0, bytes)])

function headOfTag(bytes: number): Buffer {
  const head = Buffer.from('ID3\u0004\0\0\0\0\0\0', 'latin1')
  for (const [place, shift] of [21, 14, 7, 0].entries()) head[6 + place] = (bytes >> shift) & 0x7f
  return head
}

describe('the frames of an MP3 file', () => {
  test.each([1, 60, 90.2])('play %d seconds, with a table or without', (seconds) => {
    const frames = Math.round((seconds * 44_100) / 1152)
    expect(mp3Seconds(mp3(seconds))).toBe((frames * 1152) / 44_100)
    expect(mp3Seconds(statedMp3(seconds, 1))).toBe((frames * 1152) / 44_100)
  })

  test('play one behind the other, what lies between them left out', () => {
    const one = mp3Seconds(mp3(60)) ?? 0
    const back = Buffer.concat([Buffer.from('TAG'), Buffer.alloc(125)])
    const junk = Buffer.alloc(999, 0xff)
    const image = Buffer.alloc(3000, Buffer.from([0xff, 0xd8, 0xff, 0xe1, 0, 0]))
    const between = Buffer.concat([headOfTag(image.length), image])
    const file = Buffer.concat([tag(50_000), statedMp3(60), back, between, junk, mp3(60), back])
    expect(mp3Seconds(file)).toBeCloseTo(2 * one, 5)
  })

  test('play on behind the head of a tag that says that the rest is its own', () => {
    const recording = mp3(60)
    const one = mp3Seconds(recording) ?? 0
    for (const claimed of [recording.length, 200_000_000]) {
      expect(mp3Seconds(Buffer.concat([recording, headOfTag(claimed), recording]))).toBeCloseTo(2 * one, 5)
    }
    expect(mp3Seconds(Buffer.concat([headOfTag(200_000_000), recording]))).toBeCloseTo(one, 5)
  })

  test.each([
    // 24 kHz at 64 kbit/s: 576 samples in 192 bytes.
    ['the second version', [0xff, 0xf3, 0x84, 0xc0], 192, 576 / 24_000],
    // 11.025 kHz at 16 kbit/s: 576 samples in 104 bytes.
    ['version 2.5', [0xff, 0xe3, 0x20, 0xc0], 104, 576 / 11_025],
    // 48 kHz at 192 kbit/s: 1152 samples in 576 bytes.
    ['the second layer', [0xff, 0xfd, 0xa4, 0xc0], 576, 1152 / 48_000],
    // 32 kHz at 32 kbit/s, padded: 384 samples in 52 bytes.
    ['the first layer', [0xff, 0xff, 0x1a, 0xc0], 52, 384 / 32_000],
  ])('of %s are read', (_, head, length, seconds) => {
    const frame = Buffer.alloc(length)
    frame.set(head)
    expect(mp3Seconds(Buffer.concat(Array.from({ length: 1000 }, () => frame)))).toBeCloseTo(1000 * seconds, 6)
  })

  test('are none in another file, however large it is', () => {
    for (const file of [
      Buffer.alloc(0),
      Buffer.from([0xff, 0xfb]),
      Buffer.alloc(20_000_000),
      Buffer.alloc(5_000_000, 0xff),
    ])
      expect(mp3Seconds(file)).toBeUndefined()
  })

  test('are looked for as quickly where every byte might begin one as where none does', () => {
    const workOf = (byte: number): number => {
      const file = Buffer.concat([mp3(1), Buffer.alloc(20_000_000, byte)])
      const before = process.threadCpuUsage()
      mp3Seconds(file)
      return process.threadCpuUsage(before).user
    }
    workOf(0)
    expect(workOf(0xff)).toBeLessThan(30 * workOf(0))
  })
})

test('packets of Opus play at least so long, and never longer than their file', () => {
  for (const seconds of [1, 60, 3600]) {
    expect(oggSeconds(opus(seconds, 1))).toBeLessThanOrEqual(seconds)
    expect(oggSeconds(opus(seconds, 1))).toBeGreaterThan(seconds - 0.1)
  }
  expect(oggSeconds(Buffer.concat([opus(60), opus(60)]))).toBeGreaterThan(119.8)
  expect(oggSeconds(opus(60).subarray(0, 31))).toBe(0)
  expect(oggSeconds(wav(1))).toBeUndefined()
})

test('a file that was cut off plays what is left of it', () => {
  // With nothing behind it in memory, as an upload is.
  const cutAt = (file: Buffer, end: number) => new Uint8Array(file.subarray(0, end))
  const complete = opus(60)
  for (let cut = 1; cut <= 400; cut += 1) {
    const seconds = oggSeconds(cutAt(complete, -cut))
    expect(seconds, `${cut} bytes`).toBeGreaterThan(56)
    expect(seconds, `${cut} bytes`).toBeLessThanOrEqual(60)
  }
  for (const [file, length] of [
    [mp3(1), mp3Seconds],
    [flac(1), flacSeconds],
    [framedFlac(1, 0), flacSeconds],
    [wav(1).fill(0, 40, 44), wavSeconds],
    [vorbis(1), oggSeconds],
    [opus(1), oggSeconds],
  ] as const) {
    for (let end = 0; end < Math.min(1000, file.length); end += 1) {
      expect(length(cutAt(file, end)) ?? 0, `${end} bytes`).toBeLessThanOrEqual(1)
    }
  }
})

test('FLAC plays no shorter than unpacked sound of its size, images in front of it left out', () => {
  const samples = Buffer.alloc(16_000 * 60)
  expect(flacSeconds(Buffer.concat([flac(1), samples]))).toBeCloseTo(60 / 1.05, 1)
  const withImage = Buffer.concat([
    flac(1).fill(0, 4, 5).subarray(0, 42),
    Buffer.from([0x86, 1, 0, 0]),
    Buffer.alloc(65_536),
  ])
  expect(flacSeconds(withImage)).toBe(1)
  expect(flacSeconds(wav(1))).toBeUndefined()
})

test('frames of FLAC play, however few samples their file states', () => {
  for (const stated of [90.2, 1, 0]) expect(flacSeconds(framedFlac(90.2, stated))).toBeCloseTo(90.2, 3)
  // What looks like a frame once adds nothing to what is stated.
  const lookalike = framedFlac(0.5).subarray(-14)
  expect(flacSeconds(Buffer.concat([framedFlac(90.2), lookalike]))).toBe(90.2)
})

test('FLAC and its frames are looked for as quickly where every byte might begin one', () => {
  const file = Buffer.concat([flac(1), Buffer.alloc(20_000_000, Buffer.from([0xff, 0xf8]))])
  const before = process.threadCpuUsage()
  flacSeconds(file)
  expect(process.threadCpuUsage(before).user).toBeLessThan(3_000_000)
})

test('packets of Vorbis play, however early their pages say that they are', () => {
  for (const seconds of [1, 60, 3600]) {
    expect(oggSeconds(vorbis(seconds))).toBeCloseTo(seconds, 4)
    expect(oggSeconds(vorbis(seconds, 0.1))).toBeGreaterThan(seconds - 0.1)
    expect(oggSeconds(vorbis(seconds, 0.1))).toBeLessThanOrEqual(seconds)
  }
})

test('an Ogg file may name any number of streams', () => {
  const recording = opus(2)
  const page = recording.subarray(0, recording.indexOf('OggS', 1))
  const file = Buffer.concat([...Array.from({ length: 150_000 }, () => page), recording])
  for (let serial = 1; serial <= 150_000; serial += 1)
    file.writeUInt32LE(serial + 1000, (serial - 1) * page.length + 14)
  expect(oggSeconds(file)).toBe(oggSeconds(recording))
})
