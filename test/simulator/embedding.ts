import { createHash } from 'node:crypto'

/** A unit vector that depends on the text alone. Its figures survive float32, so both encodings give the same vector. */
export function embed(text: string, dimensions: number): number[] {
  const digest = createHash('sha256').update(text).digest()
  const values = Array.from({ length: Math.min(4096, Math.max(0, Math.floor(dimensions))) }, (_, index) => {
    const byte = digest[index % digest.length] ?? 0
    return (byte - 127.5) * (1 + (index % 7))
  })
  const length = Math.hypot(...values)
  return values.map((value) => Math.fround(value / length))
}
