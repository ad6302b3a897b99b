import { type Json, listOf, recordOf, recordsOf, textOf, wordOf } from './json.ts'

const wordsOf = (value: unknown): string[] => [wordOf(value)].filter((word) => word !== undefined)

const fileIn = (part: Json): string[] =>
  [part['file_id'], recordOf(part['source'])?.['file_id'], recordOf(part['file'])?.['file_id']].flatMap(wordsOf)

const partsOf = ({ content, output }: Json): Json[] => [...recordsOf(content), ...recordsOf(output)]

/** Files that a message or an item names, in the words of each dialect, also in its parts and in those of a result. */
const filesIn = (message: Json): string[] =>
  [message, ...partsOf(message).flatMap((part) => [part, ...partsOf(part)])].flatMap(fileIn)

const containerIn = (value: unknown): string[] => {
  const record = recordOf(value)
  return record ? [record['id'], ...listOf(record['file_ids'])].flatMap(wordsOf) : wordsOf(value)
}

/**
 * Containers and files that a call names. An account has them in common, so that whoever knows the id of another's could run
 * code in it or read it.
 */
export function heldIn({ container, tools, messages, input }: Json): string[] {
  return [
    ...containerIn(container),
    ...recordsOf(tools).flatMap((tool) => containerIn(tool['container'])),
    ...[...recordsOf(messages), ...recordsOf(input)].flatMap(filesIn),
  ]
}

/** Whether an id is that of a container or a file. */
export const isHeld = (id: string): boolean => /^c?(file|ntr|ontainer)[_-]/.test(id)

/** Containers of a complete answer of responses, which its upstream keeps whether or not it stores the answer. */
export const containersMade = (response: Json): string[] =>
  recordsOf(response['output']).flatMap((item) => wordsOf(item['container_id']))

const ranCode = /code_execution_tool_result$/

/** Files that code of an answer of messages has made, one block of it. */
export function filesMade(block: unknown): string[] {
  const { type, content } = recordOf(block) ?? {}
  return ranCode.test(textOf(type) ?? '') ? partsOf(recordOf(content) ?? {}).flatMap(fileIn) : []
}

/** The container of an answer of messages. */
export const containerMade = (message: unknown): string[] => containerIn(recordOf(message)?.['container'])

/** The id of an answer of messages, to go on from, with its container and the files that its code has made. */
export function messageIds(message: unknown): string[] {
  const { id, content } = recordOf(message) ?? {}
  return [...wordsOf(id), ...containerMade(message), ...recordsOf(content).flatMap(filesMade)]
}
