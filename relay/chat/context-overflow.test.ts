import { expect, test } from 'vitest'
import { overflowIn } from './context-overflow.ts'

const failure = (message: string, more: object = {}) => ({ status: 400, type: '', code: null, message, ...more })

test.each([
  [
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 130001 tokens.",
    130001,
    128000,
  ],
  [
    "This endpoint's maximum context length is 8192 tokens. However, you requested about 9000 tokens (8000 of text input)",
    9000,
    8192,
  ],
  [
    'Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300000 tokens.',
    300000,
    272000,
  ],
  [
    'Your input exceeds the context window of this model. Please adjust your input and try again.',
    undefined,
    undefined,
  ],
  ['prompt is too long: 210000 tokens > 200000 maximum', 210000, 200000],
  ['input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000', 190000, 200000],
  ['The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).', 1200000, 1048576],
  [
    'Unable to submit request because the input token count is 40000 but model only supports up to 32768.',
    40000,
    32768,
  ],
  ['Input is too long for requested model.', undefined, undefined],
  [
    'Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length',
    40000,
    32768,
  ],
  ["This model's maximum prompt length is 131072 but the request contains 537812 tokens.", 537812, 131072],
  ['<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]', undefined, 129024],
  ['Invalid request: Your request exceeded model token limit: 131072 (requested: 140000)', 140000, 131072],
  ['prompt token count of 130000 exceeds the limit of 128000', 130000, 128000],
  ['the request exceeds the available context size. try increasing the context size', undefined, undefined],
])('a prompt that is too long is seen in %j', (message, tokens, limit) => {
  expect(overflowIn(failure(message))).toEqual({ tokens, limit })
})

test('a code alone is enough; a limit in time, a limit of the answer and other faults do not', () => {
  expect(overflowIn(failure('no', { code: 'context_length_exceeded' }))).toEqual({})
  expect(overflowIn(failure('too many tokens: Input is too long', { status: 429 }))).toBeUndefined()
  expect(overflowIn(failure('max_tokens is too large: 300000. This model supports at most 16384'))).toBeUndefined()
  expect(overflowIn(failure('messages: field required'))).toBeUndefined()
})
