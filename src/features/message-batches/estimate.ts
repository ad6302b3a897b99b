import type { Ambient } from '#core/ambient.ts'
import { isCount, normaliseUsage, type ReportedUsage, type Usage } from '#core/usage.ts'
import { deliveredBy } from '#relay/chat/delivered.ts'
import { cheapTextTokens } from '#relay/counting/cheap-count.ts'
import type { CountTexts } from '#relay/counting/count-text.ts'
import { countDelivered } from '#relay/counting/estimate-usage.ts'
import { fromClaudeResponse } from '#relay/providers/anthropic/response.ts'
import type { Json } from './store.ts'

/** A request of a batch that was answered: by what it is charged. */
export type AnsweredRequest = {
  usage: ReportedUsage
  message: Json
  /** Of the request, as they were counted before it was sent. */
  promptTokens: number
}

/** By the count of the hold: batches are charged where no thread counts. */
const count: CountTexts = (texts) => Promise.resolve(texts.reduce((sum, text) => sum + cheapTextTokens(text), 0))

/** The upstream's figures where they can be believed; what is missing is counted over the request and the answer, as for a call by itself. */
export async function usageOfAnswer(
  { ambient }: { ambient: Ambient },
  { usage: reported, message, promptTokens }: AnsweredRequest,
): Promise<{ usage: Usage; isEstimated: boolean }> {
  const { usage, reported: hasTokens } = normaliseUsage(reported)
  const isPromptKnown = hasTokens && isCount(reported.promptTokens)
  const isAnswerKnown = hasTokens && isCount(reported.completionTokens)
  if (isPromptKnown && isAnswerKnown) return { usage, isEstimated: false }
  return {
    usage: {
      ...usage,
      ...(isPromptKnown ? {} : { promptTokens }),
      ...(isAnswerKnown ? {} : { completionTokens: await answerTokens(ambient, message) }),
    },
    isEstimated: true,
  }
}

async function answerTokens(ambient: Ambient, message: Json): Promise<number> {
  try {
    return await countDelivered(deliveredBy(fromClaudeResponse(message, { ambient })), '', count)
  } catch {
    // It is no answer that anybody could read.
    return 0
  }
}
