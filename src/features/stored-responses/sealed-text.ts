import { promisify } from 'node:util'
import { deflateRaw, inflateRaw } from 'node:zlib'
import type { Secrets } from '#features/secrets/service.ts'

const deflate = promisify(deflateRaw)
const inflate = promisify(inflateRaw)

/** A text that takes more is not kept and not taken up again. */
export const largestText = 16 * 1024 * 1024

/** Compressed and encrypted. */
export const sealText = async (secrets: Secrets, text: string): Promise<string> =>
  secrets.encrypt((await deflate(text, { level: 1 })).toString('base64'))

/** The text with its size; nothing where it is larger than any that is kept now. */
export async function unsealText(
  secrets: Secrets,
  sealed: string,
): Promise<{ text: string; bytes: number } | undefined> {
  const packed = Buffer.from(secrets.decrypt(sealed), 'base64')
  try {
    const text = await inflate(packed, { maxOutputLength: largestText })
    return { text: text.toString('utf8'), bytes: text.length }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') return undefined
    throw error
  }
}
