import { type ChatResponse, type FinishReason, MalformedUpstream, type ResponsePart } from '#relay/chat/events.ts'
import { shifted } from '#relay/chat/citations.ts'
import { readCitations } from '../openai-compatible/answer-parts.ts'
import { type ProviderCall, UpstreamRefusal } from '../types.ts'
import { type Json, recordOf, recordsOf, textOf, wordOf } from '../shared/json.ts'
import { failureIn } from './failure.ts'
import { remoteCallOf, searchOf } from '#relay/chat/hosted/response-items.ts'
import { usageInOnePiece } from './usage.ts'

type Reading = Pick<ProviderCall, 'ambient'>

/** Offsets count in the part of a message here; `written` is the length of the answer's text before it. */
function messageParts(item: Json, reading: { written: number }): ResponsePart[] {
  return recordsOf(item['content']).flatMap((content): ResponsePart[] => {
    const refusal = wordOf(content['refusal'])
    if (refusal !== undefined) return [{ type: 'refusal', text: refusal }]
    const text = textOf(content['text']) ?? ''
    const citations = readCitations(content['annotations']).map((each) => shifted(each, reading.written))
    reading.written += text.length
    return text === '' ? [] : [{ type: 'text', text, ...(citations.length > 0 ? { citations } : {}) }]
  })
}

/** The vendor reports what a search found by address alone; their titles stand at the sources of the text. */
function nameResults(parts: readonly ResponsePart[]): void {
  const titles = new Map(
    parts.flatMap((part) => (part.type === 'text' ? (part.citations ?? []) : [])).map(({ url, title }) => [url, title]),
  )
  for (const part of parts) {
    if (part.type === 'web-search')
      for (const result of part.search.results ?? []) result.title ??= titles.get(result.url)
  }
}

/** Log probabilities of a message's text, which are those of chat completions. */
export const logprobsOf = (item: Json): unknown[] =>
  item['type'] === 'message' ? recordsOf(item['content']).flatMap((part) => recordsOf(part['logprobs'])) : []

export const reasoningOf = (item: Json): string => {
  const texts = (name: string): string[] => recordsOf(item[name]).flatMap((entry) => textOf(entry['text']) ?? [])
  const summary = texts('summary')
  return (summary.length > 0 ? summary : texts('content')).join('\n\n')
}

function reasoningPart(item: Json): ResponsePart[] {
  const text = reasoningOf(item)
  const data = wordOf(item['encrypted_content'])
  if (text === '' && data === undefined) return []
  return [
    { type: 'reasoning', text, ...(data === undefined ? {} : { encrypted: { dialect: 'openai-responses', data } }) },
  ]
}

function callPart(item: Json, { ambient }: Reading): ResponsePart {
  const custom = item['type'] === 'custom_tool_call'
  return {
    type: 'tool-call',
    id: wordOf(item['call_id']) ?? wordOf(item['id']) ?? `call_${ambient.newId(24)}`,
    name: textOf(item['name']) ?? '',
    arguments: textOf(item[custom ? 'input' : 'arguments']) ?? '',
    ...(custom ? { kind: 'custom' as const } : {}),
  }
}

function partsOf(item: Json, reading: Reading & { written: number }): ResponsePart[] {
  switch (item['type']) {
    case 'message':
      return messageParts(item, reading)
    case 'web_search_call': {
      const search = searchOf(item)
      return search ? [{ type: 'web-search', search }] : []
    }
    case 'mcp_call': {
      const call = remoteCallOf(item)
      return call ? [{ type: 'mcp-call', call }] : []
    }
    case 'reasoning':
      return reasoningPart(item)
    case 'function_call':
    case 'custom_tool_call':
      return [callPart(item, reading)]
    case 'image_generation_call': {
      const data = wordOf(item['result'])
      return data === undefined
        ? []
        : [{ type: 'image', mediaType: `image/${textOf(item['output_format']) ?? 'png'}`, data }]
    }
    default:
      return []
  }
}

/** A call whose arguments were cut off: running it would run something else than the model meant. */
export const isCutCall = ({ type, status }: Json): boolean =>
  (type === 'function_call' || type === 'custom_tool_call') && status === 'incomplete'

export function finishOf(response: Json, calledTools: boolean): FinishReason {
  if (calledTools && !recordsOf(response['output']).some(isCutCall)) return 'tool-calls'
  const reason = recordOf(response['incomplete_details'])?.['reason']
  if (reason === 'content_filter') return 'content-filter'
  return response['status'] === 'incomplete' || response['status'] === 'cancelled' ? 'length' : 'stop'
}

/** Whether an answer is of this form, for hosts that answer in either. */
export const isResponse = (json: unknown): boolean => {
  const body = recordOf(json)
  return body?.['object'] === 'response' || (Array.isArray(body?.['output']) && body['choices'] === undefined)
}

export function fromResponse(json: unknown, reading: Reading): ChatResponse {
  const response = recordOf(json)
  if (!response) throw new MalformedUpstream('the answer is not a JSON object')
  const failure = failureIn(response)
  if (failure) throw new UpstreamRefusal(failure)
  if (!Array.isArray(response['output'])) throw new MalformedUpstream('the answer has no output')
  const place = { ...reading, written: 0 }
  const parts = recordsOf(response['output']).flatMap((item) => partsOf(item, place))
  nameResults(parts)
  const usage = usageInOnePiece(response)
  const logprobs = recordsOf(response['output']).flatMap(logprobsOf)
  return {
    id: wordOf(response['id']) ?? `resp_${reading.ambient.newId(24)}`,
    model: textOf(response['model']) ?? '',
    choices: [
      {
        parts,
        finish: finishOf(
          response,
          parts.some((part) => part.type === 'tool-call'),
        ),
        ...(logprobs.length > 0 ? { logprobs } : {}),
      },
    ],
    ...(usage ? { usage } : {}),
  }
}
