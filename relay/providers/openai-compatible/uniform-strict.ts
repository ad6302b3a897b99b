import { type Json, recordOf, recordsOf } from '../shared/json.ts'

const strictOf = (tool: Json): boolean => recordOf(tool['function'])?.['strict'] === true

/**
 * For a vendor that refuses tools of which some are strict and others are not ("Tools with mixed values for 'strict' are not allowed"),
 * where an absent word counts as none: unless all of them are strict, none is. Names what is given up.
 */
export function unifyStrict(body: Json): string[] {
  const tools = recordsOf(body['tools'])
  const strict = tools.filter(strictOf)
  if (strict.length === 0 || strict.length === tools.length) return []
  body['tools'] = tools.map((tool) => {
    const named = recordOf(tool['function'])
    return named ? { ...tool, function: { ...named, strict: false } } : tool
  })
  return ['tools.strict']
}
