import { isObject } from '#relay/chat/json.ts'
import { parseDataUrl } from '#relay/chat/media.ts'
import type { AudioPart, FilePart, ImagePart, MediaSource, TextPart, VendorPart } from '#relay/chat/request.ts'
import { type Reader, defined, readCacheControl } from '../read.ts'

export type ContentPart = TextPart | ImagePart | AudioPart | FilePart | VendorPart

export function mediaFromUrl(url: string): MediaSource {
  const inline = parseDataUrl(url)
  return inline === undefined ? { kind: 'url', url } : { kind: 'base64', ...inline }
}

/** Content of a message: text, or a list of parts. Empty texts say nothing and go. */
export function readContent(content: unknown, path: string, read: Reader): ContentPart[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  const parts = read.list(content, path) ?? []
  return parts.flatMap((part, index) => readPart(part, `${path}[${index}]`, read) ?? [])
}

function readPart(part: unknown, path: string, read: Reader): ContentPart | undefined {
  if (typeof part === 'string') return part === '' ? undefined : { type: 'text', text: part }
  if (!isObject(part)) throw read.invalid(path)
  const cacheControl = readCacheControl(part['cache_control'])
  switch (part['type'] ?? 'text') {
    case 'text':
    case 'input_text':
    case 'output_text': {
      const text = read.text(part['text'], `${path}.text`)
      if (text === undefined) throw read.required(`${path}.text`)
      return text === '' ? undefined : defined<TextPart>({ type: 'text', text, cacheControl })
    }
    case 'image_url':
      return defined({ ...readImage(part['image_url'], `${path}.image_url`, read), cacheControl })
    case 'input_audio':
      return readAudio(part['input_audio'], `${path}.input_audio`, read)
    case 'file':
      return defined({ ...readFile(part['file'], `${path}.file`, read), cacheControl })
    default:
      return { type: 'vendor', dialect: 'openai-chat', value: part }
  }
}

function readImage(value: unknown, path: string, read: Reader): ImagePart {
  const image = typeof value === 'string' ? { url: value } : (read.object(value, path) ?? {})
  const url = read.name('url' in image ? image.url : undefined, `${path}.url`)
  const given = 'detail' in image ? image.detail : undefined
  const detail = given === 'low' || given === 'high' || given === 'auto' ? given : undefined
  return defined({ type: 'image', source: mediaFromUrl(url), detail })
}

export function readAudio(value: unknown, path: string, read: Reader): AudioPart {
  const audio = read.object(value, path) ?? {}
  const data = read.name(audio['data'], `${path}.data`)
  const format = read.text(audio['format'], `${path}.format`) ?? 'wav'
  const inline = parseDataUrl(data)
  return {
    type: 'audio',
    source: { kind: 'base64', mediaType: inline?.mediaType ?? `audio/${format}`, data: inline?.data ?? data },
    format,
  }
}

function readFile(value: unknown, path: string, read: Reader): FilePart {
  const file = read.object(value, path) ?? {}
  const filename = read.text(file['filename'], `${path}.filename`)
  const id = read.text(file['file_id'], `${path}.file_id`)
  if (id !== undefined) return defined({ type: 'file', source: { kind: 'file-id', id }, filename })
  const data = read.name(file['file_data'], `${path}.file_data`)
  return defined({ type: 'file', source: fileSource(data), filename })
}

/** File data is a data address; bare base64 is taken for the one type that OpenAI reads. */
export function fileSource(data: string): MediaSource {
  const inline = parseDataUrl(data)
  return inline === undefined ? { kind: 'base64', mediaType: 'application/pdf', data } : { kind: 'base64', ...inline }
}
