import { type Json, recordsOf, textOf } from '#relay/providers/shared/json.ts'

/** The texts of an item that count once the upstream has added it. */
export function textsAdded(item: Json): string[] {
  if (item['type'] === 'function_call_output') return [textOf(item['output']) ?? '']
  if (item['type'] !== 'message') return []
  return recordsOf(item['content']).flatMap((part) =>
    part['type'] === 'input_text' ? [textOf(part['text']) ?? ''] : [],
  )
}

const textOfPart = (part: Json): string[] => {
  const text = textOf(part['text']) ?? textOf(part['transcript'])
  return text === undefined ? [] : [text]
}
const isContent = ({ type }: Json): boolean => type !== 'input_text' && type !== 'input_audio'

/** The other texts of an item that a caller adds: of earlier answers, and of their calls. */
export function textsReplayed(item: Json): string[] {
  if (item['type'] === 'function_call_output') return []
  const { name, arguments: input, output } = item
  return [
    ...recordsOf(item['content']).filter(isContent).flatMap(textOfPart),
    ...[name, input, output].flatMap((text) => textOf(text) ?? []),
  ]
}
