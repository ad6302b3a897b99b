const isWord = (bytes: Uint8Array, at: number, [a, b, c]: readonly [number, number, number]): boolean =>
  bytes[at] === a && bytes[at + 1] === b && bytes[at + 2] === c
const front = [0x49, 0x44, 0x33] as const
const back = [0x54, 0x41, 0x47] as const
const backBytes = 128

/** How many bytes a tag of titles and images takes that begins here, of those before a file or behind it; none where there is none. */
export function tagBytes(bytes: Uint8Array, at: number): number {
  if (isWord(bytes, at, back)) return backBytes
  if (!isWord(bytes, at, front)) return 0
  const [a = 0, b = 0, c = 0, d = 0] = bytes.subarray(at + 6, at + 10)
  const hasFooter = ((bytes[at + 5] ?? 0) & 0x10) !== 0
  return 10 + ((a & 0x7f) << 21) + ((b & 0x7f) << 14) + ((c & 0x7f) << 7) + (d & 0x7f) + (hasFooter ? 10 : 0)
}
