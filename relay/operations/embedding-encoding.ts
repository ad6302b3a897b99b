/**
 * Vectors in the form the caller wants. The official library asks for base64 by itself and reads numbers as bytes, so an
 * upstream that ignores the request would corrupt them silently.
 */
export function inWantedEncoding(answer: unknown, asked: Readonly<Record<string, unknown>>): unknown {
  const rows = typeof answer === 'object' && answer !== null && 'data' in answer ? answer.data : undefined
  if (!Array.isArray(rows)) return answer
  // Jina's callers say it in the word of that vendor.
  const asBase64 = (asked['encoding_format'] ?? asked['embedding_type']) === 'base64'
  const fits = rows.every((row: unknown) => (typeof vectorOf(row) === 'string') === asBase64)
  if (fits) return answer
  return {
    ...(answer as object),
    data: rows.map((row: unknown) => ({
      ...Object(row),
      embedding: asBase64 ? toBase64(vectorOf(row)) : toNumbers(vectorOf(row)),
    })),
  }
}

const vectorOf = (row: unknown): unknown =>
  typeof row === 'object' && row !== null && 'embedding' in row ? row.embedding : undefined

function toBase64(vector: unknown): unknown {
  if (!Array.isArray(vector)) return vector
  const bytes = Buffer.alloc(vector.length * 4)
  for (const [index, value] of vector.entries()) bytes.writeFloatLE(Number(value), index * 4)
  return bytes.toString('base64')
}

function toNumbers(vector: unknown): unknown {
  if (typeof vector !== 'string') return vector
  const bytes = Buffer.from(vector, 'base64')
  return Array.from({ length: Math.floor(bytes.length / 4) }, (_, index) => bytes.readFloatLE(index * 4))
}
