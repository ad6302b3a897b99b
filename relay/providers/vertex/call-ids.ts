import { type Json, listOf, recordOf } from '../shared/json.ts'

const calls = ['functionCall', 'function_call']
const results = ['functionResponse', 'function_response']
const named = [...calls, ...results]

const idIn = (part: unknown, names: readonly string[]): unknown => {
  const record = recordOf(part)
  return names.map((name) => recordOf(record?.[name])?.['id']).find((id) => id !== undefined)
}

function withoutId(part: unknown): unknown {
  const record = recordOf(part)
  const name = named.find((each) => recordOf(record?.[each])?.['id'] !== undefined)
  if (!record || name === undefined) return part
  const { id: _, ...rest } = recordOf(record[name]) ?? {}
  return { ...record, [name]: rest }
}

/** Results in the order of their calls, by which alone those of one function are known apart without ids. */
function inOrderOfCalls(parts: readonly unknown[], before: unknown): readonly unknown[] {
  const order = new Map(listOf(recordOf(before)?.['parts']).map((part, index) => [idIn(part, calls), index]))
  const placeOf = (part: unknown): number | undefined => order.get(idIn(part, results) ?? {})
  const known = parts.filter((part) => placeOf(part) !== undefined)
  const sorted = known.toSorted((left, right) => (placeOf(left) ?? 0) - (placeOf(right) ?? 0)).values()
  return parts.map((part) => (placeOf(part) === undefined ? part : sorted.next().value))
}

/** Takes the ids of calls and results out of a generate body, for models here that refuse them. */
export function dropCallIds(body: Json): void {
  if (!Array.isArray(body['contents'])) return
  let dropped = false
  const given = listOf(body['contents'])
  const contents = given.map((content, index) => {
    const record = recordOf(content)
    if (!record || !Array.isArray(record['parts'])) return content
    const parts = inOrderOfCalls(record['parts'], given[index - 1]).map((part: unknown) => {
      const bare = withoutId(part)
      dropped ||= bare !== part
      return bare
    })
    return { ...record, parts }
  })
  if (dropped) body['contents'] = contents
}
