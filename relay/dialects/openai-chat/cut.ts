import { type Fields, isObject, parseObject } from '#relay/chat/json.ts'
import type { WireEvent } from '#relay/transport/framing.ts'
import type { CutContext, Cutter } from '../types.ts'
import { toOpenAiUsage } from './usage.ts'

const endMark = '[DONE]'

const choicesOf = (chunk: Fields | undefined): Fields[] => {
  const choices = chunk?.['choices']
  return Array.isArray(choices) ? choices.filter(isObject) : []
}

/** Ends chat completions and the older completions: each answer still being written gets the reason `length`. */
export function cutOpenAi({ includeUsage, choiceCount, model, ambient }: CutContext): Cutter {
  const ended = new Set<unknown>()
  let last: WireEvent | undefined
  let isMarked = false
  return {
    watch: (event, held) => {
      if (event.data.startsWith('{')) last = event
      if (held) isMarked ||= event.data.startsWith(endMark)
      // Of several answers one may have ended long before. One alone is cut only where its end was none.
      if (choiceCount === 1) return
      for (const choice of choicesOf(parseObject(event.data))) if (choice['finish_reason']) ended.add(choice['index'])
    },
    end: ({ usage }) => {
      const { usage: _, choices: __, ...head } = parseObject(last?.data ?? '') ?? {}
      const common = { id: '', object: 'chat.completion.chunk', created: 0, model, ...head }
      if (common.created === 0) common.created = Math.floor(ambient.now().getTime() / 1000)
      const isText = common.object === 'text_completion'
      const open = Array.from({ length: choiceCount }, (_item, index) => index).filter((index) => !ended.has(index))
      const choices = open.map((index) => ({
        index,
        ...(isText ? { text: '' } : { delta: {} }),
        logprobs: null,
        finish_reason: 'length',
      }))
      return [
        { data: JSON.stringify({ ...common, choices }) },
        ...(includeUsage ? [{ data: JSON.stringify({ ...common, choices: [], usage: toOpenAiUsage(usage) }) }] : []),
        { data: endMark },
      ]
    },
    mark: () => (isMarked ? undefined : { data: endMark }),
  }
}
