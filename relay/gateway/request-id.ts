import { randomBytes } from 'node:crypto'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

const digits = (value: number, width: number): string => String(value).padStart(width, '0')

/** `yyyyMMddHHmmss`, nanoseconds, eight random characters: sortable by time and unique across processes. */
export function createRequestId(now: Date): string {
  const day = `${now.getUTCFullYear()}${digits(now.getUTCMonth() + 1, 2)}${digits(now.getUTCDate(), 2)}`
  const time = `${digits(now.getUTCHours(), 2)}${digits(now.getUTCMinutes(), 2)}${digits(now.getUTCSeconds(), 2)}`
  const nanoseconds = digits(Number(process.hrtime.bigint() % 1_000_000_000n), 9)
  let random = ''
  for (const byte of randomBytes(8)) random += alphabet[byte % alphabet.length]
  return day + time + nanoseconds + random
}
