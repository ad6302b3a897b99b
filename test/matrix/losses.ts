/** What answers said to have left out, by the caller's key. */
export type LossWatch = { forget: (key: string) => void; of: (key: string) => string[]; [Symbol.dispose]: () => void }

const keyHeaders = ['authorization', 'x-api-key', 'x-goog-api-key']

function keyOf(headers: Headers): string {
  const given = keyHeaders.map((name) => headers.get(name) ?? '').find((text) => text !== '') ?? ''
  return given.replace(/^Bearer /, '').replace(/^sk-/, '')
}

/** Reads a header that no library shows, as all of them call through the one `fetch` of the process. */
export function watchLosses(): LossWatch {
  const given = globalThis.fetch
  const seen = new Map<string, string[]>()
  globalThis.fetch = async (input, init) => {
    const response = await given(input, init)
    const key = keyOf(new Headers(init?.headers ?? (input instanceof Request ? input.headers : undefined)))
    const names = response.headers.get('x-translation-loss')?.split(',') ?? []
    seen.set(key, [...(seen.get(key) ?? []), ...names])
    return response
  }
  return {
    forget: (key) => seen.delete(key),
    of: (key) => seen.get(key) ?? [],
    [Symbol.dispose]: () => {
      globalThis.fetch = given
    },
  }
}
