import { type Json, recordOf, textOf } from '../shared/json.ts'

/** The original's voices, which clients name whoever is to speak: https://platform.openai.com/docs/guides/text-to-speech */
const names = [
  'alloy',
  'ash',
  'ballad',
  'cedar',
  'coral',
  'echo',
  'fable',
  'marin',
  'nova',
  'onyx',
  'sage',
  'shimmer',
  'verse',
] as const

export type VoiceName = (typeof names)[number]

export const isVoiceName = (voice: string): voice is VoiceName => names.some((name) => name === voice)

export const voiceAsked = (json: Json): string | undefined =>
  textOf(json['voice']) ?? textOf(recordOf(json['voice'])?.['id'])
