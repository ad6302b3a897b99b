import { type Json, listOf, recordOf, recordsOf, textOf, wordOf } from './json.ts'

const wordsOf = (value: unknown): string[] => [wordOf(value)].filter((word) => word !== undefined)

/**
 * Files that a message, an item or a part names, in the words of each dialect, and those that its parts name. Without lists in between,
 * for every message of every call is looked at.
 */
function addFiles(found: string[], value: unknown, depth: number): void {
  const part = recordOf(value)
  if (!part) return
  for (const holder of [part, part['source'], part['file']]) {
    const id = wordOf((holder as Json | null | undefined)?.['file_id'])
    if (id !== undefined) found.push(id)
  }
  if (depth === 0) return
  for (const parts of [part['content'], part['output']])
    if (Array.isArray(parts)) for (const inner of parts) addFiles(found, inner, depth - 1)
}

const containerIn = (value: unknown): string[] => {
  const record = recordOf(value)
  return record
    ? [record['id'], record['container_id'], ...listOf(record['file_ids'])].flatMap(wordsOf)
    : wordsOf(value)
}

const adding: ReadonlySet<unknown> = new Set(['additional_tools', 'tool_search_output'])

/** Tools that a conversation of responses has added. */
export const addedTools = ({ input }: Json): Json[] =>
  recordsOf(input).flatMap((item) => (adding.has(item['type']) ? recordsOf(item['tools']) : []))

const toolsOf = (body: Json): Json[] => [...recordsOf(body['tools']), ...addedTools(body)]

/** Where a tool of responses runs: code in its `container`, a shell in its `environment`. */
const placesOf = ({ container, environment }: Json): unknown[] => [container, environment]

/**
 * Containers and files that a call names. An account has them in common, so that whoever knows the id of another's could run
 * code in it or read it.
 */
export function heldIn(body: Json): string[] {
  const { container, messages, input } = body
  const found = [container, ...toolsOf(body).flatMap(placesOf)].flatMap(containerIn)
  for (const list of [messages, input]) if (Array.isArray(list)) for (const message of list) addFiles(found, message, 2)
  return found
}

/** Whether an id is that of a container or a file. */
export const isHeld = (id: string): boolean => /^c?(file|ntr|ontainer)[_-]/.test(id)

/** The gigabytes of memory of the container that a tool of responses has made. */
export function gigabytesOf(tool: Json): number {
  const { memory_limit: limit } =
    placesOf(tool)
      .map(recordOf)
      .find((place) => place !== undefined) ?? {}
  return Number(/^([1-9]\d{0,3})g$/.exec(textOf(limit) ?? '')?.[1] ?? 1)
}

/** Containers that items of responses ran in, code and shells. */
export const containersIn = (items: unknown): string[] =>
  recordsOf(items).flatMap((item) =>
    [item['container_id'], recordOf(item['environment'])?.['container_id']].flatMap(wordsOf),
  )

/** Containers of a complete answer of responses, which its upstream keeps whether or not it stores the answer. */
export const containersMade = (response: Json): string[] => containersIn(response['output'])

const ranCode = /code_execution_tool_result$/

/** Files that code of an answer of messages has made, one block of it. */
export function filesMade(block: unknown): string[] {
  const { type, content } = recordOf(block) ?? {}
  const found: string[] = []
  if (ranCode.test(textOf(type) ?? ''))
    for (const part of listOf(recordOf(content)?.['content'])) addFiles(found, part, 0)
  return found
}

/** The container of an answer of messages. */
export const containerMade = (message: unknown): string[] => containerIn(recordOf(message)?.['container'])

/** The id of an answer of messages, to go on from, with its container and the files that its code has made. */
export function messageIds(message: unknown): string[] {
  const { id, content } = recordOf(message) ?? {}
  return [...wordsOf(id), ...containerMade(message), ...recordsOf(content).flatMap(filesMade)]
}
