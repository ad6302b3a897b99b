/** Recordings in containers that have their packets apart from what they say of them, as small as they can be. */

const text = (value: string): Buffer => Buffer.from(value, 'latin1')
const big = (value: number, bytes: number): Buffer => {
  const buffer = Buffer.alloc(bytes)
  buffer.writeUIntBE(value, 0, bytes)
  return buffer
}
const box = (name: string, ...parts: Buffer[]): Buffer => {
  const body = Buffer.concat(parts)
  return Buffer.concat([big(body.length + 8, 4), text(name), body])
}
const numbers = (...values: number[]): Buffer => Buffer.concat(values.map((value) => big(value, 4)))

/** One packet, how many samples it plays, and the description of its form. */
type Form = { packet: Buffer; samples: number; rate: number; entry: Buffer }

const entryOf = (name: string, rate: number, ...inner: Buffer[]): Buffer =>
  box(name, Buffer.alloc(24), big(rate, 2), Buffer.alloc(2), ...inner)

const part = (tag: number, ...bytes: Buffer[]): Buffer => {
  const body = Buffer.concat(bytes)
  return Buffer.concat([big(tag, 1), big(body.length, 1), body])
}
const described = (number: number, config: number[]): Buffer => {
  const stream = part(4, big(number, 1), Buffer.alloc(12), part(5, Buffer.from(config)))
  return box('esds', Buffer.alloc(4), part(3, Buffer.alloc(3), stream))
}

export const forms = {
  /** 16 kHz, one channel. */
  aac: {
    packet: Buffer.alloc(4, 1),
    samples: 1024,
    rate: 16_000,
    entry: entryOf('mp4a', 48_000, described(0x40, [0x14, 0x08])),
  },
  opus: { packet: Buffer.from([0x08, 0, 0]), samples: 960, rate: 48_000, entry: entryOf('Opus', 48_000) },
  amr: { packet: Buffer.alloc(13), samples: 160, rate: 8000, entry: entryOf('samr', 8000) },
  alac: {
    packet: Buffer.alloc(4),
    samples: 4096,
    rate: 44_100,
    entry: entryOf('alac', 44_100, box('alac', numbers(0, 4096), Buffer.alloc(16), numbers(44_100))),
  },
  /** 8 kHz, of 8 bits. */
  pcm: { packet: Buffer.alloc(1), samples: 1, rate: 8000, entry: entryOf('raw ', 8000) },
  /** 44.1 kHz at 128 kbit/s. */
  mp3: {
    packet: Buffer.concat([Buffer.from([0xff, 0xfb, 0x90, 0xc0]), Buffer.alloc(413)]),
    samples: 1152,
    rate: 44_100,
    entry: entryOf('mp4a', 44_100, described(0x6b, [])),
  },
  /** DTS at 1536 kbit/s, which nobody reads here: packets of half a second. */
  unknown: { packet: Buffer.alloc(96_000), samples: 4000, rate: 8000, entry: entryOf('dtsc', 8000) },
} satisfies Record<string, Form>

type Stated = {
  /** How long the file and its track say that they play. */ stated?: number
  /** How many samples each packet says that it plays. */ ticks?: number
  form?: keyof typeof forms
  /** The packets stand in fragments of so many. */ fragments?: number
}

