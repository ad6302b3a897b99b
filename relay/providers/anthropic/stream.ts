import { isContent } from '#relay/chat/choice-ends.ts'
import type { ChatEvent, Citation, Standing, StreamDecoder } from '#relay/chat/events.ts'
import { readHostedCalls } from '#relay/chat/hosted/claude-blocks.ts'
import type { ProviderCall } from '../types.ts'
import { unwrapInput } from '../shared/custom-tools.ts'
import { type Json, numberOf, parseRecord, recordOf, textOf, tryRecord, wordOf } from '../shared/json.ts'
import { argumentsText } from '../shared/tool-arguments.ts'
import { citationOf, failureIn, finishReasonOf, goesOn } from './answer-parts.ts'
import { createUsageCounter } from './usage.ts'

type ToolBlock = { kind: 'tool'; index: number; custom: boolean; input: string; written: string }
/** A cited block is cited as a whole, so its sources are reported when it ends; offsets count in the text of the complete answer. */
type TextBlock = { kind: 'text'; start: number; citations: Citation[] }
/** A call that the vendor makes itself: reported once its result is there. */
type HostedBlock = { kind: 'hosted'; use: Json; input: string }
type Block = ToolBlock | TextBlock | HostedBlock

type State = {
  reading: Pick<ProviderCall, 'ambient' | 'customTools'>
  /** By index, those that are being written and of which something is due when they end. */
  blocks: Map<number, Block>
  /** Those of them that are calls whose arguments have not come, by their last letter. */
  unwritten: Set<Block>
  /** By id, those without a result. */
  hosted: Map<unknown, HostedBlock>
  usage: ReturnType<typeof createUsageCounter>
  toolCalls: number
  /** Length of the text so far. */
  written: number
  /** How many events said something. */
  spoken: number
  /** A reason to finish has come, and nothing of the answer behind it. */
  finished: boolean
  /** The end of the answer, which waits for that of the stream: some hosts say why it stops long before it does. */
  ending: ChatEvent[]
}

const indexOf = (event: Json): number => numberOf(event['index']) ?? 0

function usageEvents(state: State): ChatEvent[] {
  const usage = state.usage.usage()
  return usage ? [{ type: 'usage', usage }] : []
}

function startMessage(event: Json, state: State): ChatEvent[] {
  const message = recordOf(event['message']) ?? {}
  state.usage.begin(message, () => state.spoken)
  const id = wordOf(message['id']) ?? `msg_${state.reading.ambient.newId(24)}`
  return [{ type: 'start', id, model: textOf(message['model']) ?? '' }, ...usageEvents(state)]
}

function startTool(block: Json, state: State): { block: Block; events: ChatEvent[] } {
  const name = textOf(block['name']) ?? ''
  const custom = state.reading.customTools?.includes(name) === true
  const index = state.toolCalls
  state.toolCalls += 1
  const id = wordOf(block['id']) ?? `toolu_${state.reading.ambient.newId(24)}`
  const given = recordOf(block['input'])
  const input = given && Object.keys(given).length > 0 ? argumentsText(given) : ''
  const started: Block = { kind: 'tool', index, custom, input, written: '' }
  if (input === '') state.unwritten.add(started)
  return {
    block: started,
    events: [{ type: 'tool-call-start', index, id, name, ...(custom ? { kind: 'custom' as const } : {}) }],
  }
}

function textEvents(text: string | undefined, state: State): ChatEvent[] {
  if (text === undefined) return []
  state.written += text.length
  return [{ type: 'text-delta', text }]
}

function startBlock(event: Json, state: State): ChatEvent[] {
  const content = recordOf(event['content_block']) ?? {}
  const index = indexOf(event)
  const before = stopBlock(index, state)
  const open = (block: Block, events: ChatEvent[]): ChatEvent[] => {
    state.blocks.set(index, block)
    return [...before, ...events]
  }
  switch (content['type']) {
    case 'text': {
      const text = wordOf(content['text'])
      return open({ kind: 'text', start: state.written, citations: [] }, textEvents(text, state))
    }
    case 'thinking': {
      const text = wordOf(content['thinking'])
      return text === undefined ? before : [...before, { type: 'reasoning-delta', text, signer: 'claude' }]
    }
    case 'redacted_thinking': {
      const data = wordOf(content['data'])
      return data === undefined ? before : [...before, { type: 'reasoning-encrypted', dialect: 'claude', data }]
    }
    case 'tool_use': {
      const { block, events } = startTool(content, state)
      return open(block, events)
    }
    case 'server_tool_use':
    case 'mcp_tool_use': {
      const block: HostedBlock = { kind: 'hosted', use: content, input: '' }
      state.hosted.set(content['id'], block)
      return open(block, [])
    }
    default:
      return [...before, ...hostedEvents(content, state)]
  }
}

/** A result is reported together with its call, whose input has come in pieces. */
function hostedEvents(result: Json, state: State): ChatEvent[] {
  const block = state.hosted.get(result['tool_use_id'])
  if (!block) return []
  const use = { ...block.use, input: tryRecord(block.input) ?? recordOf(block.use['input']) ?? {} }
  const made = readHostedCalls([use, result]).get(use)
  if (made === undefined || made === 'its result') return []
  state.hosted.delete(result['tool_use_id'])
  return [
    made.type === 'web-search' ? { type: 'web-search', search: made.search } : { type: 'mcp-call', call: made.call },
  ]
}

function argumentsDelta(block: Block | undefined, text: string, { unwritten }: State): ChatEvent[] {
  if (block?.kind === 'hosted') block.input += text
  if (block?.kind !== 'tool' || text === '') return []
  block.written += text
  const end = text.trimEnd()
  if (end.endsWith('}')) unwritten.delete(block)
  else if (end !== '') unwritten.add(block)
  return block.custom ? [] : [{ type: 'tool-call-delta', index: block.index, arguments: text }]
}

