import { emptyUsage } from '../usage.ts'
import type { ReportedUsage, Usage } from '../usage.ts'

const secondsWhenUnreadable = 60
const tokensPerMinute = 1000
const longestSeconds = 1e7

/** What the sound of a text comes to for each of its tokens, which are spoken in a quarter of a second: some twenty tokens a second. */
const audioPerToken = 6

/** `tts` models are paid by the character, whatever is reported of them. */
export const isPaidByCharacter = (model: string): boolean => model.startsWith('tts')

/** Whisper is sold by the length of what it receives, under whichever name, and `gpt-realtime-whisper` is no model that answers. */
export const isPaidByLength = (model: string): boolean => model.includes('whisper')

/** All that a speech model writes is sound, whether or not it says so. */
export const reportedSpeech = (reported: ReportedUsage): ReportedUsage => ({
  ...reported,
  audioOutputTokens: reported.audioOutputTokens ?? reported.completionTokens,
})

/** About what a model that reports its sound will report of it. */
export const expectedSpeech = (textTokens: number): Pick<Usage, 'completionTokens' | 'audioOutputTokens'> => {
  const audio = textTokens * audioPerToken
  return { completionTokens: audio, audioOutputTokens: audio }
}

/** Speech made from text: `tts` models are paid by the character (Unicode code point), others by the counted tokens. */
export function speechUsage(call: { model: string; input: string; countedTokens: number }): {
  usage: Usage
  promptUnit: 'token' | 'character'
} {
  const byCharacter = isPaidByCharacter(call.model)
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
