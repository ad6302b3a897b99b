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

export function wav(seconds: number): Buffer {
  const rate = 8000
  const data = Buffer.alloc(Math.round(seconds * rate), 0x80)
  const format = Buffer.concat([
    little(1, 2),
    little(1, 2),
    little(rate, 4),
    little(rate, 4),
    little(1, 2),
    little(8, 2),
  ])
  const chunk = (name: string, body: Buffer) => Buffer.concat([text(name), little(body.length, 4), body])
  const body = Buffer.concat([text('WAVE'), chunk('fmt ', format), chunk('data', data)])
  return Buffer.concat([text('RIFF'), little(body.length, 4), body])
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

function oggOf(samples: number, pages: Buffer[][]): Buffer {
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
      big(packets.length, 1),
      ...packets.map(({ length }) => big(length, 1)),
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
    page(2, { number: 0 }, head),
    page(0, { number: 1 }, tags),
    ...pages.map((packets, index) => {
      const isLast = index === pages.length - 1
      return page(isLast ? 4 : 0, { position: isLast ? samples : 1, number: 2 + index }, ...packets)
    }),
  ])
}
