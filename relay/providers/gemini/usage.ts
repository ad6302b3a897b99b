import type { ReportedUsage } from '#core/usage.ts'
import { countOf, type Json, recordsOf, sumOf } from '../shared/json.ts'

/** What an image costs where the upstream counts no output at all. */
const tokensPerImage = 258

function modality(details: unknown, name: string): number | undefined {
  const entry = recordsOf(details).find((detail) => detail['modality'] === name)
  return entry ? countOf(entry['tokenCount']) : undefined
}

/** What was embedded. The vendor and its cloud spell the parts differently. */
export function readEmbedUsage(usage: Json): ReportedUsage | undefined {
  const promptTokens = countOf(usage['promptTokenCount'])
  if (promptTokens === undefined) return undefined
  const details = usage['promptTokenDetails'] ?? usage['promptTokensDetails']
  return {
    promptTokens,
    audioInputTokens: modality(details, 'AUDIO'),
    imageInputTokens: modality(details, 'IMAGE'),
  }
}

/**
 * Reasoning is counted beside the answer, tool prompts beside the prompt; what was cached is part of the prompt. `images`: how many
 * were drawn, by calls whose answers are not counted here.
 */
export function readUsage(usage: Json, images = 0): ReportedUsage {
  const reasoningTokens = countOf(usage['thoughtsTokenCount'])
  const written = sumOf(countOf(usage['candidatesTokenCount']), reasoningTokens)
  const drawn = images > 0 && !written ? images * tokensPerImage : undefined
  return {
    promptTokens: sumOf(countOf(usage['promptTokenCount']), countOf(usage['toolUsePromptTokenCount'])),
    cachedTokens: countOf(usage['cachedContentTokenCount']),
    audioInputTokens: modality(usage['promptTokensDetails'], 'AUDIO'),
    imageInputTokens: modality(usage['promptTokensDetails'], 'IMAGE'),
    completionTokens: drawn ?? written,
    reasoningTokens,
    audioOutputTokens: modality(usage['candidatesTokensDetails'], 'AUDIO'),
    imageOutputTokens: drawn ?? modality(usage['candidatesTokensDetails'], 'IMAGE'),
  }
}
