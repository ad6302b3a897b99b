import { maskSecrets } from './mask-secrets.ts'
import type { ChannelSecrets } from './secret-parts.ts'

/** Takes the secrets of a channel out of an error, in place: of its message, its stack, its other texts and its causes. */
export function maskError(error: unknown, held: ChannelSecrets, seen: Set<unknown> = new Set()): void {
  if (!(error instanceof Error) || seen.has(error)) return
  seen.add(error)
  for (const name of Object.getOwnPropertyNames(error)) {
    const value: unknown = Reflect.get(error, name)
    if (typeof value === 'string') Reflect.set(error, name, maskSecrets(value, held))
    else if (Array.isArray(value)) for (const inner of value) maskError(inner, held, seen)
    else maskError(value, held, seen)
  }
}
