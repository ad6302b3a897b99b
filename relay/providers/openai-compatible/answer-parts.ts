import type { Citation, FinishReason, UpstreamFailure } from '#relay/chat/events.ts'
import { parseDataUrl } from '#relay/chat/media.ts'
import { isEmptyValue } from '#relay/chat/json.ts'
import { type Json, numberOf, recordOf, recordsOf, textOf, wordOf } from '../shared/json.ts'

const reasons: Readonly<Record<string, FinishReason>> = {
  length: 'length',
  max_tokens: 'length',
  model_length: 'length',
  model_context_window_exceeded: 'length',
  tool_calls: 'tool-calls',
  tool_use: 'tool-calls',
  function_call: 'tool-calls',
  content_filter: 'content-filter',
  refusal: 'content-filter',
  sensitive: 'content-filter',
}

/**
 * A vendor's finish reason. A forced call ends with `stop` at some vendors, so calls decide wherever the answer was not cut.
 */
export function finishReasonOf(raw: unknown, calledTools: boolean): FinishReason {
  const reason = typeof raw === 'string' && Object.hasOwn(reasons, raw) ? reasons[raw] : 'stop'
  return reason === 'stop' && calledTools ? 'tool-calls' : (reason ?? 'stop')
}

/** Reasons that stand for a failure of the upstream. */
const failedFinish: ReadonlySet<unknown> = new Set(['error', 'insufficient_system_resource', 'network_error'])

/** The failure that a reason to finish stands for: an error breaks an answer off, others are one where it has said nothing. */
export function failedEndOf(reason: unknown, hasSpoken: boolean): UpstreamFailure | undefined {
  if (!failedFinish.has(reason) || (hasSpoken && reason !== 'error')) return undefined
  const message = `the upstream stopped ${hasSpoken ? 'its' : 'without an'} answer: ${String(reason)}`
  return { status: 503, type: 'server_error', code: String(reason), message }
}

const finishField = /"finish_reason"\s*:\s*"([a-z_]+)"/g

/** The reason of those that stands in a chunk, if one does. In a text the quotes of the name would be escaped. */
export const failedReasonIn = (data: string): string | undefined =>
  [...data.matchAll(finishField)].map(([, reason]) => reason).find((reason) => failedFinish.has(reason))

export type Written = { text: string; reasoning: string }

/** `content` is text, or a list in which reasoning may stand beside the text. */
export function readContent(content: unknown): Written {
  if (typeof content === 'string') return { text: content, reasoning: '' }
  const written: Written = { text: '', reasoning: '' }
  for (const chunk of recordsOf(content)) {
    if (chunk['type'] === 'thinking') {
      written.reasoning += textOf(chunk['thinking']) ?? readContent(chunk['thinking']).text
    } else {
      written.text += textOf(chunk['text']) ?? ''
    }
  }
  return written
}

/** The reasoning of a message or delta, under whichever name it comes. */
export const reasoningTextOf = (message: Json): string =>
  wordOf(message['reasoning_content']) ?? wordOf(message['reasoning']) ?? wordOf(message['reasoning_text']) ?? ''

/** The calls of a message or delta. Spark can write a single one without a list: https://www.xfyun.cn/doc/spark/HTTP%E8%B0%83%E7%94%A8%E6%96%87%E6%A1%A3.html */
export function toolCallsOf(message: Json): Json[] {
  const written = message['tool_calls']
  const single = recordOf(written)
  return recordOf(single?.['function']) && single ? [single] : recordsOf(written)
}

const contentNames = [
  'content',
  'reasoning_content',
  'reasoning',
  'reasoning_text',
  'refusal',
  'tool_calls',
  'function_call',
  'images',
  'audio',
]

/** Whether a choice of a chunk holds something of the answer. */
export function hasContent({ delta, text }: Json): boolean {
  const fields = recordOf(delta)
  return fields ? contentNames.some((name) => !isEmptyValue(fields[name])) : wordOf(text) !== undefined
}

/** Whether a chunk says nothing in any of its answers, as the last of hosts that send no list without one. */
export const isBlank = (choices: readonly Json[]): boolean =>
  choices.every(({ delta, text }) => {
    const { role: _, ...rest } = recordOf(delta) ?? {}
    return isEmptyValue(text) && Object.values(rest).every(isEmptyValue)
  })

export function readCitations(annotations: unknown): Citation[] {
  return recordsOf(annotations).flatMap((annotation) => {
    const source = recordOf(annotation['url_citation']) ?? annotation
    const url = wordOf(source['url'])
    if (url === undefined) return []
    return [
      {
        url,
        title: wordOf(source['title']),
        citedText: wordOf(source['content']),
        startIndex: numberOf(source['start_index']),
        endIndex: numberOf(source['end_index']),
      },
    ]
  })
}

export type Image = { mediaType: string; data: string } | { url: string }

/** Images a model drew, as bytes or, at vendors that store them, as an address. */
export function readImages(images: unknown): Image[] {
  return recordsOf(images).flatMap((image): Image[] => {
    const url = wordOf(recordOf(image['image_url'])?.['url']) ?? wordOf(image['image_url'])
    if (url === undefined) return []
    return [parseDataUrl(url) ?? { url }]
  })
}
