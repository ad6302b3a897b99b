import { formatInstruction } from '../anthropic/output-format.ts'
import { type Json, recordOf, recordsOf, textOf } from '../shared/json.ts'

function instructionFor(format: Json | undefined): string | undefined {
  if (format?.['type'] === 'json_object') return formatInstruction({ type: 'json' }, false)
  const schema = recordOf(recordOf(format?.['json_schema'])?.['schema'])
  return schema && formatInstruction({ type: 'json-schema', name: '', schema }, false)
}

/**
 * Adds the requested form of the answer in words, for vendors that cannot be held to it: at the end of the first
 * instructions of a body in the OpenAI form, or in front of everything.
 */
export function renderFormat(body: Json): void {
  const instruction = instructionFor(recordOf(body['response_format']))
  if (instruction === undefined) return
  const messages = recordsOf(body['messages'])
  const [first, ...rest] = messages
  const given = first?.['role'] === 'system' || first?.['role'] === 'developer' ? textOf(first['content']) : undefined
  body['messages'] =
    first && given !== undefined
      ? [{ ...first, content: `${given}\n\n${instruction}` }, ...rest]
      : [{ role: 'system', content: instruction }, ...messages]
}
