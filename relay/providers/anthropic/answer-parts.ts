import type { Citation, FinishReason, UpstreamFailure } from '#relay/chat/events.ts'
import { failureOf, readFailure } from '../shared/failures.ts'
import { type Json, recordOf, tryRecord, wordOf } from '../shared/json.ts'

const reasons: Readonly<Record<string, FinishReason>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  pause_turn: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool-calls',
  refusal: 'content-filter',
}

export const finishReasonOf = (reason: unknown): FinishReason =>
  (typeof reason === 'string' && Object.hasOwn(reasons, reason) ? reasons[reason] : undefined) ?? 'stop'

export function citationOf(value: unknown): Citation | undefined {
  const citation = recordOf(value)
  const url = wordOf(citation?.['url']) ?? wordOf(citation?.['source'])
  if (!citation || url === undefined || !/^https?:/.test(url)) return undefined
  return { url, title: wordOf(citation['title']), citedText: wordOf(citation['cited_text']) }
}

const statuses: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
}

/**
 * Whether an event goes on with an answer. Some hosts say why it stops long before it does, or in every event: what is said behind
 * that takes it back, while proofs, sources and empty pieces may stand there.
 */
export function goesOn(event: Json): boolean {
  const piece = recordOf(event['type'] === 'content_block_start' ? event['content_block'] : event['delta'])
  switch (piece?.['type']) {
    case 'tool_use':
    case 'server_tool_use':
    case 'mcp_tool_use':
      return true
    case 'text':
    case 'text_delta':
      return wordOf(piece['text']) !== undefined
    case 'thinking':
    case 'thinking_delta':
      return wordOf(piece['thinking']) !== undefined
    case 'input_json_delta':
      return wordOf(piece['partial_json']) !== undefined
    default:
      return false
  }
}

/** An error reply, with its fields for programs. */
export function readClaudeFailure(status: number, body: string): UpstreamFailure {
  const details = recordOf(recordOf(tryRecord(body)?.['error'])?.['details'])
  const failure = readFailure(status, body)
  return details && Object.keys(details).length > 0 ? { ...failure, details } : failure
}

/** An error that came inside a stream or a 2xx body; its type names the status it would have had. */
export function failureIn(body: Json): UpstreamFailure | undefined {
  const error = recordOf(body['error'])
  if (!error && body['type'] !== 'error') return undefined
  const type = wordOf(error?.['type']) ?? ''
  return failureOf((Object.hasOwn(statuses, type) ? statuses[type] : undefined) ?? 500, body)
}
