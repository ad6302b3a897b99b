import { MalformedUpstream, type StreamDecoder } from '#relay/chat/events.ts'
import type { UpstreamFailure } from '#relay/chat/events.ts'
import { bearer } from '../openai-compatible/address.ts'
import { createOpenAiDecoder } from '../openai-compatible/stream.ts'
import { toHubResponse } from '../openai-compatible/response.ts'
import type { OpenAiStyle } from '../openai-compatible/style.ts'
import { type Provider, UpstreamRefusal } from '../types.ts'
import { readFailure } from '../shared/failures.ts'
import { countOf, type Json, numberOf, parseRecord, recordOf, tryRecord, wordOf } from '../shared/json.ts'
import { filesUrl, toCozeRequest } from './request.ts'

const style: OpenAiStyle = { id: 'coze', label: 'Coze', channelTypes: [49] }

/** https://www.coze.cn/open/docs/developer_guides/coze_error_codes: the other numbers from 4000 on speak of the call. */
const statuses: Readonly<Record<number, number>> = {
  // The bot is the channel's: unknown, without a model, or not published.
  4006: 404,
  4008: 429,
  4009: 429,
  4011: 402,
  4012: 404,
  4013: 503,
  4015: 404,
  4019: 402,
  4020: 429,
  4022: 402,
  4027: 402,
  4028: 402,
  4100: 401,
  4101: 401,
  700012006: 401,
}

const statusOf = (code: number): number => statuses[code] ?? (code >= 4000 && code < 5000 ? 400 : 500)

/** Failures come with HTTP 200 and a number of their own. */
function refusal(answer: Json): UpstreamFailure | undefined {
  const error = recordOf(answer['last_error']) ?? answer
  const code = countOf(error['code'])
  if (code === undefined || code === 0) return undefined
  const message = wordOf(error['msg']) ?? `upstream code ${code}`
  return { status: statusOf(code), type: 'upstream_error', code, message, param: null }
}

const failed = (answer: Json): UpstreamFailure =>
  refusal(answer) ?? { status: 500, type: 'upstream_error', code: null, message: 'the bot did not finish', param: null }

function delta(json: Json): Json | undefined {
  if (json['type'] !== 'answer') return undefined
  const fields = { content: json['content'], reasoning_content: json['reasoning_content'] }
  return { id: json['chat_id'], choices: [{ index: 0, delta: fields, finish_reason: null }] }
}

function closing(json: Json): Json {
  const usage = recordOf(json['usage'])
  const counts = usage && {
    prompt_tokens: usage['input_count'],
    completion_tokens: usage['output_count'],
    total_tokens: usage['token_count'],
  }
  return {
    id: json['id'],
    choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
    ...(counts ? { usage: counts } : {}),
  }
}

/** It comes in quotes; in an event of the answer it is a word like any other. */
const isClosingMark = (data: string): boolean => /^\s*"?\[DONE\]"?\s*$/.test(data)

/** Events are distinguished by their names. */
function createDecoder(reading: Parameters<Provider['chat']['stream']>[0]): StreamDecoder {
  const decoder = createOpenAiDecoder(style, reading)
  let over = false
  return {
    push({ event, data }) {
      if (over || isClosingMark(data)) return []
      const json = parseRecord(data)
      switch (event) {
        case 'conversation.message.delta': {
          const chunk = delta(json)
          return chunk ? decoder.pushChunk(chunk) : []
        }
        case 'conversation.chat.completed':
          return decoder.pushChunk(closing(json))
        case 'conversation.chat.failed':
        case 'conversation.chat.requires_action':
        case 'error':
          over = true
          return [{ type: 'error', error: failed(json) }]
        default: {
          const error = event === undefined ? refusal(json) : undefined
          over = error !== undefined
          return error ? [{ type: 'error', error }] : []
        }
      }
    },
    end: () => decoder.end(),
  }
}

/** A bot answers in a stream always: without one it would have to be asked again and again whether it is done. */
export const coze: Provider = {
  id: style.id,
  label: style.label,
  channelTypes: style.channelTypes,
  framing: 'sse',
  chat: {
    request: toCozeRequest,
    response(json, call) {
      const answer = recordOf(json)
      if (!answer) throw new MalformedUpstream('the answer is not a JSON object')
      const failure = refusal(answer)
      if (failure) throw new UpstreamRefusal(failure)
      return toHubResponse(style, answer, call)
    },
    stream: createDecoder,
    media: 'as-given',
    uploads: {
      request: ({ form }, { channel }) => ({
        method: 'POST',
        url: filesUrl(channel),
        headers: bearer(channel.key),
        body: form,
      }),
      read: (json) => wordOf(recordOf(recordOf(json)?.['data'])?.['id']),
    },
  },
  native: {},
  error: (status, body) => {
    const failure = refusal(tryRecord(body) ?? {})
    return failure ? { ...failure, status: numberOf(status) ?? failure.status } : readFailure(status, body)
  },
  models: {
    // Bots have no models to list; this lists the bots of an unknown space, and nothing is read from it.
    request: ({ baseUrl, key }) => ({ method: 'GET', url: `${baseUrl}/v1/workspaces`, headers: bearer(key) }),
    read: () => [],
  },
}
