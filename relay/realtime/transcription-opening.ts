import { DomainError } from '#core/errors.ts'
import { networkOf } from '#features/client-address/service.ts'
import { type Json, recordOf } from '#relay/providers/shared/json.ts'
import type { Incoming, RelayServices } from '#relay/request/call.ts'
import { sendError } from './accept.ts'
import type { CallerEnd } from './call.ts'
import { createFrameMemory } from './frame-memory.ts'
import { isBetaCaller } from './dial.ts'
import type { Frame, Pump } from './pump.ts'
import { updatesSession } from './event-types.ts'
import { readCallerEvent } from './session-model.ts'
import { transcriberOf } from './transcription.ts'

/** What may be sent before the model is named: half a minute of sound. */
const mostBuffered = 2 * 1024 * 1024

/** A session that only transcribes: no address names its model, which comes with its first update. With both it is a session like any. */
export const asksToTranscribe = ({ req }: Pick<Incoming, 'req'>): boolean => {
  const { intent, model } = req.query
  return intent === 'transcription' && (model === undefined || model === '')
}

type Consumer = { take: (frame: Frame) => Promise<void>; onError: (error: unknown) => void }
type Opening = { model: string; end: CallerEnd }

/**
 * Answers in the upstream's place until the caller names the model that is to transcribe. What was sent before is kept, and taken first by
 * whoever starts the frames of the end that this resolves with; meanwhile nothing more is taken from the caller.
 * @throws {DomainError} relay.transcription_unnamed when no model was named in time; what a frame is refused with that finds no room
 */
export async function openTranscription(services: RelayServices, incoming: Incoming, end: CallerEnd): Promise<Opening> {
  const { socket, frames } = end
  const memory = createFrameMemory(services.bodies, networkOf(incoming.ip))
  const named = Promise.withResolvers<string>()
  const started = Promise.withResolvers<Consumer>()
  let buffered: Frame[] = []
  let bytes = 0
  let consumer: Consumer | null = null
  let failure: { error: unknown } | null = null
  let isDropped = false

  const forget = (): void => {
    buffered = []
    memory.end()
  }
  const keep = async (frame: Frame): Promise<void> => {
    let event: Json = {}
    try {
      event = readCallerEvent(frame)
    } catch (error) {
      return sendError(end, incoming, { error, about: event })
    }
    bytes += frame.data.length
    if (bytes > mostBuffered) throw new DomainError('relay.transcription_unnamed')
    await memory.hold(bytes)
    buffered.push(frame)
    const model = updatesSession.has(event['type']) ? transcriberOf(recordOf(event['session']) ?? {}) : undefined
    if (model === undefined) return
    named.resolve(model)
    const next = await started.promise
    for (const one of buffered) if (!isDropped) await next.take(one)
    forget()
    take = next.take
  }
  let take = keep
  const fail = (error: unknown): void => {
    failure ??= { error }
    named.reject(error)
    consumer?.onError(error)
  }

  const { signal } = incoming.upstreamAbort
  // A caller who leaves aborts it, too.
  const abort = (): void => named.reject(new DomainError('relay.stopping'))
  const deadline = setTimeout(
    () => named.reject(new DomainError('relay.transcription_unnamed')),
    services.bodies.limits.idleMs,
  )
  signal.addEventListener('abort', abort, { once: true })
  socket.once('close', forget)
  if (signal.aborted) abort()
  socket.send(JSON.stringify(createdEvent(incoming)))
  frames.start((frame) => take(frame), fail)
  try {
    return { model: await named.promise, end: { socket, frames: continued() } }
  } catch (error) {
    frames.stop('drop')
    forget()
    throw error
  } finally {
    clearTimeout(deadline)
    signal.removeEventListener('abort', abort)
  }

  function continued(): Pump {
    return {
      start: (takeNext, onError) => {
        consumer = { take: takeNext, onError }
        if (failure) onError(failure.error)
        else started.resolve(consumer)
      },
      stop: (rest) => {
        isDropped = rest === 'drop'
        frames.stop(rest)
      },
      drained: () => frames.drained(),
      get paused() {
        return frames.paused
      },
    }
  }
}

/** The first event of a session: clients wait for it before they say what they want. */
function createdEvent({ id, req }: Incoming): Json {
  const session = { id: `sess_${id}`, object: 'realtime.transcription_session' }
  const event_id = `event_${id}`
  return isBetaCaller({ req })
    ? { type: 'transcription_session.created', event_id, session }
    : { type: 'session.created', event_id, session: { ...session, type: 'transcription' } }
}
