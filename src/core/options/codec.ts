import type { z } from 'zod'
import type { Problem } from '#core/errors.ts'
import { parseJson } from '#core/exact-json.ts'
import type { Option } from './define.ts'
import { type OptionKey, type OptionValues, optionOf } from './registry/index.ts'
import { problemOf } from './refusals.ts'

/** How the text of an option is written; its schema decides. */
export type TextKind = 'boolean' | 'number' | 'text' | 'list' | 'json'

export function textKindOf(option: Option<unknown>): TextKind {
  if (option.textForm === 'csv') return 'list'
  switch ((option.schema as z.core.$ZodType)._zod.def.type) {
    case 'boolean':
      return 'boolean'
    case 'number':
      return 'number'
    case 'string':
    case 'enum':
      return 'text'
    default:
      return 'json'
  }
}

export type Validated<Value> = { value: Value; problem?: undefined } | { value?: undefined; problem: Problem }

const decimal = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i

/** Text → what the schema is asked about. */
function parseText(option: Option<unknown>, text: string): { raw: unknown } | 'not_number' | 'not_json' {
  switch (textKindOf(option)) {
    case 'boolean':
      return { raw: text === 'true' }
    case 'number': {
      const trimmed = text.trim()
      if (trimmed === '' && option.blank !== undefined) return { raw: option.blank }
      return decimal.test(trimmed) ? { raw: Number(trimmed) } : 'not_number'
    }
    case 'text':
      return { raw: text }
    case 'list':
      return { raw: itemsOf(text) }
    case 'json':
      try {
        return { raw: parseJson(text) }
      } catch {
        return 'not_json'
      }
  }
}

const itemsOf = (text: string): string[] =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')

/** Validates a value that comes as itself: from a form, or parsed from text. */
export function validateValue<Key extends OptionKey>(key: Key, value: unknown): Validated<OptionValues[Key]> {
  const option = optionOf(key)
  const result = option.schema.safeParse(value)
  if (!result.success) return { problem: problemOf(key, option, result.error) }
  const problem = option.check?.(result.data)
  return problem ? { problem } : { value: result.data as OptionValues[Key] }
}

/** Validates text as it comes in a change of one option. */
export function decodeText<Key extends OptionKey>(key: Key, text: string): Validated<OptionValues[Key]> {
  const option = optionOf(key)
  const parsed = parseText(option, text)
  if (typeof parsed === 'object') return validateValue(key, parsed.raw)
  const label = option.label
  const code = option.refusal ?? (parsed === 'not_number' ? 'option.not_number' : 'option.not_json')
  return { problem: { code, params: { key, label } } }
}

/** Value → the text that is stored and that REST shows. */
export function encodeValue<Key extends OptionKey>(key: Key, value: OptionValues[Key]): string {
  const option = optionOf(key)
  const plain: unknown = value
  switch (textKindOf(option)) {
    case 'list':
      return Array.isArray(plain) ? plain.join(',') : ''
    case 'json':
      return JSON.stringify(plain)
    case 'number':
      return plain === option.blank ? '' : String(plain)
    default:
      return String(plain)
  }
}
