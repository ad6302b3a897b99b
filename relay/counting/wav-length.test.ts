import { describe, expect, test } from 'vitest'
import { processorMs } from '#server/processor-time.ts'
import { aiff, au, chunk, mp3, rf64, w64, wav, wavFormat, wavOf } from '#test/support/audio-files.ts'
import { aiffSeconds, auSeconds } from './aiff-length.ts'
import { wavSeconds } from './wav-length.ts'

const text = (value: string): Buffer => Buffer.from(value, 'latin1')
const number = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}

/** What follows in an extensible format: its valid bits, places of its channels, and the number of its format. */
const extension = (valid: number, format: number): Buffer => {
  const bytes = Buffer.alloc(24)
  bytes.writeUInt16LE(22, 0)
  bytes.writeUInt16LE(valid, 2)
  bytes.writeUInt16LE(format, 8)
  return bytes
}

describe('a WAV file', () => {
  test.each([
    ['says the truth', wav(60)],
    ['states no length', wav(60, { stated: 0 })],
    ['states no length, and more bytes a second', wav(60, { stated: 0, byteRate: 8_000_000 })],
    ['states the largest length', wav(60, { stated: 0xffffffff })],
    ['states more bytes a second', wav(60, { byteRate: 8_000_000 })],
    ['states samples of more bytes', wav(60, { block: 1000 })],
    ['states samples of none', wav(60, { block: 0 })],
    ['states fewer samples', wav(60, { before: chunk('fact', number(8000)) })],
    ['states fewer samples in a chunk that is none', wav(60, { before: chunk('fact', Buffer.alloc(2)) })],
    ['has odd chunks', wav(60, { before: chunk('LIST', Buffer.alloc(3)) })],
    ['has a second, shorter format', wav(60, { before: chunk('fmt ', wavFormat({ bits: 64, channels: 8 })) })],
    ['is µ-law of more bits', wav(60, { format: 7, bits: 32 })],
    ['is A-law of more bits', wav(60, { format: 6, bits: 32 })],
    ['has fewer valid bits', wav(60, { format: 0xfffe, bits: 32, extension: extension(8, 1) })],
    ['is µ-law of more bits in an extension', wav(60, { format: 0xfffe, bits: 32, extension: extension(0, 7) })],
    ['has bits that fill no byte', wav(60, { bits: 4 })],
    ['is an RF64 file', rf64(60)],
    ['is an RF64 file that states no length', rf64(60, 0)],
    ['is a W64 file', w64(60)],
  ])('that %s plays as long as its data does', (_, file) => {
    expect(wavSeconds(file)).toBeCloseTo(60, 3)
  })

  test('plays whose format is too short to name its bits', () => {
    const format = chunk('fmt ', wavFormat().subarray(0, 14))
    expect(wavSeconds(Buffer.concat([text('RIFF0000WAVE'), format, chunk('data', Buffer.alloc(480_000))]))).toBe(60)
  })

  test('plays what stands behind the data that its length ends', () => {
    const first = wav(30)
    expect(wavSeconds(Buffer.concat([first, chunk('data', Buffer.alloc(8000 * 30))]))).toBe(60)
    const odd = Buffer.concat([first.subarray(0, 44).fill(1, 40, 41).fill(0, 41, 44), Buffer.from([0x80])])
    expect(wavSeconds(Buffer.concat([odd, chunk('data', Buffer.alloc(8000 * 60))]))).toBeCloseTo(60, 3)
  })

  test.each([
    // 24 valid bits of 32 are decoded as such, and two channels of 16.
    ['valid bits', { format: 0xfffe, bits: 32, extension: extension(24, 1) }, 60 / 4],
    ['several channels', { bits: 16, channels: 2 }, 60 / 4],
    ['floats', { format: 3, bits: 32 }, 60 / 4],
  ])('of %s plays no longer', (_, header, seconds) => {
    expect(wavSeconds(wav(60, header))).toBe(seconds)
  })

  test.each([
    // Blocks of 256 bytes: 505 samples, 500 and 512.
    ['IMA ADPCM', { format: 0x11, bits: 4, block: 256 }, (480_000 / 256) * 505],
    ['Microsoft ADPCM', { format: 2, bits: 4, block: 256 }, (480_000 / 256) * 500],
    ['Yamaha ADPCM', { format: 0x20, bits: 4, block: 256 }, 960_000],
    ['G.726', { format: 0x45, bits: 4, byteRate: 4000 }, 960_000],
    ['GSM', { format: 0x31, bits: 0, block: 65 }, Math.floor(480_000 / 65) * 320],
    ['TrueSpeech', { format: 0x22, bits: 1, block: 32 }, (480_000 / 32) * 240],
  ])('of %s plays its blocks, and of the last what it states', (_, header, samples) => {
    expect(wavSeconds(wav(60, header))).toBeCloseTo(samples / 8000, 1)
    const stated = samples - 100
    const honest = wavSeconds(wav(60, { ...header, before: chunk('fact', number(stated)) }))
    expect(Math.abs((honest ?? 0) - stated / 8000)).toBeLessThan(0.013)
    const forged = wavSeconds(wav(60, { ...header, before: chunk('fact', number(1)) }))
    expect(forged).toBeGreaterThan(samples / 8000 - 0.1)
  })

  test('of ADPCM whose blocks can be none plays as decoders read it', () => {
    for (const block of [0, 2, 65_535]) {
      for (const format of [2, 0x11]) {
        const file = wav(60, { format, bits: 4, block, before: chunk('fact', number(1)) })
        expect(wavSeconds(file)).toBeGreaterThan(118)
      }
    }
  })

  test('of MP3 plays its frames, and of a codec that is not known no less than any codec takes', () => {
    for (const format of [0x50, 0x55])
      expect(wavSeconds(wavOf(mp3(60), { format, before: chunk('fact', number(1)) }))).toBeCloseTo(60, 1)
    const unknown = { format: 0x1600, before: chunk('fact', number(1)) }
    expect(wavSeconds(wavOf(Buffer.alloc(192_000 * 60), unknown))).toBe(60)
    expect(wavSeconds(wavOf(Buffer.alloc(1000), { ...unknown, before: chunk('fact', number(480_000)) }))).toBe(60)
  })

  test('is none without a format or data, nor is another file', () => {
    for (const file of [Buffer.alloc(0), Buffer.alloc(5000), wav(0), wav(60).subarray(0, 30), text('RIFF0000WAVE')])
      expect(wavSeconds(file)).toBeUndefined()
    expect(wavSeconds(Buffer.concat([text('RIFF0000WAVE'), chunk('data', Buffer.alloc(100))]))).toBeUndefined()
    for (const file of [wav(60), rf64(60), w64(60)])
      for (let end = 0; end < 1000; end += 1)
        expect(wavSeconds(new Uint8Array(file.subarray(0, end))) ?? 0).toBeLessThanOrEqual(1)
  })

  test('of nothing but chunks, however many, is looked through in one pass', () => {
    const head = text('RIFF0000WAVE')
    for (const piece of [chunk('fmt ', wavFormat()), chunk('data', Buffer.alloc(2)), chunk('free', Buffer.alloc(0))]) {
      const file = Buffer.concat([head, Buffer.alloc(20_000_000, piece)])
      const startedAt = processorMs()
      wavSeconds(file)
      expect(processorMs() - startedAt).toBeLessThan(3000)
    }
  })
})

