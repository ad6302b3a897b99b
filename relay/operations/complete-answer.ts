import { isObject } from '#relay/chat/json.ts'
import { nameLosses } from '#relay/chat/losses.ts'
import { recordsOf } from '#relay/providers/shared/json.ts'
import { formatSseEvent } from '#relay/transport/sse.ts'
import type { Usage } from '#core/usage.ts'
import { errorOfEntry } from './empty-answer.ts'
import type { Try } from './send.ts'
import type { Asked } from './types.ts'

const written = (type: string, fields: object): string =>
  formatSseEvent({ event: type, data: JSON.stringify({ type, ...fields }) })

/** What is said of all images of an answer alike, and in each event of a stream. */
const describing = ['background', 'output_format', 'quality', 'size']

/** Each image has an event of its own, and the last one reports what all of them took. */
function imageEvents(kind: string, answer: unknown): string {
  const { data, created, usage, ...rest } = isObject(answer) ? answer : {}
  const rows = recordsOf(data)
  const about = Object.fromEntries(describing.flatMap((name) => (name in rest ? [[name, rest[name]]] : [])))
  const last = rows.findLastIndex((row) => !errorOfEntry(row))
  return rows
    .map((row, index) => {
      if (errorOfEntry(row))
        return written(`${kind}.partial_failed`, { created_at: created, image_index: index, ...row })
      const used = index === last && usage !== undefined ? { usage } : {}
      return written(`${kind}.completed`, { created_at: created, ...about, ...row, ...used })
    })
    .join('')
}

function audioEvents(audio: Uint8Array, { promptTokens, completionTokens }: Usage): string {
  const usage = {
    input_tokens: promptTokens,
    output_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  }
  const delta = written('speech.audio.delta', { audio: Buffer.from(audio).toString('base64') })
  return delta + written('speech.audio.done', { usage })
}

function transcriptEvents(answer: unknown): string {
  const { text = '' } = isObject(answer) ? answer : {}
  return written('transcript.text.delta', { delta: text }) + written('transcript.text.done', { text })
}

type CompleteAnswer = {
  answer: unknown
  /** The same as it goes out. */
  body: string | Uint8Array
  audio?: { contentType: string; bytes: Uint8Array } | undefined
  usage: Usage
  /** Nothing of it is the gateway's own. */
  isAsReceived?: boolean
}

function eventsOf(asked: Asked, { answer, audio, usage, isAsReceived }: CompleteAnswer): string {
  if (!asked.stream || asked.foreign) return ''
  switch (asked.operation) {
    case 'images':
      return imageEvents('image_generation', answer)
    case 'image-edits':
      return imageEvents('image_edit', answer)
    case 'speech':
      return audio && asked.json['stream_format'] === 'sse' ? audioEvents(audio.bytes, usage) : ''
    case 'transcriptions':
      // OpenAI itself answers for some models in one piece, and says so.
      return isAsReceived ? '' : transcriptEvents(answer)
    default:
      return ''
  }
}

/**
 * Sends an answer that came in one piece, as a stream where its caller asked for one and the upstream has none: client libraries read events
 * whatever comes, and say nothing of an answer that holds none.
 */
export function sendComplete(
  { call: { res, asked }, losses }: Pick<Try, 'call' | 'losses'>,
  complete: CompleteAnswer,
): void {
  const events = eventsOf(asked, complete)
  const contentType = complete.audio?.contentType ?? 'application/json; charset=utf-8'
  nameLosses(res, losses)
  res.status(200).setHeader('content-type', events === '' ? contentType : 'text/event-stream')
  res.end(events === '' ? complete.body : events)
}
