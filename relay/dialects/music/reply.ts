import { parseJson } from '#core/exact-json.ts'
import { z } from 'zod'

const reply = z.object({
  code: z.union([z.string(), z.number().transform(String)]),
  message: z.string().nullish().catch(''),
  data: z.unknown().optional(),
})

/** A platform's answer to a submission. */
export type MusicReply = { code: string; message: string; taskId: string }

/** Null when the text is no answer of such a platform. */
export function readMusicReply(text: string): MusicReply | null {
  let json: unknown
  try {
    json = parseJson(text)
  } catch {
    return null
  }
  const read = reply.safeParse(json)
  if (!read.success) return null
  const { code, message, data } = read.data
  const taskId = typeof data === 'string' || typeof data === 'number' ? String(data) : ''
  return { code, message: message ?? '', taskId }
}
