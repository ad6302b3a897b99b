import { emptyUsage } from '../usage.ts'
import type { Usage } from '../usage.ts'

const secondsWhenUnreadable = 60
const tokensPerMinute = 1000
const longestSeconds = 1e7

/** Speech made from text: `tts` models are paid by the character (Unicode code point), others by the counted tokens. */
export function speechUsage(call: { model: string; input: string; countedTokens: number }): {
  usage: Usage
  promptUnit: 'token' | 'character'
} {
  const byCharacter = call.model.startsWith('tts')
  const promptTokens = byCharacter ? [...call.input].length : call.countedTokens
  return { usage: { ...emptyUsage, promptTokens }, promptUnit: byCharacter ? 'character' : 'token' }
}

/** Text made from speech: whole seconds, started ones counted, at 1000 tokens a minute. Unreadable counts as a minute. */
export function transcriptionUsage(seconds: number | undefined): Usage {
  const known = seconds !== undefined && Number.isFinite(seconds) && seconds >= 0
  const rounded = Math.min(known ? Math.ceil(seconds) : secondsWhenUnreadable, longestSeconds)
  return { ...emptyUsage, promptTokens: Math.round((rounded * tokensPerMinute) / 60) }
}

/** The same of a length that an upstream reports; nothing where that is none, or none that can be. */
export const reportedTranscription = (seconds: number | undefined): Usage | undefined =>
  seconds !== undefined && seconds > 0 && seconds <= longestSeconds ? transcriptionUsage(seconds) : undefined
