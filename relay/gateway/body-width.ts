import { skipString } from '#relay/providers/wire/rewrite-body.ts'

const quote = 0x22
const colon = 0x3a
const isOpener = (byte: number): boolean => byte === 0x7b || byte === 0x5b
const isCloser = (byte: number): boolean => byte === 0x7d || byte === 0x5d

/** Bodies below this have no room for enough names to matter. */
const smallBytes = 256 * 1024
/** Far more than any request has in one object; a million take seconds to read. */
const mostNames = 10_000

/**
 * Whether an object of a JSON text has more names than any request needs. Long strings are skipped by a search, so that
 * looking costs little beside reading the text.
 */
export function isTooWide(bytes: Uint8Array): boolean {
  if (bytes.length < smallBytes) return false
  const names: number[] = []
  let at = 0
  while (at < bytes.length) {
    const byte = bytes[at] as number
    if (byte === quote) {
      at = skipString(bytes, at)
      continue
    }
    if (isOpener(byte)) names.push(0)
    else if (isCloser(byte)) names.pop()
    else if (byte === colon && names.length > 0) {
      const count = (names.pop() ?? 0) + 1
      if (count > mostNames) return true
      names.push(count)
    }
    at += 1
  }
  return false
}
