import { type ReportedUsage, normaliseUsage, totalTokens } from '#core/usage.ts'

type Detail = { modality: string; tokenCount: number }

const details = (total: number, audio: number, images: number): Detail[] | undefined => {
  if (audio === 0 && images === 0) return undefined
  const all = [
    { modality: 'TEXT', tokenCount: total - audio - images },
    { modality: 'AUDIO', tokenCount: audio },
    { modality: 'IMAGE', tokenCount: images },
  ]
  return all.filter(({ tokenCount }) => tokenCount > 0)
}

/** Usage as `generateContent` reports it: reasoning stands beside the candidates' tokens, cached ones within the prompt's. */
export function toGeminiUsage(reported: ReportedUsage) {
  const { usage } = normaliseUsage(reported)
  const candidates = usage.completionTokens - usage.reasoningTokens
  const prompt = details(usage.promptTokens, usage.audioInputTokens, usage.imageInputTokens)
  const answer = details(candidates, usage.audioOutputTokens, usage.imageOutputTokens)
  return {
    promptTokenCount: usage.promptTokens,
    candidatesTokenCount: candidates,
    totalTokenCount: totalTokens(usage),
    ...(usage.reasoningTokens > 0 ? { thoughtsTokenCount: usage.reasoningTokens } : {}),
    ...(usage.cachedTokens > 0 ? { cachedContentTokenCount: usage.cachedTokens } : {}),
    ...(prompt === undefined ? {} : { promptTokensDetails: prompt }),
    ...(answer === undefined ? {} : { candidatesTokensDetails: answer }),
  }
}
