import type { DialectId, ReasoningPart } from '#relay/chat/request.ts'
import { type Json, recordsOf, textOf, wordOf, withoutAbsent } from '../shared/json.ts'

const formats: readonly [string, DialectId][] = [
  ['anthropic-claude-v1', 'claude'],
  ['google-gemini-v1', 'gemini'],
  ['openai-responses-v1', 'openai-responses'],
]

const dialectOf = (format: unknown): DialectId => formats.find(([name]) => name === format)?.[1] ?? 'openai-chat'
const formatOf = (dialect: DialectId): string => formats.find(([, id]) => id === dialect)?.[0] ?? 'unknown'

/** Earlier thoughts as the `reasoning_details` of an assistant message. */
export const toReasoningDetails = (parts: readonly ReasoningPart[]): Json[] =>
  parts.map((part, index) =>
    part.encrypted
      ? { type: 'reasoning.encrypted', data: part.encrypted.data, format: formatOf(part.encrypted.dialect), index }
      : withoutAbsent({
          type: 'reasoning.text',
          text: part.text,
          signature: part.signature?.value,
          format: formatOf(part.signature?.dialect ?? 'openai-chat'),
          index,
        }),
  )

export type ReasoningDetail =
  | { kind: 'text'; text: string; signature?: { dialect: DialectId; value: string } | undefined }
  | { kind: 'encrypted'; dialect: DialectId; data: string }

export function readReasoningDetails(value: unknown): ReasoningDetail[] {
  return recordsOf(value).flatMap((entry): ReasoningDetail[] => {
    const dialect = dialectOf(entry['format'])
    const data = wordOf(entry['data'])
    if (entry['type'] === 'reasoning.encrypted') return data === undefined ? [] : [{ kind: 'encrypted', dialect, data }]
    const text = textOf(entry['text']) ?? textOf(entry['summary']) ?? ''
    const signature = wordOf(entry['signature'])
    return text === '' && signature === undefined
      ? []
      : [{ kind: 'text', text, ...(signature === undefined ? {} : { signature: { dialect, value: signature } }) }]
  })
}
