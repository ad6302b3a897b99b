import { createHash } from 'node:crypto'
import type { Json } from './prompt.ts'

/** The text fields of a form by name; a file stands as its name, type, length and fingerprint. */
export function readForm(bytes: Buffer, contentType: string): Json | undefined {
  if (contentType.startsWith('application/x-www-form-urlencoded'))
    return Object.fromEntries(new URLSearchParams(bytes.toString()))
  const boundary = /boundary="?([^";]+)"?/.exec(contentType)?.[1]
  if (!contentType.startsWith('multipart/form-data') || boundary === undefined) return undefined
  const form: Json = {}
  for (const part of bytes.toString('latin1').split(`--${boundary}`)) {
    const split = part.indexOf('\r\n\r\n')
    const name = /name="([^"]*)"/.exec(part)?.[1]
    if (split < 0 || name === undefined) continue
    const content = Buffer.from(part.slice(split + 4, -2), 'latin1')
    const filename = /filename="([^"]*)"/.exec(part)?.[1]
    form[name] =
      filename === undefined
        ? content.toString('utf8')
        : {
            filename,
            type: /content-type: *([^\r]+)/i.exec(part)?.[1] ?? '',
            bytes: content.length,
            fingerprint: createHash('sha256').update(content).digest('hex').slice(0, 16),
            sha256: createHash('sha256').update(content).digest('hex').slice(0, 12),
          }
  }
  return form
}
