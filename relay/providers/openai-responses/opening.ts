import type { WireEvent } from '#relay/transport/framing.ts'
import { recordOf, tryRecord } from '../shared/json.ts'

/** The response as it was asked for; the items and parts that text will be written into; signs of life. */
const opening = /^(response\.(created|queued|in_progress)|ping|keepalive)$/
const place = /^response\.(output_item|content_part|reasoning_summary_part)\.added$/
const writing = /^response\.(output_text|refusal|reasoning_text|reasoning_summary_text)\.delta$/

export function isResponsesOpening({ event, data }: WireEvent): boolean {
  if (event === undefined || opening.test(event)) return true
  if (writing.test(event)) return tryRecord(data)?.['delta'] === ''
  if (!place.test(event)) return false
  const given = tryRecord(data)
  const item = recordOf(given?.['item'])
  if (item) return item['type'] === 'message' || item['type'] === 'reasoning'
  const part = recordOf(given?.['part'])
  return (part?.['text'] ?? part?.['refusal'] ?? '') === ''
}
