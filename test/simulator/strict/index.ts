import { has } from '../directives.ts'
import type { Call } from '../types.ts'
import { checkMessages } from './anthropic.ts'
import { checkGenerate } from './gemini.ts'
import { checkChat, checkResponses } from './openai.ts'

const checks = {
  chat: checkChat,
  responses: checkResponses,
  messages: checkMessages,
  generate: checkGenerate,
}

/** What the vendor refuses in a body beyond what anybody would; the directive `lenient` leaves it out. */
export function checkStrictly(
  kind: keyof typeof checks,
  { body, directives, isHosted, path }: Pick<Call, 'body' | 'directives' | 'isHosted' | 'path'>,
): void {
  // What stands in for a body that is not read is one for all dialects.
  if (has(directives, 'lenient') || has(directives, 'fixed')) return
  // Google's models stand in the path.
  const model = decodeURIComponent(/\/models\/([^/:]+)/.exec(path)?.[1] ?? '')
  checks[kind](body, { isHosted: isHosted === true, path, model })
}
