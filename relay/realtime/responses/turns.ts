import type { Request } from 'express'
import { parseExactly } from '#core/exact-json.ts'
import { weighJson } from '#core/json-weight.ts'
import type { RelayServices } from '#relay/request/call.ts'
import { isObject } from '#relay/chat/json.ts'
import { type Json, recordOf, recordsOf, textOf, tryRecord } from '#relay/providers/shared/json.ts'
import { createSseParser } from '#relay/transport/sse.ts'
import { callWithin } from './inner-call.ts'
import type { Conversation, Lane } from './conversation.ts'

type Ends = {
  /** The handshake. */
  outer: Request
  conversation: Conversation
  /** Counts a message that is no call of its own against the limits of its caller. Resolves with the refusal, where it is one. */
  admit: () => Promise<{ status: number; error: unknown } | null>
  send: (event: unknown) => Promise<void>
}

type Refusal = { status: number; code: string; message: string; param?: string }

const refusal = ({ status, code, message, param }: Refusal) => ({
  type: 'error',
  status,
  error: { type: 'invalid_request_error', code, message, param: param ?? null },
})

export const limitReached = refusal({
  status: 400,
  code: 'websocket_connection_limit_reached',
  message: 'Responses websocket connection limit reached (60 minutes). Create a new websocket connection to continue.',
})

const largestEvent = 64 * 1024 * 1024

/** Only what ends a response is read: everything else goes out as it came. */
const isEnd = (name: string | undefined): boolean => name === 'response.completed' || name === 'response.incomplete'

/** Some upstreams say 404; clients send everything again for OpenAI's status alone. */
const statusOf = (error: Json | null): number | undefined =>
  error?.['code'] === 'previous_response_not_found' ? 400 : undefined

/** After any other event clients wait for the next one, and for minutes where none comes. */
const endedEarly = {
  type: 'error',
  status: 502,
  error: { type: 'server_error', code: 'stream_response_error', message: 'the response ended early', param: null },
}

const cancels = 'response.cancel'

/** The cancellation in a message that may wait behind others: these are short, and only the few that name it are read. */
const cancellationIn = (message: Buffer): Json | undefined => {
  const event = message.length <= 4096 && message.includes(cancels) ? tryRecord(message.toString('utf8')) : undefined
  return event?.['type'] === cancels ? event : undefined
}

/** The response under way; `id`: as its caller knows it, from its first event on. */
type UnderWay = { readonly id: string | undefined; cancel: () => void; abandon: () => void }

const namesConversation = (body: Json): boolean => (body['conversation'] ?? null) !== null

/** Longer names would cost more in each event than they say. */
const longestName = 256

/** The lane that a message names; undefined for what is no name. */
function laneOf({ stream_id: name = null }: Json): Lane | undefined {
  const isName = name === null || (typeof name === 'string' && name !== '' && name.length <= longestName)
  return isName ? name : undefined
}

