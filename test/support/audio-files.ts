/** Recordings of a given length in the containers that people upload, silent and as small as they can be. */

const text = (value: string): Buffer => Buffer.from(value, 'latin1')
const big = (value: number, bytes: number): Buffer => {
  const buffer = Buffer.alloc(bytes)
  buffer.writeUIntBE(value, 0, bytes)
  return buffer
}
const little = (value: number, bytes: number): Buffer => {
  const buffer = Buffer.alloc(bytes)
  buffer.writeUIntLE(value, 0, bytes)
  return buffer
}

type WavHeader = {
  format?: number
  channels?: number
  bits?: number
  byteRate?: number
  block?: number
  /** Behind the 16 bytes that every format has. */ extension?: Buffer
  /** How many bytes of data it states. */ stated?: number
  /** Chunks in front of the data. */ before?: Buffer
}

export const chunk = (name: string, body: Buffer, stated = body.length): Buffer =>
  Buffer.concat([text(name), little(stated, 4), body, Buffer.alloc(body.length % 2)])

/** 8000 samples a second, of 8 bits and one channel unless the header says something else. */
export function wav(seconds: number, header: WavHeader = {}): Buffer {
  return wavOf(Buffer.alloc(Math.round(seconds * 8000), 0x80), header)
}

export function wavFormat({ format = 1, channels = 1, bits = 8, ...header }: WavHeader = {}): Buffer {
  const { byteRate = 8000, block = 1, extension = Buffer.alloc(0) } = header
  const numbers = [little(format, 2), little(channels, 2), little(8000, 4), little(byteRate, 4), little(block, 2)]
  return Buffer.concat([...numbers, little(bits, 2), extension])
}

export function wavOf(data: Buffer, header: WavHeader = {}): Buffer {
  const { before = Buffer.alloc(0), stated } = header
  const body = Buffer.concat([text('WAVE'), chunk('fmt ', wavFormat(header)), before, chunk('data', data, stated)])
  return Buffer.concat([text('RIFF'), little(body.length, 4), body])
}

/** The same with lengths of 64 bits, which stand in a chunk of their own. */
export function rf64(seconds: number, stated = seconds): Buffer {
  const size = Buffer.alloc(28)
  size.writeBigUInt64LE(BigInt(Math.round(stated * 8000)), 8)
  const format = chunk('fmt ', wavFormat())
  const data = Buffer.alloc(Math.round(seconds * 8000), 0x80)
  const head = Buffer.concat([text('RF64'), little(0xffffffff, 4), text('WAVE'), chunk('ds64', size)])
  return Buffer.concat([head, format, chunk('data', data, 0xffffffff)])
}

/** Sony's form of it. */
export function w64(seconds: number): Buffer {
  const data = Buffer.alloc(Math.round(seconds * 8000), 0x80)
  const wide = (name: string, body: Buffer): Buffer => {
    const length = Buffer.alloc(8)
    length.writeBigUInt64LE(BigInt(24 + body.length))
    return Buffer.concat([text(name), Buffer.from('f3acd3118cd100c04f8edb8a', 'hex'), length, body])
  }
  const body = Buffer.concat([wide('fmt ', wavFormat()), wide('data', data)])
  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(40 + body.length))
  const head = Buffer.concat([text('riff'), Buffer.from('2e91cf11a5d628db04c10000', 'hex'), length])
  return Buffer.concat([head, text('wave'), Buffer.from('f3acd3118cd100c04f8edb8a', 'hex'), body])
}

/** 8000 samples a second. */
export function aiff(
  seconds: number,
  { samples = Math.round(seconds * 8000), bits = 8, form = '', stated }: AiffHeader = {},
): Buffer {
  const part = (name: string, body: Buffer, length = body.length) =>
    Buffer.concat([text(name), big(length, 4), body, Buffer.alloc(body.length % 2)])
  const rate = Buffer.from('400bfa00000000000000', 'hex')
  const common = [big(1, 2), big(samples, 4), big(bits, 2), rate, ...(form === '' ? [] : [text(form), big(0, 2)])]
  const data = Buffer.alloc(8 + Math.round(seconds * 8000))
  const parts = [part('COMM', Buffer.concat(common)), part('SSND', data, stated)]
  const body = Buffer.concat([text(form === '' ? 'AIFF' : 'AIFC'), ...parts])
  return Buffer.concat([text('FORM'), big(body.length, 4), body])
}
type AiffHeader = { samples?: number; bits?: number; form?: string; stated?: number }

/** In µ-law, of 8000 samples a second. */
export function au(seconds: number, stated = seconds): Buffer {
  const numbers = [24, Math.round(stated * 8000), 1, 8000, 1].map((value) => big(value, 4))
  return Buffer.concat([text('.snd'), ...numbers, Buffer.alloc(Math.round(seconds * 8000), 0x7f)])
}

