import { useRef } from 'react'

/** `crypto.randomUUID` is there on pages behind TLS only. */
const randomKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join('-')

/**
 * The key under which a purchase, a change of a balance or a message is sent. Repeated because its answer was lost, the same one has the same
 * key and is made once; another one, and the next after a success, has a new key.
 */
export function useRequestKey() {
  const last = useRef<{ input: string; key: string }>(undefined)
  return {
    contextFor: (input: unknown) => {
      const text = JSON.stringify(input)
      if (last.current?.input !== text) last.current = { input: text, key: randomKey() }
      return { context: { idempotencyKey: last.current.key } }
    },
    done: () => {
      last.current = undefined
    },
  }
}
