import type { z } from 'zod'
import type { Problem } from '#core/errors.ts'
import type { Option } from './define.ts'

const shapeProblem = (issue: z.core.$ZodIssue): string =>
  issue.path.length === 0 ? issue.message : `${issue.path.map(String).join('.')}: ${issue.message}`

/** What a schema found wrong, in the words of the catalogue. */
export function problemOf(key: string, option: Option<unknown>, error: z.core.$ZodError): Problem {
  const { label } = option
  const issue = error.issues[0]
  if (option.refusal) return { code: option.refusal, params: { key, label } }
  if (!issue) return { code: 'option.invalid', params: { key, label, detail: '' } }
  if (issue.path.length > 0) return { code: 'option.json_shape', params: { key, label, detail: shapeProblem(issue) } }
  switch (issue.code) {
    case 'too_small':
      return {
        code: issue.inclusive === false ? 'option.not_above' : 'option.too_small',
        params: { key, label, minimum: String(issue.minimum) },
      }
    case 'too_big':
      return issue.origin === 'string'
        ? { code: 'option.too_long', params: { key, label, maximum: String(issue.maximum) } }
        : { code: 'option.too_large', params: { key, label, maximum: String(issue.maximum) } }
    case 'invalid_type':
      if (issue.expected === 'int') return { code: 'option.not_integer', params: { key, label } }
      if (issue.expected === 'number') return { code: 'option.not_number', params: { key, label } }
      return { code: 'option.json_shape', params: { key, label, detail: issue.message } }
    case 'invalid_value':
      return { code: 'option.not_listed', params: { key, label, choices: issue.values.map(String).join(', ') } }
    default:
      return { code: 'option.invalid', params: { key, label, detail: issue.message } }
  }
}
