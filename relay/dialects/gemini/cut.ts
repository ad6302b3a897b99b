import { type Fields, isObject, parseObject } from '#relay/chat/json.ts'
import type { WireEvent } from '#relay/transport/framing.ts'
import type { CutContext, Cutter } from '../types.ts'
import { toGeminiUsage } from './usage.ts'

const candidatesOf = (data: string): Fields[] => {
  const candidates = parseObject(data)?.['candidates']
  return Array.isArray(candidates) ? candidates.filter(isObject) : []
}

/** Ends an answer with one more chunk, whose candidates have the reason `MAX_TOKENS`. */
export function cutGemini({ choiceCount, model }: CutContext): Cutter {
  const ended = new Set<unknown>()
  let last: WireEvent | undefined
  return {
    watch: (event) => {
      last = event
      if (choiceCount === 1) return
      for (const candidate of candidatesOf(event.data))
        if (candidate['finishReason']) ended.add(candidate['index'] ?? 0)
    },
    end: ({ usage }) => {
      const { candidates: _, usageMetadata: __, ...head } = parseObject(last?.data ?? '') ?? {}
      const open = Array.from({ length: choiceCount }, (_item, index) => index).filter((index) => !ended.has(index))
      const candidates = open.map((index) => ({
        index,
        content: { role: 'model', parts: [{ text: '' }] },
        finishReason: 'MAX_TOKENS',
      }))
      const chunk = { candidates, usageMetadata: toGeminiUsage(usage), modelVersion: model, ...head }
      return [{ data: JSON.stringify(chunk) }]
    },
  }
}
