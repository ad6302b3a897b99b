import type { AttemptContext } from '#relay/attempt/attempt-context.ts'
import { withValueAt } from '#relay/chat/text-at.ts'

/**
 * Puts the caller's own instructions where an answer as received repeats those that the channel made of them (`hidesInstructions`);
 * undefined where answers of the dialect repeat none.
 */
export function instructionsSetter({
  call,
}: AttemptContext): ((json: string, form: 'unstreamed' | 'event') => string) | undefined {
  const place = call.dialect.instructionsPlace
  if (!place) return undefined
  const own = (call.earlier?.asked ?? call.body.json)['instructions'] ?? null
  return (json, form) => withValueAt(json, place[form], own)
}
