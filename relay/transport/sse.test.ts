import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createSseParser } from './sse.ts'
import type { WireEvent } from './framing.ts'
import { TransportError } from './transport-error.ts'

/** What `cut` yields when the body ends as it should. */
function parse(pieces: Iterable<Uint8Array>): WireEvent[] {
  const events: WireEvent[] = []
  const parser = createSseParser({
    onEvent: ({ event, data }) => events.push(event === undefined ? { data } : { event, data }),
  })
  for (const piece of pieces) parser.push(piece)
  parser.end()
  return events
}

const pieces = (bytes: Uint8Array, size: number) =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) => bytes.subarray(index * size, (index + 1) * size))

const event = fc.record(
  {
    event: fc.constantFrom('message_start', 'ping', '事件'),
    lines: fc.array(
      fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll(/[\r\n\uFEFF]/g, '')),
      { minLength: 1, maxLength: 3 },
    ),
  },
  { requiredKeys: ['lines'] },
)
const framing = fc.record({
  end: fc.constantFrom('\n', '\r', '\r\n'),
  space: fc.constantFrom(' ', ''),
  comment: fc.boolean(),
  bom: fc.boolean(),
  lastBlankLine: fc.boolean(),
})

type Framing = typeof framing extends fc.Arbitrary<infer T> ? T : never
type Given = typeof event extends fc.Arbitrary<infer T> ? T : never

/** A value that begins with a blank needs the blank after the colon, or it loses its own. */
const field = (name: string, value: string, space: string) => `${name}:${value.startsWith(' ') ? ' ' : space}${value}`

function wire(events: Given[], { end, space, comment, bom, lastBlankLine }: Framing): Uint8Array {
  const texts = events.map((each) => {
    const lines = comment ? [': keep-alive', ''] : []
    if (each.event) lines.push(field('event', each.event, space))
    for (const line of each.lines) lines.push(field('data', line, space))
    return lines.join(end) + end + end
  })
  const text = (bom ? '\uFEFF' : '') + texts.join('')
  return Buffer.from(lastBlankLine ? text : text.replace(/[\r\n]+$/, ''))
}

describe('framing of server-sent events', () => {
  it('gives the same events for every framing, cut at every size', () => {
    fc.assert(
      fc.property(
        fc.array(event, { minLength: 1, maxLength: 4 }),
        framing,
        fc.integer({ min: 1, max: 40 }),
        (given, how, size) => {
          // Without its line end a last data line that is empty cannot be distinguished from nothing.
          fc.pre(how.lastBlankLine || given.at(-1)?.lines.at(-1) !== '')
          const expected = given.map(({ event: name, lines }) => ({
            ...(name ? { event: name } : {}),
            data: lines.join('\n'),
          }))
          expect(parse(pieces(wire(given, how), size))).toEqual(expected)
        },
      ),
      { numRuns: 400 },
    )
  })

  it('gives the same events for a cut at every offset, inside characters and line ends too', () => {
    for (const end of ['\n', '\r', '\r\n']) {
      const text = `\uFEFF:hi${end}event: a${end}data: {"t":"日本𝄞é"}${end}${end}data:x${end}data:y${end}${end}data: [DONE]`
      const bytes = Buffer.from(text)
      for (let offset = 0; offset <= bytes.length; offset += 1)
        expect(parse([bytes.subarray(0, offset), bytes.subarray(offset)])).toEqual([
          { event: 'a', data: '{"t":"日本𝄞é"}' },
          { data: 'x\ny' },
          { data: '[DONE]' },
        ])
    }
  })

  it('stops an event that never ends', () => {
    const parser = createSseParser({ onEvent: () => {}, maxEventBytes: 100_000 })
    const piece = Buffer.alloc(10_000, 'x')
    parser.push(Buffer.from('data: '))
    const endless = () => {
      for (let count = 0; count < 1000; count += 1) parser.push(piece)
    }
    expect(endless).toThrow(TransportError)
  })

  it('stops an event that never ends though comments stand between its lines', () => {
    const parser = createSseParser({ onEvent: () => {}, maxEventBytes: 100_000 })
    const piece = Buffer.from(`data: ${'x'.repeat(10_000)}\n:\n`)
    const endless = () => {
      for (let count = 0; count < 1000; count += 1) parser.push(piece)
    }
    expect(endless).toThrow(expect.objectContaining({ kind: 'too-large' }))
  })

  it('puts up with any number of comments between events', () => {
    let count = 0
    const parser = createSseParser({ onEvent: () => (count += 1), maxEventBytes: 1000 })
    for (let sent = 0; sent < 500; sent += 1) parser.push(Buffer.from(`: ${'x'.repeat(500)}\n\n`))
    parser.push(Buffer.from('data: 1\n\n'))
    expect(count).toBe(1)
  })

  it('stops lines that are no events at all', () => {
    const parser = createSseParser({ onEvent: () => {}, maxEventBytes: 100_000 })
    const noise = Buffer.from('junk without meaning\n'.repeat(1000))
    expect(() => {
      for (let count = 0; count < 10; count += 1) parser.push(noise)
    }).toThrow(expect.objectContaining({ kind: 'too-large' }))
  })

  it('lets any number of events below the limit pass', () => {
    let count = 0
    const parser = createSseParser({ onEvent: () => (count += 1), maxEventBytes: 1000 })
    for (let sent = 0; sent < 500; sent += 1) parser.push(Buffer.from(`data: ${'x'.repeat(500)}\n\n`))
    expect(count).toBe(500)
  })

  it('emits no event of a body that broke off in the middle of one', () => {
    const events: WireEvent[] = []
    const parser = createSseParser({ onEvent: (each) => events.push(each) })
    parser.push(Buffer.from('data: 1\n\ndata: {"half'))
    expect(events.map(({ data }) => data)).toEqual(['1'])
  })
})
