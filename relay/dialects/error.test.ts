import { describe, expect, it } from 'vitest'
import type { CallerError } from './types.ts'
import { dialectOf, dialects } from './registry.ts'
import { testContext } from './testing/stream-text.ts'

const errorOf = (status: number, given: Partial<CallerError> = {}): CallerError => ({
  status,
  type: '',
  code: null,
  message: 'went wrong',
  requestId: 'r1',
  ...given,
})

const kinds = (status: number) => {
  const openAi = dialects['openai-chat'].error(errorOf(status))
  const claude = dialects.claude.error(errorOf(status))
  const gemini = dialects.gemini.error(errorOf(status))
  const of = ({ body }: { body: unknown }) => (body as { error: Record<string, unknown> }).error
  return [
    [openAi.status, of(openAi)['type'], of(openAi)['code']],
    [claude.status, of(claude)['type']],
    [gemini.status, of(gemini)['status']],
  ]
}

const call = { ...testContext(), model: 'm' }

describe('errors towards the caller', () => {
  it.each([
    [
      400,
      [
        [400, 'invalid_request_error', null],
        [400, 'invalid_request_error'],
        [400, 'INVALID_ARGUMENT'],
      ],
    ],
    [
      401,
      [
        [401, 'invalid_request_error', 'invalid_api_key'],
        [401, 'authentication_error'],
        [401, 'UNAUTHENTICATED'],
      ],
    ],
    [
      402,
      [
        [402, 'insufficient_quota', 'insufficient_quota'],
        [402, 'billing_error'],
        [402, 'RESOURCE_EXHAUSTED'],
      ],
    ],
    [
      403,
      [
        [403, 'invalid_request_error', 'permission_denied'],
        [403, 'permission_error'],
        [403, 'PERMISSION_DENIED'],
      ],
    ],
    [
      404,
      [
        [404, 'invalid_request_error', 'model_not_found'],
        [404, 'not_found_error'],
        [404, 'NOT_FOUND'],
      ],
    ],
    [
      408,
      [
        [408, 'timeout', null],
        [408, 'timeout_error'],
        [408, 'DEADLINE_EXCEEDED'],
      ],
    ],
    [
      409,
      [
        [409, 'invalid_request_error', null],
        [409, 'invalid_request_error'],
        [409, 'ABORTED'],
      ],
    ],
    [
      413,
      [
        [413, 'invalid_request_error', null],
        [413, 'request_too_large'],
        [413, 'INVALID_ARGUMENT'],
      ],
    ],
    [
      422,
      [
        [422, 'invalid_request_error', null],
        [422, 'invalid_request_error'],
        [422, 'INVALID_ARGUMENT'],
      ],
    ],
    [
      429,
      [
        [429, 'rate_limit_exceeded', 'rate_limit_exceeded'],
        [429, 'rate_limit_error'],
        [429, 'RESOURCE_EXHAUSTED'],
      ],
    ],
    [
      500,
      [
        [500, 'server_error', null],
        [500, 'api_error'],
        [500, 'INTERNAL'],
      ],
    ],
    [
      502,
      [
        [502, 'server_error', null],
        [502, 'api_error'],
        [502, 'INTERNAL'],
      ],
    ],
    [
      503,
      [
        [503, 'server_error', null],
        [503, 'api_error'],
        [503, 'UNAVAILABLE'],
      ],
    ],
    [
      504,
      [
        [504, 'timeout', null],
        [504, 'timeout_error'],
        [504, 'DEADLINE_EXCEEDED'],
      ],
    ],
    [
      529,
      [
        [503, 'server_error', 'overloaded'],
        [529, 'overloaded_error'],
        [503, 'UNAVAILABLE'],
      ],
    ],
    [
      200,
      [
        [500, 'server_error', null],
        [500, 'api_error'],
        [500, 'INTERNAL'],
      ],
    ],
  ])('names status %i in the words of each dialect', (status, expected) => {
    expect(kinds(status)).toEqual(expected)
  })

  it('has its code in words for OpenAI’s clients, whose types know no number', () => {
    const error = errorOf(429, { type: 'RESOURCE_EXHAUSTED', code: 429 })
    expect(dialects['openai-chat'].error(error).body).toMatchObject({ error: { code: '429' } })
    expect(dialects['openai-responses'].streamError(error, call)).toContain('"code":"429"')
  })

  it('keeps the type, code and parameter of an upstream for callers of OpenAI dialects', () => {
    const given = { type: 'tokens', code: 'too_long', param: 'messages', retryAfterSeconds: 3 }
    for (const id of ['openai-chat', 'openai-responses', 'openai-completions'] as const) {
      expect(dialectOf(id).error(errorOf(400, given)).body).toEqual({
        error: { message: 'went wrong (request id: r1)', type: 'tokens', code: 'too_long', param: 'messages' },
      })
    }
  })

  it.each([
    ['prompt is too long', {}, 'exceeded: your input exceeds the context window of this model'],
    ['Your input exceeds the context window of this model.', {}, 'exceeded: your input exceeds the context window'],
    ["This endpoint's maximum context length is 8192 tokens.", { limit: 8192 }, '8192 tokens'],
    ["This model's maximum context length is 4097 tokens (own words).", { limit: 4097 }, '4097 tokens (own words)'],
  ])('says of %j what every client knows for a conversation that is too long', (message, overflow, words) => {
    for (const id of ['openai-chat', 'openai-responses'] as const)
      expect(dialectOf(id).error(errorOf(400, { message, overflow })).body).toMatchObject({
        error: {
          message: expect.stringContaining(`This model's maximum context length is ${words}`),
          code: 'context_length_exceeded',
        },
      })
  })

  it('uses the envelope of each dialect', () => {
    expect(dialects.claude.error(errorOf(429)).body).toEqual({
      type: 'error',
      error: { type: 'rate_limit_error', message: 'went wrong (request id: r1)' },
      request_id: 'r1',
    })
    expect(dialects.gemini.error(errorOf(429)).body).toEqual({
      error: { code: 429, message: 'went wrong (request id: r1)', status: 'RESOURCE_EXHAUSTED', details: [] },
    })
  })

  it('names the request once, even if the message already does', () => {
    const message = 'went wrong (request id: r1)'
    expect(dialects['openai-chat'].error(errorOf(500, { message })).body).toMatchObject({ error: { message } })
  })

  it('writes an error after the first byte as an event of the dialect, never as an end marker', () => {
    const message = 'went wrong (request id: r1)'
    const data = (text: string) => JSON.parse(text.slice(text.indexOf('data: ') + 6))
    expect(data(dialects['openai-chat'].streamError(errorOf(500), call))).toMatchObject({ error: { message } })
    expect(data(dialects.gemini.streamError(errorOf(500), call))).toMatchObject({ error: { code: 500, message } })
    const claude = dialects.claude.streamError(errorOf(529), call)
    expect(claude.startsWith('event: error\n')).toBe(true)
    expect(data(claude)).toMatchObject({ type: 'error', error: { type: 'overloaded_error', message } })
    const responses = dialects['openai-responses'].streamError(errorOf(500), call).trim().split('\n\n')
    expect(responses.map((text) => [/^event: (.*)/.exec(text)?.[1], data(text).sequence_number])).toEqual([
      ['response.created', 0],
      ['response.in_progress', 1],
      ['error', 2],
      ['response.failed', 3],
    ])
    expect(data(responses[2] ?? '')).toMatchObject({ type: 'error', message, code: null, param: null })
    const failed = { model: 'm', status: 'failed', error: { code: 'server_error', message } }
    expect(data(responses[3] ?? '')).toMatchObject({ response: failed })
  })

  it.each([
    [{ status: 500 }, 'server_error'],
    [{ status: 502, type: 'upstream_error', code: 'bad_response_status_code' }, 'server_error'],
    [{ status: 503, type: 'gateway_error', code: 'no_channel' }, 'server_error'],
    [{ status: 429, code: 1302 }, 'rate_limit_exceeded'],
    [{ status: 429, code: 'too_many' }, 'rate_limit_exceeded'],
    [{ status: 429, code: 'insufficient_quota' }, 'insufficient_quota'],
    [{ status: 503, type: 'upstream_error', code: 'server_is_overloaded' }, 'server_is_overloaded'],
    [{ status: 400, code: 'string_above_max_length', overflow: {} }, 'context_length_exceeded'],
  ])('says by its code in a failed response what agents act on: %o', (given, expected) => {
    const text = dialects['openai-responses'].streamError(errorOf(given.status, given), call)
    expect(text).toContain(`"error":{"code":"${expected}"`)
  })
})
