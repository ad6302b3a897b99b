import type { CallCore } from '#relay/request/call.ts'

/** Every name and every text of a JSON value as it reads, however it was escaped. */
function textsIn(json: unknown): string[] {
  const texts: string[] = []
  const left = [json]
  while (left.length > 0) {
    const value = left.pop()
    if (typeof value === 'string') texts.push(value)
    if (typeof value !== 'object' || value === null) continue
    for (const [name, inner] of Object.entries(value)) {
      if (!Array.isArray(value)) texts.push(name)
      left.push(inner)
    }
  }
  return texts
}

/** Whatever of a call its caller wrote and an upstream may quote. Takes a few times the memory of the body. */
export function callerWords({ req, model, body }: CallCore): string {
  const query = new URLSearchParams(req.url.split('?', 2)[1] ?? '')
  return [
    body.bytes.toString('utf8'),
    ...textsIn(body.json),
    ...(body.fileWords ?? []),
    model,
    ...Object.values(req.headers).flat(),
    ...[...query].flat(),
  ].join('\n')
}