test('an AIFF file plays as long as its data does, whatever it states', () => {
  expect(aiffSeconds(aiff(60.2))).toBeCloseTo(60.2, 3)
  expect(aiffSeconds(aiff(60, { samples: 8000 }))).toBe(60)
  for (const stated of [0, 0xffffffff]) expect(aiffSeconds(aiff(60, { stated }))).toBe(60)
  expect(aiffSeconds(aiff(60, { form: 'ulaw', bits: 64 }))).toBe(60)
  expect(aiffSeconds(aiff(60, { form: 'sowt', bits: 16 }))).toBe(30)
  expect(aiffSeconds(aiff(60, { form: 'fl32' }))).toBe(15)
  // 34 bytes hold 64 samples.
  expect(aiffSeconds(aiff(60, { form: 'ima4', samples: 1 }))).toBeCloseTo(((480_000 / 34) * 64) / 8000, 1)
  expect(aiffSeconds(aiff(60, { form: 'MAC6', samples: 1 }))).toBe(480_000 / 192_000)
  for (const file of [Buffer.alloc(0), wav(1), text('FORM0000AIFF')]) expect(aiffSeconds(file)).toBeUndefined()
  for (let end = 0; end < 100; end += 1)
    expect(aiffSeconds(new Uint8Array(aiff(1).subarray(0, end))) ?? 0).toBeLessThan(1)
})

test('an AU file plays to its end', () => {
  for (const stated of [60.2, 1, 0]) expect(auSeconds(au(60.2, stated))).toBeCloseTo(60.2, 3)
  for (const file of [Buffer.alloc(0), wav(1), au(0)]) expect(auSeconds(file)).toBeUndefined()
  for (let end = 0; end < 100; end += 1) expect(auSeconds(new Uint8Array(au(1).subarray(0, end))) ?? 0).toBeLessThan(1)
})