/** Frames of 128 kbit/s at 44.1 kHz, each 1152 samples long. */
export function mp3(seconds: number): Buffer {
  const frame = Buffer.alloc(417)
  frame.set([0xff, 0xfb, 0x90, 0xc0])
  return Buffer.concat(Array.from({ length: Math.round((seconds * 44_100) / 1152) }, () => frame))
}

/** The same behind a table that states a length, as encoders write it. */
export function statedMp3(seconds: number, stated = seconds): Buffer {
  const table = Buffer.alloc(417)
  table.set([0xff, 0xfb, 0x90, 0xc0])
  const frames = Math.round((stated * 44_100) / 1152)
  Buffer.concat([text('Xing'), big(3, 4), big(frames, 4), big(frames * 417, 4)]).copy(table, 21)
  return Buffer.concat([table, mp3(seconds)])
}

export function flac(seconds: number): Buffer {
  const rate = 8000n
  const info = Buffer.alloc(34)
  info.writeUInt16BE(4096, 0)
  info.writeUInt16BE(4096, 2)
  // Rate, one channel, 16 bits a sample, number of samples.
  info.writeBigUInt64BE((rate << 44n) | (15n << 36n) | BigInt(Math.round(seconds * 8000)), 10)
  return Buffer.concat([text('fLaC'), big(0x80, 1), big(info.length, 3), info, Buffer.alloc(64)])
}

/** The same in frames of half a second at most, as small as silence is. */
export function framedFlac(seconds: number, stated = seconds): Buffer {
  const samples = Math.round(seconds * 8000)
  const frames = Array.from({ length: Math.ceil(samples / 4096) }, (_, index) => {
    const count = Math.min(4096, samples - index * 4096)
    // 8000 Hz, one channel, 16 bits.
    const number = index < 0x80 ? [index] : [0xc0 | (index >> 6), 0x80 | (index & 0x3f)]
    const head = Buffer.concat([Buffer.from([0xff, 0xf8, 0x74, 0x08, ...number]), big(count - 1, 2)])
    return Buffer.concat([head, big(checksum(head), 1), Buffer.alloc(5)])
  })
  return Buffer.concat([flac(stated), ...frames])
}

/** CRC-8. */
function checksum(bytes: Buffer): number {
  let value = 0
  for (const byte of bytes) {
    value ^= byte
    for (let bit = 0; bit < 8; bit += 1) value = value & 0x80 ? ((value << 1) ^ 0x07) & 0xff : value << 1
  }
  return value
}

export function m4a(seconds: number): Buffer {
  const box = (name: string, ...parts: Buffer[]): Buffer => {
    const body = Buffer.concat(parts)
    return Buffer.concat([big(body.length + 8, 4), text(name), body])
  }
  const length = Math.round(seconds * 1000)
  const header = Buffer.concat([Buffer.alloc(12), big(1000, 4), big(length, 4), Buffer.alloc(80)])
  const media = Buffer.concat([Buffer.alloc(12), big(1000, 4), big(length, 4), Buffer.alloc(4)])
  const sample = box(
    'mp4a',
    Buffer.alloc(6),
    big(1, 2),
    Buffer.alloc(8),
    big(1, 2),
    big(16, 2),
    Buffer.alloc(4),
    big(8000, 2),
    Buffer.alloc(2),
  )
  const table = box('stbl', box('stsd', big(0, 4), big(1, 4), sample))
  const track = box(
    'trak',
    box('tkhd', Buffer.alloc(84)),
    box('mdia', box('mdhd', media), box('hdlr', Buffer.alloc(8), text('soun'), Buffer.alloc(13)), box('minf', table)),
  )
  return Buffer.concat([
    box('ftyp', text('M4A '), big(0, 4), text('M4A isom')),
    box('moov', box('mvhd', header), track),
    box('mdat', Buffer.alloc(16)),
  ])
}

function element(id: string, ...parts: Buffer[]): Buffer {
  const body = Buffer.concat(parts)
  const size = big(body.length, 4)
  size[0] = (size[0] ?? 0) | 0x10
  return Buffer.concat([Buffer.from(id, 'hex'), size, body])
}

const webmHeader = element(
  '1a45dfa3',
  element('4282', text('webm')),
  element('4287', big(4, 1)),
  element('4285', big(2, 1)),
)

/**
 * As browsers record: a block each 20 ms, five seconds to a cluster, sizes left open, and no length unless one is given. Blocks of
 * several tracks say how long they play.
 */
