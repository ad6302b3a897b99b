import type { ChatRequest } from '#relay/chat/request.ts'
import { flatImageTokens } from './image-tokens.ts'
import { promptPieces } from './prompt-pieces.ts'
import type { PromptPiece } from './prompt-pieces.ts'

export type CheapPromptCount = {
  promptTokens: number
  /** The part of the prompt up to the caller's last cache mark, and of that the part up to the last one-hour mark. */
  cacheWriteMarked: number
  cacheWrite1hMarked: number
}

const asciiPerToken = 4

/** One token for four ASCII characters and one for every other character. */
export function cheapTextTokens(text: string): number {
  // Equal lengths mean ASCII throughout, which is found out much faster than by looking at each character.
  if (Buffer.byteLength(text) === text.length) return Math.ceil(text.length / asciiPerToken)
  let others = 0
  let units = 0
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code < 0x80) continue
    units += 1
    const isSecondHalf = code >= 0xdc00 && code <= 0xdfff
    if (!isSecondHalf) others += 1
  }
  return Math.ceil((text.length - units) / asciiPerToken) + others
}

/** The prompt's tokens without a tokenizer, for the reserve before a call. */
export function cheapPromptTokens(request: ChatRequest): CheapPromptCount {
  const count: CheapPromptCount = { promptTokens: 0, cacheWriteMarked: 0, cacheWrite1hMarked: 0 }
  for (const piece of promptPieces(request)) {
    if (piece.kind === 'cache-mark') {
      count.cacheWriteMarked = count.promptTokens
      if (piece.ttl === '1h') count.cacheWrite1hMarked = count.promptTokens
    } else count.promptTokens += cheapPieceTokens(piece, request.model)
  }
  return count
}

function cheapPieceTokens(piece: Exclude<PromptPiece, { kind: 'cache-mark' }>, model: string): number {
  if (piece.kind === 'tokens') return piece.count
  return piece.kind === 'picture' ? flatImageTokens(piece.image, model) : cheapTextTokens(piece.text)
}
