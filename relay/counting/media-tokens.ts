import type { AudioPart, ChatRequest, FilePart, ImagePart, MediaSource, Message } from '#relay/chat/request.ts'

/** The flat counts that the cheap count has for these already. */
const flatAudio = 100
const flatFile = 5000
/** Of what is looked at to be embedded: an image, some pages, some seconds. */
const flatEmbedded = 1000
/** Compressed audio of low quality is the most expensive by its bytes; waves are forty times as long. */
const bytesPerAudioToken = { wave: 1000, compressed: 250 }
const bytesPerFileToken = 200
const bytesPerTextToken = 4
const largestContext = 1_000_000

const bytesOf = (source: MediaSource): number => (source.kind === 'base64' ? source.data.length * 0.75 : 0)

/** What a piece of audio may cost, by its size. */
function audioTokens({ source, format }: AudioPart): number {
  const kind = format === 'wav' || format === 'pcm16' ? 'wave' : 'compressed'
  return Math.max(flatAudio, Math.ceil(bytesOf(source) / bytesPerAudioToken[kind]))
}

/** About what media come to that are embedded, and the part of that which is audio. */
export function embeddedTokens(parts: readonly (ImagePart | AudioPart | FilePart)[]): {
  tokens: number
  audio: number
} {
  const audio = parts.reduce((sum, part) => sum + (part.type === 'audio' ? audioTokens(part) : 0), 0)
  const others = parts.filter(({ type }) => type !== 'audio').length
  return { tokens: audio + others * flatEmbedded, audio }
}

/** What audio and files may cost beyond the flat count, by their size. */
export function mediaTokens(request: ChatRequest): { audio: number; beyond: number } {
  let audio = 0
  let beyond = 0
  const weigh = (part: Message['content'][number]): void => {
    if (part.type === 'tool-result') part.content.forEach(weigh)
    else if (part.type === 'audio') {
      const tokens = audioTokens(part)
      audio += tokens
      beyond += tokens - flatAudio
    } else if (part.type === 'file') {
      const isText = part.source.mediaType?.startsWith('text/') === true
      const tokens = bytesOf(part.source) / (isText ? bytesPerTextToken : bytesPerFileToken)
      beyond += Math.max(0, Math.min(Math.ceil(tokens), largestContext) - flatFile)
    }
  }
  for (const { content } of request.messages) for (const part of content) weigh(part)
  return { audio, beyond }
}
