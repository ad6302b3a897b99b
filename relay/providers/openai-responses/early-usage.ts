import type { ReportedUsage } from '#core/usage.ts'
import { isEmptyValue } from '#relay/chat/json.ts'
import { containersIn } from '../shared/held-objects.ts'
import { type Json, recordOf, recordsOf, textOf, wordOf } from '../shared/json.ts'
import { inputIn, usageOf } from './usage.ts'

/** Calls of tools that the vendor runs and charges for; those of a shell are where they ran in a container. */
const hostedCall = /^(image_generation|web_search|file_search|code_interpreter)_call$/

/**
 * What a stream has cost so far: the input, where its first event counts that already, and what tools have done. A caller who leaves
 * before the end has it.
 */
export function createEarlyUsage() {
  const ran: Json[] = []
  let begun: Json = {}
  return {
    /** Whether the event says more of it. */
    note: (event: Json): boolean => {
      if (event['type'] === 'response.created') {
        begun = recordOf(event['response']) ?? {}
        return inputIn(begun) !== undefined
      }
      const item = event['type'] === 'response.output_item.done' ? recordOf(event['item']) : undefined
      if (!item || !(hostedCall.test(textOf(item['type']) ?? '') || containersIn([item]).length > 0)) return false
      // Only that there is an image matters, which is large.
      ran.push(wordOf(item['result']) === undefined ? item : { ...item, result: 'drawn' })
      return true
    },
    /** The response at its end, with what tools have done: gateways before ChatGPT repeat none of its items there. */
    ended: (response: Json): Json => {
      if (ran.length === 0 || recordsOf(response['output']).length > 0) return response
      return { ...response, output: ran, tools: isEmptyValue(response['tools']) ? begun['tools'] : response['tools'] }
    },
    usage: (): ReportedUsage | undefined => {
      const usage = inputIn(begun)
      return usage || ran.length > 0 ? usageOf({ usage: usage ?? {}, output: ran, tools: begun['tools'] }) : undefined
    },
  }
}