export function liveWebm(seconds: number, { stated, tracks = 1 }: { stated?: number; tracks?: number } = {}): Buffer {
  const open = Buffer.from('01ffffffffffffff', 'hex')
  const duration = Buffer.alloc(4)
  duration.writeFloatBE((stated ?? 0) * 1000)
  const info = element('1549a966', element('2ad7b1', big(1_000_000, 3)), ...(stated ? [element('4489', duration)] : []))
  const blocks = Array.from({ length: Math.round((seconds * 1000) / 20) }, (_, index) => {
    const time = index * 20
    const begins = time % 5000 === 0 ? [Buffer.from('1f43b675', 'hex'), open, element('e7', big(time, 4))] : []
    const place = big(time % 5000, 2)
    if (tracks === 1) return Buffer.concat([...begins, element('a3', big(0x81, 1), place, Buffer.alloc(5))])
    const groups = Array.from({ length: tracks }, (_, track) =>
      element('a0', element('a1', big(0x81 + track, 1), place, Buffer.alloc(5)), element('9b', big(20, 1))),
    )
    return Buffer.concat([...begins, ...groups])
  })
  return Buffer.concat([webmHeader, Buffer.from('18538067', 'hex'), open, info, ...blocks])
}

export function webm(seconds: number): Buffer {
  const duration = Buffer.alloc(8)
  duration.writeDoubleBE(seconds * 1000)
  return Buffer.concat([
    webmHeader,
    element(
      '18538067',
      element('1549a966', element('2ad7b1', big(1_000_000, 3)), element('4489', duration)),
      element(
        '1654ae6b',
        element('ae', element('d7', big(1, 1)), element('83', big(2, 1)), element('86', text('A_OPUS'))),
      ),
    ),
  ])
}

/** Opus counts 48,000 samples a second; the last page says how many there were. */
export function ogg(seconds: number): Buffer {
  return oggOf(Math.round(seconds * 48_000), [[Buffer.alloc(20)]])
}

/** The same with all of its packets, 20 ms each. */
export function opus(seconds: number, stated = seconds): Buffer {
  const packet = Buffer.from([0x08, 0, 0])
  const count = Math.round(seconds * 50)
  const pages = Array.from({ length: Math.ceil(count / 50) }, (_, page) =>
    Array.from({ length: Math.min(50, count - page * 50) }, () => packet),
  )
  return oggOf(Math.round(stated * 48_000), pages)
}

/** Vorbis of packets that play 1024 samples each at 44.1 kHz, but for the first. */
export function vorbis(seconds: number, stated = seconds): Buffer {
  const head = Buffer.concat([
    text('\u0001vorbis'),
    little(0, 4),
    big(1, 1),
    little(44_100, 4),
    Buffer.alloc(12),
    big(0xb8, 1),
    big(1, 1),
  ])
  // One mode of short blocks and one of long ones, 41 bits each, behind their number and in front of a last bit.
  const modes = (1n << 88n) | (1n << 47n) | 1n
  const bits = Buffer.from(modes.toString(16).padStart(24, '0'), 'hex').toReversed()
  const setup = Buffer.concat([text('\u0005vorbis'), Buffer.alloc(300, 0x55), bits])
  const packet = Buffer.from([0x02, 0, 0])
  const count = 1 + Math.round((seconds * 44_100) / 1024)
  const pages = Array.from({ length: Math.ceil(count / 50) }, (_, page) =>
    Array.from({ length: Math.min(50, count - page * 50) }, () => packet),
  )
  return oggOf(Math.round(stated * 44_100), pages, [head, text('\u0003vorbis'), setup])
}

function oggOf(samples: number, pages: Buffer[][], headers?: [Buffer, Buffer, Buffer]): Buffer {
  const page = (
    flags: number,
    { position = 0, number }: { position?: number; number: number },
    ...packets: Buffer[]
  ) => {
    const granule = Buffer.alloc(8)
    granule.writeBigUInt64LE(BigInt(position))
    return Buffer.concat([
      text('OggS'),
      big(0, 1),
      big(flags, 1),
      granule,
      little(1, 4),
      little(number, 4),
      little(0, 4),
      big(
        packets.reduce((sum, { length }) => sum + 1 + Math.floor(length / 255), 0),
        1,
      ),
      ...packets.flatMap(({ length }) => [Buffer.alloc(Math.floor(length / 255), 0xff), big(length % 255, 1)]),
      ...packets,
    ])
  }
  const head = Buffer.concat([
    text('OpusHead'),
    big(1, 1),
    big(1, 1),
    little(0, 2),
    little(48_000, 4),
    little(0, 2),
    big(0, 1),
  ])
  const tags = Buffer.concat([text('OpusTags'), little(1, 4), text('x'), little(0, 4)])
  return Buffer.concat([
    page(2, { number: 0 }, headers?.[0] ?? head),
    page(0, { number: 1 }, ...(headers?.slice(1) ?? [tags])),
    ...pages.map((packets, index) => {
      const isLast = index === pages.length - 1
      return page(isLast ? 4 : 0, { position: isLast ? samples : 1, number: 2 + index }, ...packets)
    }),
  ])
}
