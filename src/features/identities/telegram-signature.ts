import { createHmac, hash, timingSafeEqual } from 'node:crypto'

/** Signed as one text, a line could be read as several fields, or several as one: what a person calls oneself as one's number. */
const isOneLine = ([name, value]: [string, string]): boolean => !/[=\r\n]/.test(name) && !/[\r\n]/.test(value)

/**
 * Whether Telegram signed the fields for the bot: an HMAC under the hash of its token, over every field but the signature
 * itself, in the order of their lines.
 */
export function isSignedByTelegram(botToken: string, fields: Record<string, string>): boolean {
  const { hash: given = '', ...signed } = fields
  if (!Object.entries(signed).every(isOneLine)) return false
  const lines = Object.entries(signed)
    .map(([name, value]) => `${name}=${value}`)
    .toSorted()
  const expected = createHmac('sha256', hash('sha256', botToken, 'buffer'))
    .update(lines.join('\n'))
    .digest()
  const received = /^[0-9a-f]{64}$/i.test(given) ? Buffer.from(given, 'hex') : Buffer.alloc(0)
  return received.length === expected.length && timingSafeEqual(received, expected)
}
