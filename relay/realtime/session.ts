import { setTimeout as delay } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { DomainError } from '#core/errors.ts'
import { nameOfPrice } from '#core/pricing/price-of.ts'
import type { Usage } from '#core/usage.ts'
import { isUnexpected } from '#relay/attempt/failure.ts'
import { timeoutsOf } from '#relay/upstream-call/timeouts.ts'
import { asTimerMs } from '#relay/transport/limits.ts'
import { type Json, tryRecord } from '#relay/providers/shared/json.ts'
import { closeTimeoutMs, refuseCaller, sendError } from './accept.ts'
import { refusalToGoOn } from './admit.ts'
import { beginsConversation, rememberConversation } from './resumption.ts'
import { type SessionBilling, openSessionBilling } from './session-billing.ts'
import type { CallerEnd, Session } from './call.ts'
import { closeSocket, type CloseWord, lost } from './close-codes.ts'
import { createMeter } from './meter.ts'
import type { Meter } from './meter-type.ts'
import { keepModel, readCallerEvent } from './session-model.ts'
import { shownEvent, shownReason } from './shown-failure.ts'
import { endsTranscription } from './transcription.ts'
import { createTranscriptionMeter } from './transcription-meter.ts'
import { type Frame, sendFrame } from './pump.ts'
import { heartbeatMs, watchHeartbeat } from './heartbeat.ts'

/** Whose end it was, and what was said. */
type Ending = { by: 'caller' | 'upstream'; word: CloseWord } | { by: 'gateway'; error: unknown; unpaid?: boolean }

/** Once the caller has gone, its upstream may not go on for longer. */
const upstreamCloseTimeoutMs = 500

/**
 * How long an upstream may take to say what only it knows of a response that its caller has left. A process that stops waits five
 * seconds for what is still to be booked, and this has to be booked then.
 */
export const reportTimeoutMs = 3000
const reportPauseMs = 20

/** Responses of one session at once. Each that was asked for keeps what it was given, and money does not limit those that cost nothing. */
const mostResponses = 50

const readEvent = ({ data }: Frame): Json => tryRecord(data.toString('utf8')) ?? {}

/** Of those that may have been refused as many again are no hindrance. */
function isFull(meter: Meter): boolean {
  const { all, doubted } = meter.readers
  return all - Math.min(doubted, mostResponses) >= mostResponses
}

const clears = 'input_audio_buffer.clear'
const commits = 'input_audio_buffer.commit'
const speechStarts = 'input_audio_buffer.speech_started'

/** What is under way or asked for grows by one. Of a session that only transcribes, sound that is cleared is counted until it is. */
const addsOne = ({ transcribes }: Session, { type }: Json): boolean =>
  transcribes ? type === commits || type === clears : type === 'response.create'

/** What is said costs something on both sides; everything else is free. */
const isPaid = ({ transcribes }: Session, { type }: Json): boolean =>
  type === 'response.create' ||
  type === 'response.created' ||
  type === 'session.update' ||
  type === 'conversation.item.create' ||
  type === 'input_audio_buffer.append' ||
  // In a conversation sound costs what the answer to it reads.
  (transcribes && (type === commits || type === speechStarts)) ||
  (typeof type === 'string' && type.startsWith('response.') && type.endsWith('.delta'))

/**
 * Work begins of which there may be no more: an answer, or the writing down of what was said, which a session without answers lives
 * by. An upstream that listens for pauses begins by itself, as soon as somebody speaks.
 */
const startsWork: ReadonlySet<unknown> = new Set(['response.create', 'response.created', commits, speechStarts])

function createMeterOf({ call, plan, translation, transcribes }: Session): Meter {
  const { upstreamModel } = plan.attempt
  const given = { readUsage: translation.usage, now: () => performance.now() }
  if (transcribes) return createTranscriptionMeter({ ...given, pricedModel: nameOfPrice(plan.terms, upstreamModel) })
  return createMeter({
    ...given,
    model: upstreamModel,
    billsUnread: translation.billsUnread,
    resumes: call.storedAt !== undefined,
  })
}

const isOfAnswer = ({ type }: Json): boolean => typeof type === 'string' && type.startsWith('response.')

/** Of a session that only transcribes, what its caller has been sent already. */
const beginsAgain = ({ type }: Json): boolean => type === 'session.created' || type === 'transcription_session.created'

