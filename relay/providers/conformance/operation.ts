import { providerFor } from '../registry.ts'
import type { PlainOperation } from '../types.ts'
import { callWith } from './fixtures.ts'

type Json = Record<string, unknown>
type Input = { type: number; baseUrl?: string; model?: string; key?: string; other?: string; token?: string }

/** An operation of a type, with what a caller asks of it. */
export function operation(name: PlainOperation, { type, model = 'some-model', token, ...channel }: Input, json: Json) {
  const translation = providerFor(type).plain?.[name]
  if (!translation) throw new Error(`type ${type} has no ${name}`)
  const call = callWith({
    model,
    ...(token === undefined ? {} : { token }),
    channel: { type, baseUrl: 'https://host.test', key: 'k', ...channel },
  })
  const asked = { json: { model: 'asked-for', ...json }, form: null }
  return {
    translation,
    sent: () => translation.request(asked, call),
    read: (answer: unknown) => translation.response?.(answer, asked),
    usage: (answer: unknown) => translation.usage(answer),
    next: (answer: unknown) => translation.next?.(answer, call),
    audio: (answer: unknown) => translation.audio?.(answer, asked),
    made: (bytes: Uint8Array) => translation.fromBytes?.(bytes, asked),
  }
}
