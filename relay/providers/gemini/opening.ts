import type { WireEvent } from '#relay/transport/framing.ts'
import { recordOf, recordsOf, tryRecord, wordOf } from '../shared/json.ts'

/** A thought may be empty, too; whatever else a part has is something. */
const isEmptyPart = (part: Record<string, unknown>): boolean =>
  Object.entries(part).every(([name, value]) => name === 'thought' || (name === 'text' && value === ''))

export function isGeminiOpening({ data }: WireEvent): boolean {
  const chunk = tryRecord(data)
  // A refused prompt is the end of an answer.
  if (wordOf(recordOf(chunk?.['promptFeedback'])?.['blockReason']) !== undefined) return false
  return recordsOf(chunk?.['candidates']).every(
    ({ finishReason, content }) =>
      wordOf(finishReason) === undefined && recordsOf(recordOf(content)?.['parts']).every(isEmptyPart),
  )
}
