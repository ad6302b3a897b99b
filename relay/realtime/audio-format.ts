import { type Json, recordOf, wordOf } from '#relay/providers/shared/json.ts'

/** Seconds of audio by their bytes. */
export type AudioFormat = { bytesPerSecond: number }

/** 24,000 samples a second of two bytes. */
export const pcm16: AudioFormat = { bytesPerSecond: 48_000 }
/** Callers choose the rate, and not every upstream refuses what cannot be: such audio would take no time, and cost nothing. */
const highestRate = 48_000
/** Nor would audio of a rate that no upstream has be as long as it says. */
const lowestRate = 8000
/** Telephone audio: 8,000 samples of one byte. */
const telephone: AudioFormat = { bytesPerSecond: 8000 }

/** A format by its older name (`pcm16`, `g711_ulaw`) or its newer object (`{ type: 'audio/pcm', rate }`). */
function formatOf(value: unknown): AudioFormat | undefined {
  const newer = recordOf(value)
  if (newer) {
    const rate = newer['rate']
    if (newer['type'] !== 'audio/pcm') return telephone
    return typeof rate === 'number' && rate > 0
      ? { bytesPerSecond: Math.min(Math.max(rate, lowestRate), highestRate) * 2 }
      : pcm16
  }
  const name = wordOf(value)
  if (name === undefined) return undefined
  return name === 'pcm16' ? pcm16 : telephone
}

/** What a session says of its audio; a side it does not name is left out. */
export function audioFormatsOf(session: Json): { input?: AudioFormat; output?: AudioFormat } {
  const audio = recordOf(session['audio']) ?? {}
  const input = formatOf(session['input_audio_format'] ?? recordOf(audio['input'])?.['format'])
  const output = formatOf(session['output_audio_format'] ?? recordOf(audio['output'])?.['format'])
  return { ...(input ? { input } : {}), ...(output ? { output } : {}) }
}

/** Seconds of audio in base64 text. */
export function secondsOf(base64: string, { bytesPerSecond }: AudioFormat): number {
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0
  return Math.max(0, Math.floor((base64.length * 3) / 4) - padding) / bytesPerSecond
}

/** Whole tokens for so many seconds of input, and of output. */
export const inputAudioTokens = (seconds: number): number => Math.floor(((seconds / 60) * 100) / 0.06)
export const outputAudioTokens = (seconds: number): number => Math.floor(((seconds / 60) * 200) / 0.24)