/** An MP4 file of nothing but packets. */
export function mp4(seconds: number, { stated = seconds, ticks, form = 'aac', fragments }: Stated = {}): Buffer {
  const { packet, samples, rate, entry } = forms[form]
  const count = Math.round((seconds * rate) / samples)
  const each = ticks ?? samples
  const begin = box('ftyp', text('M4A '), numbers(0), text('M4A isom'))
  const times = numbers(0, 0, 0, rate, Math.round(stated * rate))
  const moov = (tables: Buffer[], more: Buffer[] = []): Buffer =>
    box(
      'moov',
      box('mvhd', times, Buffer.alloc(80)),
      box(
        'trak',
        box('tkhd', numbers(0, 0, 0, 1), Buffer.alloc(64)),
        box(
          'mdia',
          box('mdhd', times, Buffer.alloc(4)),
          box('hdlr', Buffer.alloc(8), text('soun'), Buffer.alloc(13)),
          box('minf', box('stbl', box('stsd', numbers(0, 1), entry), ...tables)),
        ),
      ),
      ...more,
    )
  const packets = (from: number, most: number): Buffer[] =>
    Array.from({ length: Math.min(most, count - from) }, () => packet)
  if (fragments !== undefined) {
    const all = Array.from({ length: Math.ceil(count / fragments) }, (_, index) => {
      const data = packets(index * fragments, fragments)
      const moof = (offset: number): Buffer =>
        box('moof', box('traf', box('tfhd', numbers(0x02_00_00, 1)), box('trun', numbers(1, data.length, offset))))
      return Buffer.concat([moof(moof(0).length + 8), box('mdat', ...data)])
    })
    return Buffer.concat([
      begin,
      moov([], [box('mvex', box('trex', numbers(0, 1, 1, each, packet.length, 0)))]),
      ...all,
    ])
  }
  // Ten to a chunk, and the rest.
  const chunks = Math.ceil(count / 10)
  const tables = (first: number): Buffer[] => [
    box('stts', numbers(0, 1, count, each)),
    box('stsz', numbers(0, packet.length, count)),
    box('stsc', numbers(0, 2, 1, 10, 1, chunks, count - 10 * (chunks - 1), 1)),
    box(
      'stco',
      numbers(0, chunks, ...Array.from({ length: chunks }, (_, index) => first + index * 10 * packet.length)),
    ),
  ]
  const head = begin.length + moov(tables(0)).length + 8
  return Buffer.concat([begin, moov(tables(head)), box('mdat', Buffer.concat(packets(0, count)))])
}

/** Frames of 20 ms. */
export function amr(seconds: number, { isWide = false, kind = 0 }: { isWide?: boolean; kind?: number } = {}): Buffer {
  const sizes = isWide ? [18, 24, 33, 37, 41, 47, 51, 59, 61, 6] : [13, 14, 16, 18, 20, 21, 27, 32, 6]
  const frame = Buffer.alloc(sizes[kind] ?? 1)
  frame[0] = (kind << 3) | 4
  return Buffer.concat([
    text(isWide ? '#!AMR-WB\n' : '#!AMR\n'),
    ...Array.from({ length: Math.round(seconds * 50) }, () => frame),
  ])
}

type Caf = {
  form?: string
  rate?: number
  /** Of each packet: bytes and samples, 0 where they stand in the table. */ packet?: [bytes: number, samples: number]
  bits?: number
  channels?: number
  data: Buffer
  /** What stands in the table. */ table?: Buffer
  valid?: number
  /** The data has no length. */ isOpen?: boolean
}

/** Apple's form. */
export function caf({
  form = 'lpcm',
  rate = 8000,
  packet = [1, 1],
  bits = 8,
  channels = 1,
  data,
  ...more
}: Caf): Buffer {
  const { table, valid = 0, isOpen = false } = more
  const part = (name: string, body: Buffer, length = body.length): Buffer => {
    const size = Buffer.alloc(8)
    size.writeBigInt64BE(BigInt(length))
    return Buffer.concat([text(name), size, body])
  }
  const speed = Buffer.alloc(8)
  speed.writeDoubleBE(rate)
  const description = Buffer.concat([speed, text(form), numbers(0, ...packet, channels, bits)])
  const pakt = table && [part('pakt', Buffer.concat([numbers(0, 1, 0, valid, 0, 0), table]))]
  return Buffer.concat([
    text('caff'),
    numbers(0x0001_0000),
    part('desc', description),
    ...(pakt ?? []),
    part('data', Buffer.concat([numbers(0), data]), isOpen ? -1 : data.length + 4),
  ])
}