/** An event as it came, with the name of its lane: clients tell by it whose event it is. */
const inLane = (event: string, lane: string): string =>
  event.replace(/^\s*\{(?=\s*")/, () => `{"stream_id":${JSON.stringify(lane)},`)

/** Serves the messages of one socket, each to its end. */
export function createTurns({ ambient, log }: RelayServices, { outer, conversation, admit, send }: Ends) {
  let underWay: UnderWay | null = null
  let abandoned = false
  /** Lanes whose next response was cancelled by a message that waits behind it. */
  const cancelled = new Set<Lane>()
  /** Of the message that is answered. */
  let lane: Lane = null
  const say = (event: string | object): Promise<void> => {
    if (lane === null) return send(event)
    return send(typeof event === 'string' ? inLane(event, lane) : { ...event, stream_id: lane })
  }

  /** Asks for one response, and returns its end where there was one. One that was cancelled is charged as if its caller had left. */
  const respond = async (body: Json): Promise<Json | 'cancelled' | null> => {
    if (cancelled.delete(lane) || cancelled.delete(null)) return endCancelled(await begin(body), 1)
    let begun: Json | undefined
    let ended: Json | null = null
    let sent = 0
    let streams = false
    let isCancelled = false
    let isOver = false
    let hasItems = false
    let answered = { status: 500, headers: {} as Record<string, string> }
    const pieces: Buffer[] = []
    let due: string[] = []
    const parser = createSseParser({
      maxEventBytes: largestEvent,
      onEvent: ({ event, data }) => {
        if (data === '[DONE]') return
        if (isEnd(event)) {
          const response = recordOf(tryRecord(data)?.['response'])
          // Some hosts repeat no items: a conversation that went on from there would lack them.
          ended = response && (!hasItems || recordsOf(response['output']).length > 0) ? response : null
        }
        hasItems ||= event === 'response.output_item.done'
        if (event === 'response.created') begun = recordOf(tryRecord(data)?.['response'])
        isOver ||= isEnd(event) || event === 'response.failed'
        due.push(data)
      },
    })
    const flush = async (): Promise<void> => {
      const events = due
      due = []
      for (const event of events) {
        if (isCancelled) return
        sent += 1
        await say(event)
      }
    }
    const call = callWithin(outer, Buffer.from(JSON.stringify(body)), {
      begin: ({ status, contentType, headers }) => {
        answered = { status, headers }
        streams = contentType.startsWith('text/event-stream')
      },
      take: async (piece) => {
        if (streams) {
          parser.push(piece)
          await flush()
        } else pieces.push(piece)
      },
    })
    underWay = {
      get id() {
        return textOf(begun?.['id'])
      },
      cancel: () => {
        // Behind its end there is nothing left to cancel.
        if (isOver) return
        isCancelled = true
        call.abandon()
      },
      abandon: call.abandon,
    }
    if (abandoned) call.abandon()
    await call.ended
    underWay = null
    if (isCancelled) return begun && sent > 0 ? endCancelled(begun, sent) : endCancelled(await begin(body), 1)
    if (streams) {
      parser.end()
      await flush()
      if (!isOver && !abandoned) await say(endedEarly)
    } else if (!abandoned) {
      const error = recordOf(tryRecord(Buffer.concat(pieces).toString('utf8'))?.['error']) ?? null
      if (error?.['code'] === 'context_length_exceeded') await fail(body, error)
      else await say({ type: 'error', ...answered, status: statusOf(error) ?? answered.status, error })
    }
    return ended
  }

  const begin = async (body: Json): Promise<Json> => {
    const response = {
      id: `resp_${ambient.newId(48)}`,
      object: 'response',
      created_at: Math.floor(ambient.now().getTime() / 1000),
      model: body['model'] ?? null,
      status: 'in_progress',
      output: [],
      error: null,
      incomplete_details: null,
      previous_response_id: null,
      store: false,
      usage: null,
    }
    await say({ type: 'response.created', sequence_number: 0, response })
    return response
  }

  /** That a conversation is too long agents read in a response alone. */
  const fail = async (body: Json, { code, message }: Json): Promise<void> => {
    const failed = { ...(await begin(body)), status: 'failed', error: { code, message } }
    await say({ type: 'response.failed', sequence_number: 1, response: failed })
  }

  /** Until this comes clients take whatever arrives for the response that they have cancelled. */
  const endCancelled = async (begun: Json, sequence: number): Promise<'cancelled'> => {
    const response = { ...begun, status: 'incomplete', incomplete_details: { reason: 'cancelled' } }
    await say({ type: 'response.incomplete', sequence_number: sequence, response })
    return 'cancelled'
  }

  /** Takes note of what a conversation begins with, and answers with an id to go on from. Nothing is generated nor charged. */
  const prepare = async (body: Json): Promise<Json> => {
    const response = await begin(body)
    const usage = {
      input_tokens: 0,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 0,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 0,
    }
    const completed = { ...response, status: 'completed', usage }
    await say({ type: 'response.completed', sequence_number: 1, response: completed })
    return completed
  }

  const create = async ({ type: _type, generate, stream_id: _streamId, ...asked }: Json): Promise<void> => {
    if (asked['background'] === true) {
      const message = 'background is not supported over WebSocket'
      return say(refusal({ status: 400, code: 'unsupported_value', message, param: 'background' }))
    }
    const refused = generate === false ? await admit() : null
    if (refused) {
      conversation.forget(lane)
      return say({ type: 'error', ...refused })
    }
    const body: Json = conversation.goOn(asked) ?? asked
    const ended = generate === false ? await prepare(body) : await respond({ ...body, stream: true })
    // The caller goes on from where it was before.
    if (ended === 'cancelled') return
    if (ended === null) return conversation.forget(lane)
    // What is stored is found by its id in every call, and what was added to a conversation by the name of that.
    const isStored = (body['store'] ?? true) !== false && ended['store'] !== false
    if (generate !== false && (isStored || namesConversation(body))) conversation.forget(lane)
    else await conversation.remember(lane, asked, ended)
  }

  return {
    get busy() {
      return underWay !== null
    },
    /** Looks at a message as it arrives, for it may cancel what those before it are waiting for. */
    lookAhead: (message: Buffer): void => {
      const cancellation = cancellationIn(message)
      const of = cancellation && laneOf(cancellation)
      if (!cancellation || of === undefined) return
      const id = cancellation['response_id'] ?? null
      if (underWay && (of ?? lane) === lane) {
        if (id === null || id === underWay.id) underWay.cancel()
      } else if (id === null) cancelled.add(of)
    },
    take: async (message: Buffer): Promise<void> => {
      let event: unknown
      try {
        event = weighJson(message).problem === null ? parseExactly(message.toString('utf8')) : null
      } catch {
        event = null
      }
      lane = null
      if (!isObject(event)) {
        return say(refusal({ status: 400, code: 'invalid_json', message: 'the message must be a JSON object' }))
      }
      const named = laneOf(event)
      lane = named ?? null
      if (named === undefined) {
        const text = `stream_id must be a string of 1 to ${longestName} characters`
        return say(refusal({ status: 400, code: 'invalid_stream_id', message: text, param: 'stream_id' }))
      }
      const { type } = event
      // Says only that a response has arrived.
      if (type === 'response.processed') return
      // Heeded as it arrived. OpenAI has no such event, and clients take an error for the answer to what they ask for next.
      if (type === cancels) {
        cancelled.delete(lane)
        return
      }
      if (type !== 'response.create') {
        const name = typeof type === 'string' ? type.slice(0, 100) : typeof type
        const text = `Unknown event type: ${name}`
        return say(refusal({ status: 400, code: 'unknown_event', message: text, param: 'type' }))
      }
      try {
        await create(event)
      } catch (err) {
        log.error({ err }, 'a response over a socket failed unexpectedly')
        conversation.forget(lane)
        await say(refusal({ status: 500, code: 'internal_error', message: 'internal server error' }))
      }
    },
    abandon: (): void => {
      abandoned = true
      underWay?.abandon()
    },
  }
}
