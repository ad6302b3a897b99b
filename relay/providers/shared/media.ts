import { parseDataUrl, toDataUrl } from '#relay/chat/media.ts'
import type { MediaSource } from '#relay/chat/request.ts'

/** Many programs and file servers write `image/jpg`, which Google and Anthropic refuse. */
const standardType = (mediaType: string): string => (mediaType.toLowerCase() === 'image/jpg' ? 'image/jpeg' : mediaType)

/** A source with `data:` addresses turned into bytes, so that writers see real addresses only. */
export function resolveSource(source: MediaSource): MediaSource {
  const inline = source.kind === 'url' ? parseDataUrl(source.url) : undefined
  const resolved: MediaSource = inline ? { kind: 'base64', ...inline } : source
  const mediaType = resolved.mediaType === undefined ? undefined : standardType(resolved.mediaType)
  return mediaType === undefined || mediaType === resolved.mediaType ? resolved : { ...resolved, mediaType }
}

/** The address a source is reached by: its own, or its bytes as a `data:` address. */
export const asUrl = (source: MediaSource): string | undefined => {
  if (source.kind === 'base64') return toDataUrl(source.mediaType, source.data)
  return source.kind === 'url' ? source.url : undefined
}

/** What a file without a name is called: vendors tell by the ending what it is. */
export const documentName = (mediaType: string): string =>
  `document.${/^[a-z]+\/([a-z0-9]+)$/.exec(mediaType)?.[1] ?? 'pdf'}`

export const decodeText = (base64: string): string => Buffer.from(base64, 'base64').toString('utf8')

export const isTextType = (mediaType: string): boolean =>
  mediaType.startsWith('text/') || mediaType === 'application/json'
