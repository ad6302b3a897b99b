import type { ChatRequest, MediaSource } from '#relay/chat/request.ts'

/** The flat counts that the cheap count has for these already. */
const flatAudio = 100
const flatFile = 5000
/** Compressed audio of low quality is the most expensive by its bytes; waves are forty times as long. */
const bytesPerAudioToken = { wave: 1000, compressed: 250 }
const bytesPerFileToken = 200
const bytesPerTextToken = 4
const largestContext = 1_000_000

const bytesOf = (source: MediaSource): number => (source.kind === 'base64' ? source.data.length * 0.75 : 0)

/** What audio and files may cost beyond the flat count, by their size. */
export function mediaTokens(request: ChatRequest): { audio: number; beyond: number } {
  let audio = 0
  let beyond = 0
  for (const { content } of request.messages) {
    for (const part of content) {
      if (part.type === 'audio') {
        const kind = part.format === 'wav' || part.format === 'pcm16' ? 'wave' : 'compressed'
        const tokens = Math.max(flatAudio, Math.ceil(bytesOf(part.source) / bytesPerAudioToken[kind]))
        audio += tokens
        beyond += tokens - flatAudio
      } else if (part.type === 'file') {
        const isText = part.source.mediaType?.startsWith('text/') === true
        const tokens = bytesOf(part.source) / (isText ? bytesPerTextToken : bytesPerFileToken)
        beyond += Math.max(0, Math.min(Math.ceil(tokens), largestContext) - flatFile)
      }
    }
  }
  return { audio, beyond }
}
