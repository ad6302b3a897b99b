import { type ChatResponse, type Citation, MalformedUpstream, type ResponsePart } from '#relay/chat/events.ts'
import { readHostedCalls } from '#relay/chat/hosted/claude-blocks.ts'
import type { McpCallPart, WebSearchPart } from '#relay/chat/request.ts'
import { type ProviderCall, UpstreamRefusal } from '../types.ts'
import { unwrapInput } from '../shared/custom-tools.ts'
import { type Json, recordOf, recordsOf, textOf, wordOf } from '../shared/json.ts'
import { argumentsText } from '../shared/tool-arguments.ts'
import { citationOf, failureIn, finishReasonOf } from './answer-parts.ts'
import { readUsage } from './usage.ts'

type Reading = Pick<ProviderCall, 'ambient' | 'customTools'>

function textPart(block: Json, before: number): ResponsePart[] {
  const text = textOf(block['text']) ?? ''
  if (text === '') return []
  const citations = recordsOf(block['citations']).flatMap((value): Citation[] => {
    const citation = citationOf(value)
    // A cited block is cited as a whole; offsets count in the text of the complete answer.
    return citation ? [{ ...citation, startIndex: before, endIndex: before + text.length }] : []
  })
  return [{ type: 'text', text, ...(citations.length > 0 ? { citations } : {}) }]
}

function toolPart(block: Json, reading: Reading): ResponsePart {
  const name = textOf(block['name']) ?? ''
  const written = argumentsText(block['input'] ?? {})
  const custom = reading.customTools?.includes(name) === true
  return {
    type: 'tool-call',
    id: wordOf(block['id']) ?? `toolu_${reading.ambient.newId(24)}`,
    name,
    arguments: custom ? unwrapInput(written) : written,
    ...(custom ? { kind: 'custom' as const } : {}),
  }
}

function reasoningPart(block: Json): ResponsePart[] {
  if (block['type'] === 'redacted_thinking') {
    const data = wordOf(block['data'])
    return data === undefined ? [] : [{ type: 'reasoning', text: '', encrypted: { dialect: 'claude', data } }]
  }
  const text = textOf(block['thinking']) ?? ''
  const value = wordOf(block['signature'])
  if (text === '' && value === undefined) return []
  return [{ type: 'reasoning', text, ...(value === undefined ? {} : { signature: { dialect: 'claude', value } }) }]
}

const withoutOwn = (made: WebSearchPart | McpCallPart): ResponsePart =>
  made.type === 'web-search' ? { type: 'web-search', search: made.search } : { type: 'mcp-call', call: made.call }

function partsOf(blocks: readonly Json[], reading: Reading): ResponsePart[] {
  let written = 0
  const hosted = readHostedCalls(blocks)
  return blocks.flatMap((block): ResponsePart[] => {
    const made = hosted.get(block)
    if (made !== undefined) return made === 'its result' ? [] : [withoutOwn(made)]
    switch (block['type']) {
      case 'text': {
        const parts = textPart(block, written)
        written += (textOf(block['text']) ?? '').length
        return parts
      }
      case 'thinking':
      case 'redacted_thinking':
        return reasoningPart(block)
      case 'tool_use':
        return [toolPart(block, reading)]
      default:
        // What its other tools did is not shown to callers of other dialects.
        return []
    }
  })
}

export function fromClaudeResponse(json: unknown, reading: Reading): ChatResponse {
  const answer = recordOf(json)
  if (!answer) throw new MalformedUpstream('the answer is not a JSON object')
  const failure = failureIn(answer)
  if (failure) throw new UpstreamRefusal(failure)
  if (!Array.isArray(answer['content'])) throw new MalformedUpstream('the answer has no content')
  const parts = partsOf(recordsOf(answer['content']), reading)
  const explanation = wordOf(recordOf(answer['stop_details'])?.['explanation'])
  const refused = answer['stop_reason'] === 'refusal' && explanation !== undefined
  const usage = recordOf(answer['usage'])
  const stopSequence = wordOf(answer['stop_sequence'])
  return {
    id: wordOf(answer['id']) ?? `msg_${reading.ambient.newId(24)}`,
    model: textOf(answer['model']) ?? '',
    choices: [
      {
        parts: refused ? [...parts, { type: 'refusal', text: explanation }] : parts,
        finish: finishReasonOf(answer['stop_reason']),
        ...(stopSequence === undefined ? {} : { stopSequence }),
      },
    ],
    ...(usage ? { usage: readUsage(usage) } : {}),
  }
}
