import { describe, expect, it } from 'vitest'
import { MalformedUpstream } from '#relay/chat/events.ts'
import { processorMs } from '#server/processor-time.ts'
import { createJsonLineReader } from './json-lines.ts'

const pieces = (bytes: Uint8Array, size: number) =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) => bytes.subarray(index * size, (index + 1) * size))

function read(given: Iterable<Uint8Array>): string[] {
  const reader = createJsonLineReader()
  const events = [...given].flatMap((piece) => reader.push(piece))
  return [...events, ...reader.end()].map(({ data }) => data)
}

describe('lines of JSON', () => {
  it('are the same wherever their bytes are cut, inside characters and line ends too', () => {
    const text = Buffer.from('{"t":"日本𝄞é"}\n\n \r\n{"a":\r1}\r\n{"b":2}\n{"last":true}')
    for (let size = 1; size <= text.length; size += 1)
      expect(read(pieces(text, size)), `pieces of ${size}`).toEqual([
        '{"t":"日本𝄞é"}',
        '{"a":\r1}',
        '{"b":2}',
        '{"last":true}',
      ])
  })

  it('are looked through once, however many pieces a long one comes in', () => {
    const line = `{"long":"${'x'.repeat(400_000)}"}`
    const before = processorMs()
    expect(read(pieces(Buffer.from(`${line}\n`), 1))).toEqual([line])
    // Less than a second; begun anew for every byte it takes minutes.
    expect(processorMs() - before).toBeLessThan(10_000)
  }, 120_000)

  it('without an end are given up, in one piece or many', () => {
    const megabyte = Buffer.alloc(1_048_576, 'x')
    const endless = Array.from({ length: 11 }, () => megabyte)
    for (const given of [endless, [Buffer.concat(endless)], [Buffer.from('{}\n'), Buffer.concat(endless)]])
      expect(() => read(given)).toThrow(MalformedUpstream)
  })
})
