import { joinPath } from '../../shared/join-path.ts'
import type { UpstreamFailure } from '#relay/chat/events.ts'
import type { ChatRequest } from '#relay/chat/request.ts'
import { openAiCompatible } from '../index.ts'
import { messagesBelow } from '../messages-form.ts'
import { minimaxSpeech } from './minimax-speech.ts'
import { wantsThinking } from '../thinking-switch.ts'
import { countOf, type Json, recordOf, wordOf } from '../../shared/json.ts'

/** https://platform.minimax.io/docs/api-reference/errorcode */
const statuses: Readonly<Record<number, number>> = {
  1000: 500,
  1001: 504,
  1002: 429,
  1004: 401,
  1008: 402,
  1013: 500,
  1024: 500,
  1026: 400,
  1027: 400,
  1039: 429,
  1041: 429,
  1042: 400,
  2013: 400,
  2042: 404,
  2045: 429,
  2049: 401,
  2054: 404,
  2056: 429,
  20132: 404,
}

/** Failures come with HTTP 200 and a number of their own. */
function refusal(answer: Json): UpstreamFailure | undefined {
  const base = recordOf(answer['base_resp'])
  const code = countOf(base?.['status_code'])
  if (code === undefined || code === 0) return undefined
  const message = wordOf(base?.['status_msg']) ?? `upstream code ${code}`
  return { status: statuses[code] ?? 500, type: 'upstream_error', code, message }
}

function adjust(body: Json): void {
  if (body['max_tokens'] === undefined) return
  body['max_completion_tokens'] ??= body['max_tokens']
  delete body['max_tokens']
}

/** The first model that need not think; the ones before it always do: https://github.com/CherryHQ/cherry-studio/pull/15991 */
const switchable = /^minimax-m3/i

function reasoning(body: Json, request: ChatRequest): void {
  // Without it the reasoning stands inside the text.
  body['reasoning_split'] ??= true
  const wanted = wantsThinking(request.reasoning)
  if (wanted !== undefined && switchable.test(String(body['model'])))
    body['thinking'] ??= { type: wanted ? 'adaptive' : 'disabled' }
}

export const minimax = openAiCompatible({
  id: 'minimax',
  label: 'MiniMax',
  channelTypes: [35],
  messagesUrl: messagesBelow(/(\/anthropic)?(\/v1)?$/, '/anthropic/v1/messages'),
  responsesUrl: ({ channel }) => joinPath(channel.baseUrl, '/v1', '/responses'),
  carriesReasoning: 'details',
  reasoning,
  adjust,
  plain: { speech: minimaxSpeech(refusal) },
  refusal: { mark: '"base_resp"', read: refusal },
})
