import { startsWith } from './starts-with.ts'

const backBytes = 128

/** How many bytes a tag of titles and images takes that begins here, of those before a file or behind it; none where there is none. */
export function tagBytes(bytes: Uint8Array, at: number): number {
  if (startsWith(bytes, 'TAG', at)) return backBytes
  if (!startsWith(bytes, 'ID3', at)) return 0
  const [a = 0, b = 0, c = 0, d = 0] = bytes.subarray(at + 6, at + 10)
  const hasFooter = ((bytes[at + 5] ?? 0) & 0x10) !== 0
  return 10 + ((a & 0x7f) << 21) + ((b & 0x7f) << 14) + ((c & 0x7f) << 7) + (d & 0x7f) + (hasFooter ? 10 : 0)
}
