import { dialectOfReasoning, reasoningFormatOf } from '#relay/chat/reasoning-formats.ts'
import type { DialectId, ReasoningPart } from '#relay/chat/request.ts'
import { type Json, recordsOf, textOf, wordOf, withoutAbsent } from '../shared/json.ts'

/** Earlier reasoning as the `reasoning_details` of an assistant message. */
export const toReasoningDetails = (parts: readonly ReasoningPart[]): Json[] =>
  parts.map((part, index) =>
    part.encrypted
      ? {
          type: 'reasoning.encrypted',
          data: part.encrypted.data,
          format: reasoningFormatOf(part.encrypted.dialect),
          index,
        }
      : withoutAbsent({
          type: 'reasoning.text',
          text: part.text,
          signature: part.signature?.value,
          format: reasoningFormatOf(part.signature?.dialect ?? 'openai-chat'),
          index,
        }),
  )

export type ReasoningDetail =
  | { kind: 'text'; text: string; dialect: DialectId; signature?: { dialect: DialectId; value: string } | undefined }
  | { kind: 'encrypted'; dialect: DialectId; data: string }

export function readReasoningDetails(value: unknown): ReasoningDetail[] {
  return recordsOf(value).flatMap((entry): ReasoningDetail[] => {
    const dialect = dialectOfReasoning(entry['format'])
    const data = wordOf(entry['data'])
    if (entry['type'] === 'reasoning.encrypted') return data === undefined ? [] : [{ kind: 'encrypted', dialect, data }]
    const text = textOf(entry['text']) ?? textOf(entry['summary']) ?? ''
    const signature = wordOf(entry['signature'])
    return text === '' && signature === undefined
      ? []
      : [
          {
            kind: 'text',
            text,
            dialect,
            ...(signature === undefined ? {} : { signature: { dialect, value: signature } }),
          },
        ]
  })
}