function deltaBlock(event: Json, state: State): ChatEvent[] {
  const delta = recordOf(event['delta']) ?? {}
  switch (delta['type']) {
    case 'text_delta': {
      const text = wordOf(delta['text'])
      return textEvents(text, state)
    }
    case 'thinking_delta': {
      const text = wordOf(delta['thinking'])
      return text === undefined ? [] : [{ type: 'reasoning-delta', text, signer: 'claude' }]
    }
    case 'signature_delta': {
      const value = wordOf(delta['signature'])
      return value === undefined ? [] : [{ type: 'reasoning-signature', dialect: 'claude', value }]
    }
    case 'input_json_delta':
      return argumentsDelta(state.blocks.get(indexOf(event)), textOf(delta['partial_json']) ?? '', state)
    case 'citations_delta': {
      const citation = citationOf(delta['citation'])
      const block = state.blocks.get(indexOf(event))
      if (citation && block?.kind === 'text') block.citations.push(citation)
      return []
    }
    default:
      return []
  }
}

/** A call without any fragment of arguments was begun with them, or takes none. */
function closeTool(block: ToolBlock): ChatEvent[] {
  const text = block.written === '' ? block.input || '{}' : block.written
  const rest = block.custom ? unwrapInput(text) : block.written === '' ? text : ''
  const end: ChatEvent = { type: 'tool-call-end', index: block.index }
  return rest === '' ? [end] : [{ type: 'tool-call-delta', index: block.index, arguments: rest }, end]
}

const cite = (citation: Citation, { start }: TextBlock, { written }: State): ChatEvent => ({
  type: 'citation',
  citation: { ...citation, startIndex: start, endIndex: written },
})

function stopBlock(index: number, state: State): ChatEvent[] {
  const block = state.blocks.get(index)
  state.blocks.delete(index)
  if (block) state.unwritten.delete(block)
  if (block?.kind === 'text') return block.citations.map((citation) => cite(citation, block, state))
  return block?.kind === 'tool' ? closeTool(block) : []
}

function closeMessage(state: State): ChatEvent[] {
  const closing = [...state.blocks.keys()].flatMap((index) => stopBlock(index, state))
  const { ending } = state
  state.ending = []
  return [...closing, ...ending]
}

function finishMessage(event: Json, state: State): ChatEvent[] {
  state.usage.close(event)
  const delta = recordOf(event['delta']) ?? {}
  const reason = wordOf(delta['stop_reason'])
  if (state.finished || reason === undefined) return usageEvents(state)
  state.finished = true
  const stopSequence = wordOf(delta['stop_sequence'])
  const explanation = reason === 'refusal' ? wordOf(recordOf(delta['stop_details'])?.['explanation']) : undefined
  state.ending = [
    ...(explanation === undefined ? [] : [{ type: 'refusal-delta' as const, text: explanation }]),
    { type: 'finish', reason: finishReasonOf(reason), ...(stopSequence === undefined ? {} : { stopSequence }) },
  ]
  return usageEvents(state)
}

/** What is written behind a reason to finish takes it back. */
function goOn(event: Json, events: ChatEvent[], state: State): ChatEvent[] {
  if (events.some(isContent)) state.spoken += 1
  if (goesOn(event)) {
    state.finished = false
    state.ending = []
  }
  return events
}

/** The closing event without a stop reason: the answer is complete, only its reason was not reported. */
function stopMessage(state: State): ChatEvent[] {
  if (!state.finished) state.ending = [{ type: 'finish', reason: state.toolCalls > 0 ? 'tool-calls' : 'stop' }]
  state.finished = true
  return closeMessage(state)
}

/** Some hosts end no block. But where a call has only begun, its arguments are waited for. */
function standingOf({ finished, blocks, unwritten }: State): Standing {
  if (!finished || unwritten.size > 0) return 'open'
  return blocks.size === 0 ? 'ended' : 'ending'
}

function readEvent(event: Json, state: State): ChatEvent[] {
  switch (event['type']) {
    case 'message_start':
      return startMessage(event, state)
    case 'content_block_start':
      return goOn(event, startBlock(event, state), state)
    case 'content_block_delta':
      return goOn(event, deltaBlock(event, state), state)
    case 'content_block_stop':
      return stopBlock(indexOf(event), state)
    case 'message_delta':
      return finishMessage(event, state)
    case 'message_stop':
      return stopMessage(state)
    default: {
      const error = failureIn(event)
      return error ? [{ type: 'error', error }] : []
    }
  }
}

export function createClaudeDecoder(reading: Pick<ProviderCall, 'ambient' | 'customTools'>): StreamDecoder {
  const state: State = {
    reading,
    blocks: new Map(),
    unwritten: new Set(),
    hosted: new Map(),
    usage: createUsageCounter(),
    toolCalls: 0,
    written: 0,
    spoken: 0,
    finished: false,
    ending: [],
  }
  let started = false
  let failed = false
  let closed = false
  return {
    push(wire) {
      // What comes behind the closing event is nothing.
      if (failed || closed || wire.data.trim() === '[DONE]') return []
      const event = parseRecord(wire.data)
      const events = readEvent(event, state)
      closed = event['type'] === 'message_stop'
      failed = events.some((entry) => entry.type === 'error')
      if (started || failed || events.length === 0) return events
      started = true
      // Some hosts leave the opening event out.
      return events[0]?.type === 'start' ? events : [...startMessage({}, state), ...events]
    },
    end: () => (failed ? [] : closeMessage(state)),
    standing: () => (closed ? 'closed' : standingOf(state)),
  }
}
