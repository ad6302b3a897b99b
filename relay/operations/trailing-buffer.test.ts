import { describe, expect, it, vi } from 'vitest'
import { createTrailingBuffer } from './trailing-buffer.ts'

const image = `event: image.partial\ndata: {"type":"image.partial","b64_json":"${'A'.repeat(6000)}"}\n\n`
const closing = 'event: image.completed\ndata: {"type":"image.completed","usage":{"input_tokens":3}}\n\n'
const stream = Buffer.from(image + image + closing)

const pieces = (bytes: Buffer, size: number): Buffer[] =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.subarray(at * size, (at + 1) * size))

describe('the end of an event stream', () => {
  it.each([1, 7, 100, 1500, 20_000])('is held back whole, and nothing else, in pieces of %i bytes', (size) => {
    const buffer = createTrailingBuffer(true)
    const left = Buffer.concat(pieces(stream, size).map(buffer.push)).toString()
    expect(left.trimEnd()).toBe((image + image).trimEnd())
    expect(left + Buffer.from(buffer.rest()).toString()).toBe(stream.toString())
    expect(
      buffer.usage((json) => ({ promptTokens: (json as { usage: { input_tokens: number } }).usage.input_tokens })),
    ).toEqual({
      promptTokens: 3,
    })
  })

  it.each([1, 7, 100, 1500, 200_000])('leaves every image before it counted, in pieces of %i bytes', (size) => {
    const drawn = `data: {"type":"image_generation.partial_succeeded","usage":{},"b64_json":"${'A'.repeat(6000)}"}\n\n`
    const closed = 'data: {"type":"image_generation.completed"}\n\n'
    const buffer = createTrailingBuffer(true)
    for (const piece of pieces(Buffer.from(drawn + drawn + drawn + closed), size)) buffer.push(piece)
    expect(buffer.images()).toBe(3)
    expect(buffer.usage((json) => ({ promptTokens: Object.keys(json as object).length }))).toEqual({ promptTokens: 3 })
  })

  it('is looked for in what has come anew: an event in thousands of pieces is copied a few times', () => {
    const large = Buffer.from(`event: image.partial\ndata: {"b64_json":"${'A'.repeat(8_000_000)}"}\n\n${closing}`)
    const concat = vi.spyOn(Buffer, 'concat')
    try {
      const buffer = createTrailingBuffer(true)
      for (const piece of pieces(large, 8000)) buffer.push(piece)
      expect(Buffer.from(buffer.rest()).toString().trim()).toBe(closing.trim())
      const copied = concat.mock.results.reduce((sum, { value }) => sum + (value as Buffer).length, 0)
      expect(copied).toBeLessThan(5 * large.length)
    } finally {
      concat.mockRestore()
    }
  })
})

describe('failed events', () => {
  const failed = 'data: {"type":"image_generation.partial_failed","error":{"message":"no"}}\n\n'
  const show = () => Buffer.from('data: shown\n\n')
  const drawn = 'data: {"type":"image_generation.partial_succeeded","url":"https://i.test/1"}\n\n'

  it.each([1, 7, 100, 20_000])('leave as they are shown, behind something that came, in pieces of %i bytes', (size) => {
    const buffer = createTrailingBuffer(true, show)
    const left = pieces(Buffer.from(failed + drawn + failed), size).map(buffer.push)
    const text = Buffer.concat([...left, buffer.rest()]).toString()
    expect(text.replaceAll(/\n{2,}/g, '|')).toBe(`data: shown|${drawn.trimEnd()}|data: shown|`)
    expect([buffer.images(), buffer.failedImages()]).toEqual([1, 2])
    expect(buffer.failureOfImages()).toBeUndefined()
  })

  it('wait in thousands without being copied again and again', () => {
    const concat = vi.spyOn(Buffer, 'concat')
    try {
      const buffer = createTrailingBuffer(true, show)
      for (let count = 0; count < 20_000; count += 1) expect(buffer.push(Buffer.from(failed))).toHaveLength(0)
      expect(buffer.failureOfImages()).toMatchObject({ message: 'no' })
      expect(buffer.rest()).toHaveLength(20_000 * show().length)
      const copied = concat.mock.results.reduce((sum, { value }) => sum + (value as Buffer).length, 0)
      expect(copied).toBeLessThan(20_000 * (2 * failed.length + 1024))
    } finally {
      concat.mockRestore()
    }
  })

  it.each([1, 7, 20_000])('end what leaves, in pieces of %i bytes', (size) => {
    const error = 'data: {"code":1,"err\\u006fr":{"message":"no"}}\n\n'
    const buffer = createTrailingBuffer(true, show)
    const left = Buffer.concat(pieces(Buffer.from(drawn + error + drawn), size).map(buffer.push)).toString()
    expect(left).toBe(drawn)
    expect(buffer.failure()).toMatchObject({ message: 'no' })
    expect(Buffer.from(buffer.rest()).toString()).toBe(`data: shown\n\n${drawn}`)
  })
})

describe('comments', () => {
  const drawn = 'data: {"type":"image_generation.partial_succeeded","url":"https://i.test/1"}\n\n'
  const failed = 'data: {"type":"image_generation.partial_failed","error":{"message":"no"}}\n\n'
  const commented = `\u{feff}: key 1\n\n: key 2\r\n${drawn}:key 3\r${failed}${drawn}: key 4\n${closing}: key 5\ndata: \u00e4\n: key 6`

  it.each([1, 7, 20_000])('leave bare, and all else as it came, in pieces of %i bytes', (size) => {
    const buffer = createTrailingBuffer(true, ({ bytes }) =>
      Buffer.from(Buffer.from(bytes).toString().replace('key 3', '')),
    )
    const left = pieces(Buffer.from(commented), size).map(buffer.push)
    expect(Buffer.concat([...left, buffer.rest()]).toString()).toBe(commented.replaceAll(/: ?key \d/g, ':'))
  })
})

describe('a transcript of segments alone', () => {
  const text = 'data: hello\n\n'
  const segment = 'data: {"text":" hello"}\n\n'
  const delta = 'data: {"type":"transcript.text.delta","delta":"hello"}\n\n'
  const chunk = 'data: {"id":"1","object":"transcription.chunk","choices":[]}\n\n'

  it.each([
    ['text', text + text, true],
    ['text, its last blank line left out', `${text}data: bye\n`, true],
    ['text that is cut', `${text}data: by`, false],
    ['JSON', segment + segment, true],
    ['JSON, its last line end left out', segment + segment.trimEnd(), true],
    ['JSON that is cut', segment + segment.slice(0, 14), false],
    ['the beginning of a line', `${segment}da`, false],
    ['comments', ': wait\n\n', false],
    ['words that name an event', `data: {"text":"\\"type\\": \\"transcript.\\""}\n\n`, true],
    ['events that are named', delta + segment, false],
    ['an event that is named, and has not left', delta.trimEnd(), false],
    ['chunks', chunk, false],
  ])('is distinguished from one that another event closes or that is cut: %s', (_, stream, isComplete) => {
    for (const size of [1, 7, 1000]) {
      const buffer = createTrailingBuffer(true)
      for (const piece of pieces(Buffer.from(stream), size)) buffer.push(piece)
      expect(buffer.hasSegmentsOnly()).toBe(isComplete)
    }
  })
})
