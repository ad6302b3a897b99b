import { expect, test } from 'vitest'
import { failureOfError, refusalOf } from './failures.ts'

test.each([
  [{ error: { message: 'no', code: 429 } }, 429, 'no'],
  [{ code: 503, message: 'no' }, 503, 'no'],
  [{ code: 'rate_limited', message: 'no', request_id: 'r', data: null }, 429, 'no'],
  [{ error_code: 17, error_msg: 'no' }, 500, 'no'],
  [{ status: 404, title: 'Not Found', detail: 'no' }, 404, 'no'],
  [{ detail: [{ msg: 'no', loc: [] }] }, 500, 'no'],
  [{ code: 514, statusText: 'unAuthApiKey', message: 'no', data: null }, 514, 'no'],
  [{ errors: ['no'] }, 500, 'no'],
  [{ errors: [{ message: 'no', code: 401 }], success: false, result: null }, 401, 'no'],
  [{ object: 'error', message: 'no', type: 'NotFoundError', param: null, code: 404 }, 404, 'no'],
  [{ message: 'no', __type: 'ThrottlingException' }, 500, 'no'],
])('%j is an error', (body, status, message) => {
  expect(refusalOf(body)).toMatchObject({ status, message })
})

/** `ResponseError.code` of the package `openai`, and what Codex reads beside it. */
const codes = {
  400: [
    'invalid_prompt',
    'bio_policy',
    'cyber_policy',
    'misalignment_policy_violation',
    'data_residency_mismatch',
    'invalid_image',
    'invalid_image_format',
    'invalid_base64_image',
    'invalid_image_url',
    'invalid_image_mode',
    'image_too_small',
    'image_parse_error',
    'image_content_policy_violation',
    'unsupported_image_media_type',
    'empty_image_file',
    'failed_to_download_image',
    'image_file_not_found',
    'context_length_exceeded',
  ],
  402: ['insufficient_quota'],
  404: ['model_not_found'],
  413: ['image_too_large', 'image_file_too_large'],
  429: ['rate_limit_exceeded'],
  500: ['server_error'],
  503: ['server_is_overloaded', 'slow_down'],
  504: ['vector_store_timeout'],
}
const coded = Object.entries(codes).flatMap(([status, names]) =>
  names.map((code) => ({ status: Number(status), code })),
)

test.each(coded)('the code $code of a failed response without a type is $status', ({ status, code }) => {
  expect(failureOfError({ code, message: 'no', type: null })).toMatchObject({ status, code })
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
