import type { ChatResponse } from '#relay/chat/events.ts'
import { unixSeconds } from '../answer-id.ts'
import { toOpenAiUsage } from '../openai-chat/usage.ts'
import { textOfChoice } from '../openai-completions/encode.ts'
import { legacyShared } from '../openai-completions/index.ts'
import type { EncodeContext, LegacyDialect } from '../types.ts'
import { parseOpenAiEdits } from './parse.ts'

/** Hub answer → edit; reasoning and tool calls have no place in it. */
const encode = (response: ChatResponse, { ambient }: EncodeContext): unknown => ({
  object: 'edit',
  created: unixSeconds(ambient),
  choices: response.choices.map((choice, index) => ({ text: textOfChoice(choice), index })),
  ...(response.usage === undefined ? {} : { usage: toOpenAiUsage(response.usage) }),
})

export const openAiEdits: LegacyDialect = {
  ...legacyShared,
  id: 'openai-edits',
  parse: parseOpenAiEdits,
  encode,
  modelPlace: null,
}
