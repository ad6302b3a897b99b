import { emptyUsage } from '#core/usage.ts'
import type { Usage } from '#core/usage.ts'
import type { Delivered } from '#relay/chat/delivered.ts'
import type { ChatRequest } from '#relay/chat/request.ts'
import type { CountTexts } from './count-text.ts'
import { imageTokens } from './image-tokens.ts'
import { promptPieces } from './prompt-pieces.ts'

const tokensPerToolCall = 7
const tokensPerImage = 258

/** The prompt's tokens by the real encoder. `model` is the name whose encoder counts. */
export async function countPrompt(request: ChatRequest, model: string, count: CountTexts): Promise<number> {
  let total = 0
  const texts: string[] = []
  for (const piece of promptPieces(request)) {
    if (piece.kind === 'text') texts.push(piece.text)
    else if (piece.kind === 'tokens') total += piece.count
    else if (piece.kind === 'picture') total += imageTokens(piece.image, model)
  }
  return total + (await count(texts, model))
}

/** The usage of an answer whose upstream reported none, counted here. */
export async function estimateUsage(call: {
  request: ChatRequest
  delivered: Delivered
  model: string
  count: CountTexts
}): Promise<Usage> {
  const { request, delivered, model, count } = call
  const [promptTokens, completionTokens] = await Promise.all([
    countPrompt(request, model, count),
    countDelivered(delivered, model, count),
  ])
  return { ...emptyUsage, promptTokens, completionTokens, imageOutputTokens: imageTokensOf(delivered) }
}

/** The output tokens of what was delivered, 7 more for each tool call and 258 for each image. */
export async function countDelivered(delivered: Delivered, model: string, count: CountTexts): Promise<number> {
  const { text, droppedCharacters = 0 } = delivered
  const counted = await count([text], model)
  const written =
    droppedCharacters === 0 ? counted : Math.round(counted * (1 + droppedCharacters / Math.max(text.length, 1)))
  return written + tokensPerToolCall * delivered.toolCalls + imageTokensOf(delivered)
}

export const imageTokensOf = ({ images = 0 }: Delivered): number => tokensPerImage * images

/** Every text the caller wrote or quoted, for screening: all roles, tool results included, no images. */
export function promptTexts(request: ChatRequest): string[] {
  const texts: string[] = []
  for (const { content } of request.messages) {
    for (const part of content) {
      if (part.type === 'text') texts.push(part.text)
      else if (part.type === 'tool-result') {
        for (const inner of part.content) if (inner.type === 'text') texts.push(inner.text)
      }
    }
  }
  return texts
}