/** Carries the frames of one session both ways, unchanged but for the model's name, until one side ends it. Its money is settled when this resolves. */
export async function runSession(session: Session): Promise<void> {
  const { services, call, caller, upstream } = session
  const meter = createMeterOf(session)
  const billing = openSessionBilling(session, meter)
  const ended = Promise.withResolvers<Ending>()
  let isOver = false
  const end = (ending: Ending): void => {
    const isLeft = ending.by === 'caller' && !isOver && awaitsReport(meter)
    if (ending.by === 'gateway' || isLeft) billing.stop(endOf(ending, true))
    isOver = true
    ended.resolve(ending)
  }
  const stopWatching = watchEnds(session, end)
  const stopHeartbeats = watchHeartbeats(session)
  const fail = (error: unknown): void => {
    if (isUnexpected(error)) services.reportUnexpected(error, call.id)
    end({ by: 'gateway', error })
  }
  caller.frames.start(async (message) => {
    let event: Json = {}
    let frame = message
    try {
      event = readCallerEvent(message)
      frame = keepModel(session, event, message)
    } catch (error) {
      return sendError(caller, call, { error, about: event })
    }
    const begins = event['type'] === 'response.create'
    if (addsOne(session, event) && isFull(meter)) {
      const error = new DomainError('relay.too_many_responses', { most: mostResponses })
      return sendError(caller, call, { error, about: event })
    }
    const barred = startsWork.has(event['type']) ? await refusalToGoOn(session) : null
    let takeBack = (): void => {}
    const count = (): void => void (takeBack = meter.ask(event))
    if (!begins && !barred) count()
    const refusal =
      barred ?? (begins ? await billing.ask(count) : isPaid(session, event) ? await billing.follow('more') : null)
    const isOpen = !isOver && upstream.socket.readyState === WebSocket.OPEN
    if (!refusal && isOpen) return sendFrame(upstream.socket, frame)
    takeBack()
    // The session is over in the meantime, and nobody reads it.
    if (!refusal) return
    // Others that are under way, or cost less, go on.
    if (begins && !barred) return sendError(caller, call, { error: refusal, about: event })
    caller.frames.stop('drop')
    end({ by: 'gateway', error: refusal, unpaid: !barred })
  }, fail)
  upstream.frames.start(async (frame) => {
    const event = readEvent(frame)
    if (meter.stopped) return readLate({ meter, billing }, event)
    // Nobody has asked for an answer, and nobody would pay it.
    if (session.transcribes && isOfAnswer(event)) throw new DomainError('relay.stream_failed')
    // Other events do not wait: meanwhile the session could end, and they would be charged as if it had not.
    if (beginsConversation(session, event)) await rememberConversation(session, event)
    const begins = event['type'] === 'response.created'
    const barred = startsWork.has(event['type']) ? await refusalToGoOn(session) : null
    // The end of a response leaves when its charge is booked.
    const isEnd = meter.receive(event)
    const refusal = isEnd
      ? await billing.endResponse(event)
      : endsTranscription(event)
        ? await billing.endTranscription(event)
        : (barred ?? (isPaid(session, event) ? await billing.follow(begins ? 'begun' : 'more') : null))
    if (!session.transcribes || !beginsAgain(event)) await sendFrame(caller.socket, shownEvent(session, event, frame))
    if (refusal) end({ by: 'gateway', error: refusal, unpaid: !isEnd && !barred })
  }, fail)
  upstream.socket.resume()
  const ending = await ended.promise
  stopWatching()
  // Until then: a caller that takes nothing of what its upstream has left would keep the session for ever.
  await finish(session, { ending, billing, meter }).finally(stopHeartbeats)
}

/** Everything that may end a session from outside. Returns what stops looking. */
function watchEnds({ call, plan, caller, upstream }: Session, end: (ending: Ending) => void): () => void {
  const hungUp = (): void => end({ by: 'caller', word: { code: lost, reason: '' } })
  // A caller who leaves aborts the call too, seen by its socket.
  const stopped = (): void => {
    if (!call.callerAborted.signal.aborted) end({ by: 'gateway', error: new DomainError('relay.stopping') })
  }
  caller.socket.on('close', (code, reason) => end({ by: 'caller', word: { code, reason: reason.toString() } }))
  upstream.socket.on('close', (code, reason) => end({ by: 'upstream', word: { code, reason: reason.toString() } }))
  const { idleTimeoutMs } = timeoutsOf(plan.attempt.channel.setting, 'stream')
  const idle = setTimeout(() => {
    end({ by: 'gateway', error: new DomainError('relay.session_idle') })
  }, asTimerMs(idleTimeoutMs))
  for (const { socket } of [caller, upstream]) socket.on('message', () => void idle.refresh())
  const upstreamAbort = call.upstreamAbort.signal
  upstreamAbort.addEventListener('abort', stopped, { once: true })
  // One of the two may have gone while nobody looked.
  if (caller.socket.readyState === WebSocket.CLOSED) hungUp()
  else if (upstreamAbort.aborted) stopped()
  return () => {
    clearTimeout(idle)
    upstreamAbort.removeEventListener('abort', stopped)
  }
}

/** Returns what ends the watch. */
function watchHeartbeats({ caller, upstream }: Session): () => void {
  const stops = [caller, upstream].map(({ socket, frames }) =>
    watchHeartbeat(socket, { everyMs: heartbeatMs, isPaused: () => frames.paused }),
  )
  return () => {
    for (const stop of stops) stop()
  }
}

