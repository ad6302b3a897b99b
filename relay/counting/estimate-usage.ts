import { emptyUsage } from '#core/usage.ts'
import type { Usage } from '#core/usage.ts'
import type { ChatResponse } from '#relay/chat/events.ts'
import type { ChatRequest } from '#relay/chat/request.ts'
import type { CountTexts } from './count-text.ts'
import { imageTokens } from './image-tokens.ts'
import { promptPieces } from './prompt-pieces.ts'

const tokensPerToolCall = 7
const tokensPerImage = 258

/** What reached (or was on its way to) the caller: content, reasoning, tool names and arguments in one text. */
export type Delivered = {
  text: string
  toolCalls: number
  images?: number | undefined
  /** Characters that were delivered too, but not kept: they count like those that were. */
  unkept?: number | undefined
}

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
  return { ...emptyUsage, promptTokens, completionTokens }
}

/** The output tokens of what was delivered, 7 more for each tool call and 258 for each picture. */
export async function countDelivered(delivered: Delivered, model: string, count: CountTexts): Promise<number> {
  const { text, unkept = 0 } = delivered
  const kept = await count([text], model)
  const written = unkept === 0 ? kept : Math.round(kept * (1 + unkept / Math.max(text.length, 1)))
  return written + tokensPerToolCall * delivered.toolCalls + tokensPerImage * (delivered.images ?? 0)
}

/** Everything a whole answer delivers, for counting. */
export function deliveredBy(response: ChatResponse): Delivered {
  const parts = response.choices.flatMap((choice) => choice.parts)
  const texts = parts.map((part) => {
    if (part.type === 'tool-call') return `${part.name}${part.arguments}`
    if (part.type === 'audio') return part.transcript
    return part.type === 'image' ? '' : part.text
  })
  return {
    text: texts.join(''),
    toolCalls: parts.filter((part) => part.type === 'tool-call').length,
    images: parts.filter((part) => part.type === 'image').length,
  }
}

/** Every text the caller wrote or quoted, for screening: all roles, tool results included, no pictures. */
export function promptTexts(request: ChatRequest): string[] {
  return request.messages.flatMap((message) =>
    message.content.flatMap((part) => {
      if (part.type === 'text') return [part.text]
      if (part.type !== 'tool-result') return []
      return part.content.flatMap((inner) => (inner.type === 'text' ? [inner.text] : []))
    }),
  )
}
