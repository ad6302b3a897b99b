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

const isMedia = (part: unknown): boolean =>
  ['inlineData', 'inline_data', 'fileData', 'file_data'].some((name) => recordOf(part)?.[name] !== undefined)

/** Results in the order of their calls, by which alone those of one function are known apart without ids; images go with theirs. */
function inOrderOfCalls(parts: readonly unknown[], before: unknown): readonly unknown[] {
  const order = new Map(listOf(recordOf(before)?.['parts']).map((part, index) => [idIn(part, calls), index]))
  const first: unknown[] = []
  const last: unknown[] = []
  const groups: { place: number; parts: unknown[] }[] = []
  for (const part of parts) {
    const place = order.get(idIn(part, results) ?? {})
    const group = groups.at(-1)
    if (place !== undefined) groups.push({ place, parts: [part] })
    else if (group === undefined) first.push(part)
    else if (isMedia(part) && last.length === 0) group.parts.push(part)
    else last.push(part)
  }
  const sorted = groups.toSorted((left, right) => left.place - right.place)
  return [...first, ...sorted.flatMap((group) => group.parts), ...last]
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
