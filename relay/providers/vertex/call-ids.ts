import { type Json, listOf, recordOf } from '../shared/json.ts'

const named = ['functionCall', 'functionResponse', 'function_call', 'function_response']

function withoutId(part: unknown): unknown {
  const record = recordOf(part)
  const name = named.find((each) => recordOf(record?.[each])?.['id'] !== undefined)
  if (!record || name === undefined) return part
  const { id: _, ...rest } = recordOf(record[name]) ?? {}
  return { ...record, [name]: rest }
}

/** Takes the ids of calls and results out of a generate body, for models here that refuse them. */
export function dropCallIds(body: Json): void {
  if (!Array.isArray(body['contents'])) return
  let dropped = false
  const contents = listOf(body['contents']).map((content) => {
    const record = recordOf(content)
    if (!record || !Array.isArray(record['parts'])) return content
    const parts = record['parts'].map((part: unknown) => {
      const bare = withoutId(part)
      dropped ||= bare !== part
      return bare
    })
    return { ...record, parts }
  })
  if (dropped) body['contents'] = contents
}
