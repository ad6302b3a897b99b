import { expect, it, vi } from 'vitest'
import { errorIn, errorInEmpty } from './reported-error.ts'
import { readEvents } from './stream-events.ts'

it.each([
  [{ error: { message: 'no' } }, 500],
  [{ error: 'no' }, 500],
  [{ code: 401, message: 'no' }, 401],
  [{ code: 'invalid_parameter', message: 'no' }, 400],
  [{ success: false, errors: [{ code: 429, message: 'no' }] }, 429],
  [{ detail: 'no' }, 500],
  [{ detail: [{ msg: 'no' }] }, 500],
  [{ status: 503, msg: 'no' }, 503],
  [{ header: { code: 10_013, message: 'no' } }, 500],
  [{ Response: { Error: { Code: 'X', Message: 'no' } } }, 500],
  [{ base_resp: { status_code: 1004, status_msg: 'no' } }, 500],
])('an error is found in %j', (body, status) => {
  expect(errorIn(body)).toMatchObject({ status, message: 'no' })
})

it.each([
  { code: 0, message: 'Success' },
  { code: 3000, message: 'Success' },
  { code: 20_000_000, msg: 'ok' },
  { code: 200, message: 'done' },
  { code: '00000', message: 'done' },
  { code: 20_000, message: 'done' },
  { code: 'completed', message: 'done' },
  { success: true, message: 'done', errors: [], messages: [] },
  { base_resp: { status_code: 0, status_msg: 'success' } },
  { error: null, detail: null, errors: null },
  { error: {}, status: 'succeeded' },
  { text: '' },
  {},
])('none is in %j', (body) => {
  expect(errorIn(body)).toBeUndefined()
  expect(errorInEmpty(body)).toBeUndefined()
})

it('a message alone is an error of an answer that brings nothing, and of no other', () => {
  expect(errorIn({ message: 'no' })).toBeUndefined()
  expect(errorInEmpty({ message: 'no' })).toMatchObject({ status: 500, message: 'no' })
})

const failuresIn = (text: string) =>
  readEvents(Buffer.from(text)).flatMap(({ failed }) => failed?.failure.message ?? [])

it.each([
  ['data: {"code":3000,"message":"chunk","data":"AAAA"}\n\n'],
  ['data: {"code":3000,"message":"chunk","data":{"audio":"AAAA"}}\n\n'],
  ['data: {"text":"{\\"error\\":\\"no\\"}"}\n\n'],
  ['data: an error occurred\n\n: error\n\nevent: progress\ndata: {"type":"progress","message":"50 %"}\n\n'],
  [`data: {"type":"image.partial","b64_json":"${'A'.repeat(100_000)}","error":null}\n\n`],
])('an event with content, or with no error, has not failed: %s', (text) => {
  expect(failuresIn(text)).toEqual([])
})

it('an error is found in an event of any size', () => {
  expect(failuresIn(`data: {"trace":"${'A'.repeat(100_000)}","error":{"message":"no"}}\n\n`)).toEqual(['no'])
})

it.each([
  'event: error\ndata: no\n\n',
  'data: {"type":"speech.failed","message":"no"}\n\n',
  'data: {"err":"no"}\n\n',
  'data: {"success":false,"message":"no"}\n\n',
  'data: {"__type":"ThrottlingException","message":"no"}\n\n',
  'data: {"type":"SERVER_ERROR","message":"no"}\n\n',
  'data: {"\\u0065rror":"no"}\n\n',
  '{"detail":"no"}\n',
])('a failure is found by its words: %s', (text) => {
  expect(failuresIn(text)).toHaveLength(1)
})

it('events of sound and of text are not read as JSON', () => {
  const parse = vi.spyOn(JSON, 'parse')
  try {
    const audio = `data: {"type":"speech.audio.delta","audio":"${'A'.repeat(1000)}"}\n\n`
    const text = 'data: {"type":"transcript.text.delta","delta":"Grüße"}\n\n'
    expect(failuresIn(audio + text + audio)).toEqual([])
    expect(parse).not.toHaveBeenCalled()
  } finally {
    parse.mockRestore()
  }
})
