import { expect, test } from 'vitest'
import { refusalOf } from './failures.ts'

test.each([
  [{ error: { message: 'no', code: 429 } }, 429, 'no'],
  [{ code: 503, message: 'no' }, 503, 'no'],
  [{ code: 'rate_limited', message: 'no', request_id: 'r', data: null }, 429, 'no'],
  [{ error_code: 17, error_msg: 'no' }, 500, 'no'],
  [{ status: 404, title: 'Not Found', detail: 'no' }, 404, 'no'],
  [{ detail: [{ msg: 'no', loc: [] }] }, 500, 'no'],
  [{ errors: ['no'] }, 500, 'no'],
  [{ errors: [{ message: 'no', code: 401 }], success: false, result: null }, 401, 'no'],
  [{ object: 'error', message: 'no', type: 'NotFoundError', param: null, code: 404 }, 404, 'no'],
  [{ message: 'no', __type: 'ThrottlingException' }, 500, 'no'],
])('%j is an error', (body, status, message) => {
  expect(refusalOf(body)).toMatchObject({ status, message })
})

test.each([
  {},
  { error: null },
  { error: {} },
  { message: 'hello' },
  { code: 0, message: 'ok' },
  { code: 200, msg: 'success' },
  { code: 1, msg: 'success' },
  { code: '0', message: 'done' },
  { code: 500, message: 'no', data: [{ url: 'x' }] },
  { status: 'processing', message: 'wait', request_id: 'r' },
  { status: 'processing', detail: 'half of it', request_id: 'r' },
  { success: true, message: 'deleted', code: 1000 },
  { id: 'x', object: 'thing.deleted', detail: 'low', code: 7 },
  { text: 'hello', code: 'en', errors: ['one word was not understood'] },
  { errors: [] },
])('%j is none', (body) => {
  expect(refusalOf(body)).toBeUndefined()
})
