import { MalformedUpstream } from '#relay/chat/events.ts'
import { parseObject } from '#relay/chat/json.ts'
import type { Json } from './json.ts'

/** The object a call's arguments hold; text that is none travels under `_raw`, so that the model sees what it wrote. */
export const argumentsObject = (text: string): Json => (text.trim() === '' ? {} : (parseObject(text) ?? { _raw: text }))

/**
 * The JSON text of arguments that an upstream sent as text or as an object.
 * @throws {MalformedUpstream} when the object is nested too deeply to be written.
 */
export function argumentsText(value: unknown): string {
  if (typeof value === 'string') return value
  if (value === undefined || value === null) return ''
  try {
    return JSON.stringify(value)
  } catch {
    throw new MalformedUpstream('the arguments of a call are nested too deeply')
  }
}
