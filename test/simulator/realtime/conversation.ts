import { setTimeout as pause } from 'node:timers/promises'
import type { WebSocket } from 'ws'
import { answerOf } from '../answer.ts'
import { has, numberOf, takeDirectives, type Directives } from '../directives.ts'
import { failureOf } from '../failures.ts'
import { openai } from '../openai/vendor.ts'
import { asObject, asObjects, asText, asTexts, charactersOf, type Json, type Prompt } from '../prompt.ts'
import { nameIn, transcriberIn, transcriptionUsage, usageBody } from './wire.ts'
import { responseEvents } from './response-events.ts'

export type SessionInput = {
  socket: WebSocket
  directives: Directives
  passGate: (name: string) => Promise<void>
  model: string
  /** Speaks the older form of the events. */
  beta: boolean
  nextId: (prefix: string) => string
  /** We end the session, as ordered. */
  onBreak: () => void
}

type State = { session: Json; items: Json[]; inputBytes: number }

function promptOf({ session, items }: State, { model }: SessionInput): Prompt {
  const users = items.filter((item) => item['type'] === 'message' && item['role'] === 'user')
  const last = items.at(-1)
  const texts = asObjects(users.at(-1)?.['content']).map((part) => asText(part['text'] ?? part['transcript']))
  return {
    model,
    stream: true,
    text: texts.filter(Boolean).join('\n'),
    system: asText(session['instructions']),
    media: [],
    tools: asObjects(session['tools']).map((tool) => ({
      name: asText(tool['name']),
      schema: asObject(tool['parameters']),
    })),
    toolChoice: { mode: 'auto' },
    toolResults: last?.['type'] === 'function_call_output' ? [asText(last['output'])] : [],
    thinking: false,
    json: undefined,
    maxTokens: undefined,
    stop: [],
    choices: 1,
    characters: charactersOf(items) + charactersOf(session['instructions']),
  }
}

/** The vendor's side of one session: answers each event of the caller's, and plays a response when asked for one. */
export function converse(input: SessionInput): void {
  const { socket, beta, nextId } = input
  const state: State = {
    session: {
      id: nextId('sess_'),
      object: 'realtime.session',
      model: input.model,
      ...(beta
        ? { modalities: ['text', 'audio'], input_audio_format: 'pcm16', output_audio_format: 'pcm16' }
        : { type: 'realtime', output_modalities: ['audio'] }),
      instructions: '',
      tools: [],
    },
    items: [],
    inputBytes: 0,
  }
  const say = (type: string, fields: Json): void =>
    socket.send(JSON.stringify({ type, event_id: nextId('event_'), ...fields }))
  const add = (item: Json): void => {
    const stored = { id: nextId('item_'), object: 'realtime.item', status: 'completed', ...item }
    state.items.push(stored)
    say(nameIn(beta, 'itemAdded'), { previous_item_id: null, item: stored })
    if (!beta) say('conversation.item.done', { previous_item_id: null, item: stored })
  }

  const sayTranscription = (): void => {
    const model = transcriberIn(state.session)
    if (model === '') return
    const usage = transcriptionUsage(model, state.inputBytes, input.directives)
    const words = { item_id: asText(state.items.at(-1)?.['id']), content_index: 0, transcript: 'words' }
    say('conversation.item.input_audio_transcription.completed', { ...words, usage })
  }

  socket.on('message', (data: Buffer) => {
    const event = asObject(parse(data.toString()))
    switch (event['type']) {
      case 'session.update':
        state.session = { ...state.session, ...asObject(event['session']) }
        return say('session.updated', { session: state.session })
      case 'conversation.item.create':
        return add(asObject(event['item']))
      case 'input_audio_buffer.append':
        state.inputBytes += Buffer.from(asText(event['audio']), 'base64').length
        return undefined
      case 'input_audio_buffer.commit':
        say('input_audio_buffer.committed', { previous_item_id: null, item_id: nextId('item_') })
        add({
          type: 'message',
          role: 'user',
          content: [{ type: 'input_audio', transcript: `${state.inputBytes} bytes of sound` }],
        })
        sayTranscription()
        state.inputBytes = 0
        return undefined
      case 'response.create':
        return void respond(input, { state, say })
      case 'response.cancel':
      case 'input_audio_buffer.clear':
        return undefined
      default:
        return say('error', {
          error: {
            type: 'invalid_request_error',
            code: 'invalid_value',
            message: `Invalid value: '${asText(event['type'])}'.`,
          },
        })
    }
  })
  say('session.created', { session: state.session })
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

type Stage = { state: State; say: (type: string, fields: Json) => void }

/** The first of these that is ordered ends a response before its end. */
const stops = ['cut', 'fin', 'stall', 'errorevent'] as const

async function respond(input: SessionInput, { state, say }: Stage): Promise<void> {
  const { socket, beta, nextId } = input
  const prompt = promptOf(state, input)
  const taken = takeDirectives(prompt.text)
  const directives = { ...input.directives, ...taken.directives }
  const answer = answerOf({ ...prompt, text: taken.text }, directives)
  const modalities = asTexts(state.session['output_modalities'] ?? state.session['modalities'])
  const id = nextId('resp_')
  const events = responseEvents(answer, { id, beta, spoken: modalities.includes('audio'), nextId })
  const delay = numberOf(directives, 'delay')
  if (delay) await pause(delay)
  if (has(directives, 'gate') && !has(directives, 'gateat')) await input.passGate(directives.gate ?? '')
  say('response.created', {
    response: { id, object: 'realtime.response', status: 'in_progress', output: [], usage: null },
  })
  const failed = has(directives, 'status') ? openai.error(failureOf(directives)).body : null
  const stop = stops.find((name) => has(directives, name))
  const last = failed ? 0 : stop === undefined ? events.length : (numberOf(directives, stop) ?? 0)
  const gap = numberOf(directives, 'gap')
  const malformed = numberOf(directives, 'malformed')
  const gateAt = numberOf(directives, 'gateat')
  for (const [index, { type, fields }] of events.slice(0, last).entries()) {
    if (gap) await pause(gap)
    if (index === gateAt) await input.passGate(directives.gate ?? '')
    if (socket.readyState !== socket.OPEN) return
    if (index + 1 === malformed) socket.send('{"broken": tru')
    else say(type, { response_id: id, ...fields })
  }
  if (stop !== undefined) return breakOff(input, { stop, directives, say })
  say('response.done', {
    response: {
      id,
      object: 'realtime.response',
      status: failed ? 'failed' : 'completed',
      status_details: failed ? { type: 'failed', ...asObject(failed) } : null,
      output: [],
      usage: failed ? null : usageBody(answer.usage, directives),
    },
  })
  say('rate_limits.updated', { rate_limits: [] })
}

type Break = { stop: (typeof stops)[number]; directives: Directives; say: Stage['say'] }

function breakOff({ socket, onBreak }: SessionInput, { stop, directives, say }: Break): void {
  if (stop === 'stall') return
  if (stop === 'errorevent') return say('error', asObject(openai.error(failureOf(directives)).body))
  onBreak()
  if (stop === 'cut') socket.terminate()
  else socket.close(numberOf(directives, 'closecode') ?? 1000, directives['message'] ?? '')
}
