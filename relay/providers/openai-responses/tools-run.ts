import type { ReportedUsage } from '#core/usage.ts'
import { containersIn } from '../shared/held-objects.ts'
import { type Json, recordOf, textOf, wordOf } from '../shared/json.ts'
import { usageOf } from './usage.ts'

/** Calls of tools that the vendor runs and charges for; those of a shell are where they ran in a container. */
const hostedCall = /^(image_generation|web_search|file_search|code_interpreter)_call$/

/** What such tools have done in a stream so far: a caller who leaves before its end has it. */
export function createToolsRun() {
  const ran: Json[] = []
  let tools: unknown
  return {
    /** Whether it is the end of such a call. */
    note: (event: Json): boolean => {
      if (event['type'] === 'response.created') tools = recordOf(event['response'])?.['tools']
      const item = event['type'] === 'response.output_item.done' ? recordOf(event['item']) : undefined
      if (!item || !(hostedCall.test(textOf(item['type']) ?? '') || containersIn([item]).length > 0)) return false
      // Only that there is an image matters, which is large.
      ran.push(wordOf(item['result']) === undefined ? item : { ...item, result: 'drawn' })
      return true
    },
    usage: (): ReportedUsage | undefined => (ran.length > 0 ? usageOf({ usage: {}, output: ran, tools }) : undefined),
  }
}
