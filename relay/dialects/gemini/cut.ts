import { parseObject } from '#relay/chat/json.ts'
import type { WireEvent } from '#relay/transport/framing.ts'
import type { CutContext, Cutter } from '../types.ts'
import { toGeminiUsage } from './usage.ts'

/** Ends an answer with one more chunk, whose candidates have the reason `MAX_TOKENS`. */
export function cutGemini({ choiceCount, model }: CutContext): Cutter {
  let last: WireEvent | undefined
  return {
    watch: (event) => {
      last = event
    },
    end: ({ usage }) => {
      const { candidates: _, usageMetadata: __, ...head } = parseObject(last?.data ?? '') ?? {}
      const candidates = Array.from({ length: choiceCount }, (_item, index) => ({
        index,
        content: { role: 'model', parts: [{ text: '' }] },
        finishReason: 'MAX_TOKENS',
      }))
      const chunk = { candidates, usageMetadata: toGeminiUsage(usage), modelVersion: model, ...head }
      return [{ data: JSON.stringify(chunk) }]
    },
  }
}
