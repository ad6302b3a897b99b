/** `data:<type>;base64,<data>` → its parts. Plain (percent-encoded) data addresses are turned into base64. */
export function parseDataUrl(url: string): { mediaType: string; data: string } | undefined {
  if (url.slice(0, 5).toLowerCase() !== 'data:') return undefined
  const comma = url.indexOf(',')
  if (comma < 0) return undefined
  const [mediaType = '', ...parameters] = url.slice(5, comma).split(';')
  const payload = url.slice(comma + 1)
  const isBase64 = parameters.some((parameter) => parameter.trim().toLowerCase() === 'base64')
  const type = mediaType.trim().toLowerCase() || 'text/plain'
  if (isBase64) return { mediaType: type, data: payload }
  try {
    return { mediaType: type, data: Buffer.from(decodeURIComponent(payload)).toString('base64') }
  } catch {
    return undefined
  }
}

export const toDataUrl = (mediaType: string, data: string): string => `data:${mediaType};base64,${data}`

/** Text dialects show an image the way every chat client renders it. */
export const toMarkdownImage = (mediaType: string, data: string): string => `![image](${toDataUrl(mediaType, data)})`

const audioTypes: Readonly<Record<string, string>> = {
  wav: 'audio/wav',
  mp3: 'audio/mp3',
  ogg: 'audio/ogg',
  opus: 'audio/ogg',
  flac: 'audio/flac',
  pcm16: 'audio/pcm',
  pcm: 'audio/pcm',
  aac: 'audio/aac',
}

const audioFormats: Readonly<Record<string, string>> = {
  'audio/wav': 'wav',
  'audio/x-wav': 'wav',
  'audio/wave': 'wav',
  'audio/mp3': 'mp3',
  'audio/mpeg': 'mp3',
  'audio/ogg': 'ogg',
  'audio/flac': 'flac',
  'audio/x-flac': 'flac',
  'audio/pcm': 'pcm16',
  'audio/l16': 'pcm16',
  'audio/aac': 'aac',
}

const own = (table: Readonly<Record<string, string>>, key: string): string | undefined =>
  Object.hasOwn(table, key) ? table[key] : undefined

/** An audio format name (`wav`, `mp3` …) → its media type. */
export const audioMediaType = (format: string): string => own(audioTypes, format) ?? `audio/${format}`

/** Samples a second of audio without a head, as its media type says it. */
export function sampleRate(mediaType: string): number | undefined {
  const rate = Number(/;\s*rate=(\d{1,9})\b/i.exec(mediaType)?.[1])
  return rate > 0 ? rate : undefined
}

/** The reverse; parameters of the media type (`;rate=24000`) do not count. */
export function audioFormat(mediaType: string): string {
  const [plain = ''] = mediaType.toLowerCase().split(';')
  return own(audioFormats, plain.trim()) ?? plain.trim().replace(/^audio\//, '')
}