/** What had arrived when the session was ended here is read for what it used; it is delivered no more. */
async function readLate({ meter, billing }: Pick<End, 'meter' | 'billing'>, event: Json): Promise<void> {
  if (meter.receive(event)) await billing.endResponse(event)
  else if (endsTranscription(event)) await billing.endTranscription(event)
}

/** Nobody here can tell what is to be paid for what is under way. */
const awaitsReport = (meter: Meter): boolean => meter.responding && meter.unseen > 0

/** Cancels what is under way, and waits until the upstream has said what it has read for it. */
async function cancelAndAwaitReports({ services, upstream: { socket } }: Session, meter: Meter): Promise<void> {
  const cancelled = new Set<string>()
  const since = performance.now()
  while (awaitsReport(meter) && socket.readyState === WebSocket.OPEN && performance.now() - since < reportTimeoutMs) {
    for (const id of meter.openIds) {
      if (cancelled.has(id)) continue
      cancelled.add(id)
      const name = `event_${services.ambient.newId(24)}`
      const cancel = { type: 'response.cancel', event_id: name, ...(id === '' ? {} : { response_id: id }) }
      // One that comes too late is answered by an error, which by its name is of no response that was asked for.
      meter.ask(cancel)
      socket.send(JSON.stringify(cancel))
    }
    await delay(reportPauseMs)
  }
}

type End = { ending: Ending; billing: SessionBilling; meter: Meter }

/** Lets what has arrived be paid and delivered, books the rest, then says goodbye to whoever is left. */
async function finish(session: Session, { ending, billing, meter }: End): Promise<void> {
  const { call, caller, upstream } = session
  caller.frames.stop('drop')
  const isUnpaid = ending.by === 'gateway' && ending.unpaid === true
  const cutId = isUnpaid ? meter.openId : ''
  if (ending.by === 'caller' || isUnpaid) await cancelAndAwaitReports(session, meter)
  upstream.frames.stop('take')
  if (ending.by !== 'upstream') {
    const word = ending.by === 'caller' ? ending.word : { code: 1000, reason: '' }
    closeSocket(upstream.socket, word, upstreamCloseTimeoutMs)
  }
  // One that the process can no longer wait for.
  const giveUp = (): void => caller.socket.terminate()
  if (ending.by === 'upstream') call.upstreamAbort.signal.addEventListener('abort', giveUp, { once: true })
  await upstream.frames.drained()
  call.upstreamAbort.signal.removeEventListener('abort', giveUp)
  const { responding } = meter
  const usage = await billing.close(endOf(ending, responding), cutId)
  sendCut(caller, cutId, usage)
  if (ending.by === 'gateway') refuseCaller(caller, call, ending.error)
  else if (ending.by === 'upstream') passOn(session, ending.word)
  await closed(caller.socket)
}

/** The end of a response that cannot be paid for any further: as at a reached output limit. */
function sendCut({ socket }: CallerEnd, id: string, usage: Usage): void {
  if (socket.readyState !== WebSocket.OPEN || id === '') return
  const { promptTokens, completionTokens, audioInputTokens, audioOutputTokens } = usage
  const response = {
    id,
    object: 'realtime.response',
    status: 'incomplete',
    status_details: { type: 'incomplete', reason: 'max_output_tokens' },
    output: [],
    usage: {
      total_tokens: promptTokens + completionTokens,
      input_tokens: promptTokens,
      output_tokens: completionTokens,
      input_token_details: {
        text_tokens: promptTokens - audioInputTokens,
        audio_tokens: audioInputTokens,
        cached_tokens: 0,
      },
      output_token_details: { text_tokens: completionTokens - audioOutputTokens, audio_tokens: audioOutputTokens },
    },
  }
  socket.send(JSON.stringify({ type: 'response.done', event_id: `evt_${id}`, response }))
}

/** How the log calls what was left unpaid. */
function endOf(ending: Ending, responding: boolean): 'complete' | 'hung-up' | 'failed' | 'unpaid' {
  if (ending.by === 'gateway') return ending.unpaid === true ? 'unpaid' : 'failed'
  if (ending.by === 'upstream') return responding || ending.word.code === lost ? 'failed' : 'complete'
  return responding ? 'hung-up' : 'complete'
}

/** The upstream's own goodbye; one that left without any is a failure. */
function passOn(session: Session, word: CloseWord): void {
  const { call, caller } = session
  if (word.code === lost) return refuseCaller(caller, call, new DomainError('relay.stream_failed'))
  closeSocket(caller.socket, { code: word.code, reason: shownReason(session, word.reason) }, closeTimeoutMs)
}

const closed = (socket: WebSocket): Promise<void> =>
  socket.readyState === WebSocket.CLOSED
    ? Promise.resolve()
    : new Promise((resolve) => socket.once('close', () => resolve()))
