import { describe, expect, test } from 'vitest'
import { flac, m4a, mp3, opus, wav, webm } from '#test/support/audio-files.ts'
import { amr, caf, forms, mp4 } from '#test/support/packed-audio.ts'
import { processorMs } from '#server/processor-time.ts'
import { amrSeconds } from './amr-length.ts'
import { cafSeconds } from './caf-length.ts'
import { mp4Seconds } from './mp4-length.ts'

const readers = [amrSeconds, cafSeconds, mp4Seconds]

describe('an AMR file plays 20 ms for each of its frames', () => {
  test.each([
    ['of the narrow form', {}],
    ['of the best of it', { kind: 7 }],
    ['of silence', { kind: 8 }],
    ['that have no data', { kind: 15 }],
    ['of the wide form', { isWide: true }],
    ['of the best of that', { isWide: true, kind: 8 }],
  ])('%s', (_, form) => {
    expect(amrSeconds(amr(90.2, form))).toBeCloseTo(90.2, 6)
  })
})

describe('a CAF file plays', () => {
  const seconds = 90.2
  const samples = Buffer.alloc(seconds * 8000)
  const packets = Math.round((seconds * 16_000) / 1024)
  const aac = { form: 'aac ', rate: 16_000, bits: 0, data: Buffer.alloc(packets * 100) }
  const table = Buffer.alloc(packets, 100)
  test.each([
    ['its samples', caf({ data: samples })],
    ['its samples, where its data is open', caf({ data: samples, isOpen: true })],
    ['its samples, whatever it says of its packets', caf({ data: samples, packet: [8000, 1] })],
    ['its samples, whatever a table says', caf({ data: samples, table: Buffer.alloc(1, 1), valid: 1 })],
    ['its samples of two channels and 16 bits', caf({ data: Buffer.alloc(4 * samples.length), bits: 16, channels: 2 })],
    ['its samples of µ-law', caf({ form: 'ulaw', data: samples, bits: 32 })],
    ['its blocks', caf({ form: 'ima4', data: Buffer.alloc((34 * samples.length) / 64), packet: [34, 64], bits: 0 })],
    ['the packets of its table', caf({ ...aac, packet: [0, 1024], table })],
    ['the packets of its table, whatever they say', caf({ ...aac, packet: [0, 1], table, valid: 1 })],
    [
      'the packets of its table, each of which says it',
      caf({ ...aac, packet: [100, 0], table: Buffer.from(Array.from({ length: packets }, () => [0x88, 0]).flat()) }),
    ],
  ])('%s', (_, file) => {
    expect(cafSeconds(file)).toBeGreaterThan(seconds - 0.55)
    expect(cafSeconds(file)).toBeLessThan(seconds + 0.1)
  })

  test('what is valid of its packets', () => {
    const file = caf({ ...aac, packet: [0, 1024], table, valid: packets * 1024 - 2112 })
    expect(cafSeconds(file)).toBe((packets * 1024 - 2112) / 16_000)
  })

  test('no less than any codec takes, where its codec is not known', () => {
    expect(cafSeconds(caf({ form: 'what', data: Buffer.alloc(192_000 * 5), packet: [192_000, 1] }))).toBe(5)
  })
})

describe('an MP4 file', () => {
  test.each(Object.keys(forms) as (keyof typeof forms)[])('plays its packets, whatever it says of them: %s', (form) => {
    for (const given of [{}, { stated: 1 }, { stated: 0 }, { stated: 1, ticks: 1 }]) {
      const seconds = mp4Seconds(mp4(90.2, { ...given, form })) ?? 0
      expect(Math.abs(seconds - 90.2), JSON.stringify(given)).toBeLessThan(0.3)
    }
  })

  test.each([1, 50])('plays its packets in fragments of %d', (fragments) => {
    for (const given of [{ stated: 0 }, { stated: 1 }, { stated: 0, ticks: 1 }]) {
      expect(mp4Seconds(mp4(90.2, { ...given, fragments }))).toBeCloseTo(90.2, 0)
      expect(mp4Seconds(mp4(90.2, { ...given, fragments, form: 'opus' }))).toBeCloseTo(90.2, 3)
    }
  })

  test('plays as long as it says where its packets come to little more, and to less', () => {
    expect(mp4Seconds(mp4(90.2, { stated: 90 }))).toBe(90)
    expect(mp4Seconds(m4a(90.2))).toBe(90.2)
  })

  test('plays no more than is left of it', () => {
    const complete = mp4(60, { stated: 0 })
    for (let end = 0; end < complete.length; end += 7)
      expect(mp4Seconds(complete.subarray(0, end)) ?? 0).toBeLessThanOrEqual(60.05)
  })
})

test('another file is none of these', () => {
  for (const file of [Buffer.alloc(0), Buffer.alloc(5000), wav(1), mp3(1), opus(1), flac(1), webm(1)])
    for (const read of readers) expect(read(file)).toBeUndefined()
})

/** The same numbers each time. */
function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

test('whatever stands in a file, its length is a number or none', () => {
  const files = [
    ...(Object.keys(forms) as (keyof typeof forms)[]).map((form) => mp4(2, { form })),
    mp4(2, { fragments: 3, form: 'opus' }),
    amr(1),
    caf({ form: 'aac ', packet: [0, 0], data: Buffer.alloc(500), table: Buffer.alloc(200, 0x81) }),
  ]
  const next = random(7)
  for (const file of files) {
    for (let turn = 0; turn < 500; turn += 1) {
      const made = Buffer.from(file.subarray(0, Math.min(file.length, 4000)))
      for (let change = 0; change < 1 + next() * 8; change += 1)
        made[Math.floor(next() * Math.min(made.length, 900))] = next() < 0.3 ? 0xff : next() * 256
      for (const read of readers) {
        const seconds = read(new Uint8Array(made))
        expect(seconds === undefined || (Number.isFinite(seconds) && seconds >= 0)).toBe(true)
      }
    }
  }
})

describe('a file that is made to be looked through for long', () => {
  const costOf = (file: Buffer): number => {
    const before = processorMs()
    for (const read of readers) read(file)
    return processorMs() - before
  }
  const begin = Buffer.from('0000001066747970' + '4d344120' + '00000000', 'hex')
  const repeated = (hex: string): Buffer => Buffer.concat([begin, Buffer.alloc(20_000_000, Buffer.from(hex, 'hex'))])

  test.each([
    ['of empty boxes', repeated('0000000866726565')],
    ['of tracks', repeated('000000087472616b')],
    ['of boxes in boxes', repeated('00ffffff6d6f6f76')],
    ['of fragments', repeated('000000107466686400000000' + '00000001' + '000000107472756e00000000' + 'ffffffff')],
  ])('%s ends soon', (_, file) => {
    expect(costOf(file)).toBeLessThan(4000)
  })

  test('of packets that name the same bytes again and again ends soon, and is not cheap', () => {
    const file = mp4(60, { form: 'amr' })
    const sizes = file.indexOf('stsz')
    file.writeUInt32BE(file.length, sizes + 8)
    expect(costOf(file)).toBeLessThan(1000)
    expect(mp4Seconds(file)).toBeGreaterThan(50)
    const many = Buffer.concat([file, Buffer.alloc(5_000_000)])
    many.writeUInt32BE(1, sizes + 8)
    many.writeUInt32BE(0xff_ff_ff_ff, sizes + 12)
    many.writeUInt32BE(0xff_ff_ff_ff, many.indexOf('stsc') + 16)
    expect(costOf(many)).toBeLessThan(4000)
    expect(mp4Seconds(many)).toBeGreaterThan(50)
  })
})
