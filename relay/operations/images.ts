import { wordOf } from '#relay/providers/shared/json.ts'
import type { Asked } from './types.ts'

const rowsOf = (answer: unknown): Record<string, unknown>[] => {
  const rows = (Object(answer) as { data?: unknown }).data
  return Array.isArray(rows) ? rows.map((row) => Object(row) as Record<string, unknown>) : []
}

const lacksBytes = (row: Record<string, unknown>): boolean =>
  wordOf(row['url']) !== undefined && row['b64_json'] === undefined

/** Names under which vendors hand out an image, as bytes or by its address. */
export const imageNames = /^(b64_\w+|bytesBase64Encoded|image\w*|output|url)$/i

/** Whether an entry of an answer brings an image, in the words of any vendor. */
export const holdsImage = (row: Record<string, unknown>): boolean =>
  Object.entries(row).some(([name, value]) => imageNames.test(name) && wordOf(value) !== undefined)

/** How many images an answer in OpenAI's form holds. */
export const imagesIn = (answer: unknown): number => rowsOf(answer).filter(holdsImage).length

/** An image of the answer is given by its address alone. */
export const lacksImages = (answer: unknown): boolean => rowsOf(answer).some(lacksBytes)

export const drawsImages = ({ operation }: Asked): boolean => operation === 'images' || operation === 'image-edits'

/** Google's form has no place for an address, and neither has OpenAI's for an event of a stream, but for those who want addresses. */
export const wantsBytes = ({ json, stream, foreign }: Asked): boolean =>
  foreign !== undefined || json['response_format'] === 'b64_json' || (stream && json['response_format'] !== 'url')

/** Images given by address, for callers who want their bytes; one that cannot be fetched stays as it is. */
export async function withImages(answer: unknown, fetch: (url: string) => Promise<string | null>): Promise<unknown> {
  const rows = rowsOf(answer)
  if (!lacksImages(answer)) return answer
  const data: unknown[] = []
  for (const row of rows) {
    const { url, ...rest } = row
    const bytes = lacksBytes(row) ? await fetch(String(url)) : null
    data.push(bytes === null ? row : { ...rest, b64_json: bytes })
  }
  return { ...Object(answer), data }
}
