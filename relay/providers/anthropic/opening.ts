import type { WireEvent } from '#relay/transport/framing.ts'
import { isEmptyValue } from '#relay/chat/json.ts'
import { recordOf, recordsOf, tryRecord, wordOf } from '../shared/json.ts'

/** A piece of a block, or its beginning, that is empty. Tools, their results and proofs say something by being there. */
function isEmptyPiece(value: unknown): boolean {
  const piece = recordOf(value)
  switch (piece?.['type']) {
    case 'text':
    case 'text_delta':
      return isEmptyValue(piece['text'])
    case 'thinking':
    case 'thinking_delta':
      return isEmptyValue(piece['thinking']) && isEmptyValue(piece['signature'])
    default:
      return false
  }
}

export function isClaudeOpening({ event, data }: WireEvent): boolean {
  switch (event) {
    case undefined:
    case 'ping':
    case 'content_block_stop':
      return true
    case 'message_start':
      return recordsOf(recordOf(tryRecord(data)?.['message'])?.['content']).length === 0
    case 'content_block_start':
      return isEmptyPiece(tryRecord(data)?.['content_block'])
    case 'content_block_delta':
      return isEmptyPiece(tryRecord(data)?.['delta'])
    case 'message_delta':
      return wordOf(recordOf(tryRecord(data)?.['delta'])?.['stop_reason']) === undefined
    default:
      return false
  }
}
