const rowsOf = (answer: unknown): Record<string, unknown>[] => {
  const rows = (Object(answer) as { data?: unknown }).data
  return Array.isArray(rows) ? rows.map((row) => Object(row) as Record<string, unknown>) : []
}

const lacksBytes = (row: Record<string, unknown>): boolean =>
  typeof row['url'] === 'string' && row['b64_json'] === undefined

/** How many images an answer in OpenAI's form holds. */
export const imagesIn = (answer: unknown): number =>
  rowsOf(answer).filter((row) => typeof row['url'] === 'string' || typeof row['b64_json'] === 'string').length

/** Images given by address, for callers who want their bytes. */
export async function withImages(answer: unknown, fetch: (url: string) => Promise<string>): Promise<unknown> {
  const rows = rowsOf(answer)
  if (!rows.some(lacksBytes)) return answer
  const data: unknown[] = []
  for (const row of rows) {
    const { url, ...rest } = row
    data.push(lacksBytes(row) ? { ...rest, b64_json: await fetch(String(url)) } : row)
  }
  return { ...Object(answer), data }
}
