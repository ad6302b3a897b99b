import { crc32 } from 'node:zlib'
import { describe, expect, it, vi } from 'vitest'
import { createFrameSplitter } from './event-stream.ts'

/** A frame without headers. */
function frameOf(payload: string): Buffer {
  const frame = Buffer.alloc(16 + payload.length)
  frame.writeUInt32BE(frame.length, 0)
  frame.writeUInt32BE(crc32(frame.subarray(0, 8)), 8)
  frame.write(payload, 12, 'latin1')
  frame.writeUInt32BE(crc32(frame.subarray(0, -4)), frame.length - 4)
  return frame
}

const pieces = (bytes: Buffer, size: number): Buffer[] =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.subarray(at * size, (at + 1) * size))

describe('frames of an event stream', () => {
  const payloads = ['first', '', 'a longer one of forty characters, or so', 'last']
  const stream = Buffer.concat(payloads.map(frameOf))

  it.each([1, 7, 12, 13, 21, 30, 1000])('are read out of pieces of %i bytes', (size) => {
    const splitter = createFrameSplitter()
    const frames = pieces(stream, size).flatMap((piece) => splitter.push(piece))
    expect(frames.map(({ payload }) => payload.toString('latin1'))).toEqual(payloads)
  })

  it('are copied a few times, in however many pieces a large one comes', () => {
    const large = frameOf('A'.repeat(8_000_000))
    const concat = vi.spyOn(Buffer, 'concat')
    try {
      const splitter = createFrameSplitter()
      expect(pieces(large, 8000).flatMap((piece) => splitter.push(piece))).toHaveLength(1)
      const copied = concat.mock.results.reduce((sum, { value }) => sum + (value as Buffer).length, 0)
      expect(copied).toBeLessThan(5 * large.length)
    } finally {
      concat.mockRestore()
    }
  })
})
