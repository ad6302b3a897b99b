import { DomainError } from '#core/errors.ts'
import { networkOf } from '#features/client-address/service.ts'
import type { Json } from '#relay/providers/shared/json.ts'
import type { Incoming, RelayServices } from '#relay/request/call.ts'
import { sendError } from './accept.ts'
import type { CallerEnd } from './call.ts'
import { createFrameMemory } from './frame-memory.ts'
import { isBetaCaller } from './dial.ts'
import { type Frame, type Pump, weightOf } from './pump.ts'
import { readCallerEvent, refuseBinaryAudio } from './session-model.ts'
import { transcriberNamed } from './transcription-update.ts'

/** What may be sent before the model is named: half a minute of sound. */
const mostBuffered = 2 * 1024 * 1024

/** What one that waits for its name takes at least. Nothing else limits how many do: no money is set aside, and no upstream asked. */
const leastHeld = 1024

/** A session that only transcribes: no address names its model, which comes with its first update. With both it is a session like any. */
export const asksToTranscribe = ({ req }: Pick<Incoming, 'req'>): boolean => {
  const { intent, model } = req.query
  return intent === 'transcription' && (model === undefined || model === '')
}

type Consumer = { take: (frame: Frame) => Promise<void>; onError: (error: unknown) => void }
type Opening = { model: string; end: CallerEnd }

/**
 * Answers in the upstream's place until the caller names the model that is to transcribe. What was sent before is kept, and taken first by
 * whoever starts the frames of the end that this resolves with, behind the name; meanwhile nothing more is taken from the caller.
 * @throws {DomainError} relay.transcription_unnamed when no model was named in time; what a frame is refused with that finds no room
 */
export async function openTranscription(services: RelayServices, incoming: Incoming, end: CallerEnd): Promise<Opening> {
  const { socket, frames } = end
  const memory = createFrameMemory(services.bodies, networkOf(incoming.ip), 0)
  const named = Promise.withResolvers<string>()
  const started = Promise.withResolvers<Consumer>()
  // It may fail before anybody waits for it.
  named.promise.catch(() => {})
  let buffered: Frame[] = []
  let bytes = leastHeld
  let consumer: Consumer | null = null
  let failure: { error: unknown } | null = null
  let isDropped = false

  const forget = (): void => {
    buffered = []
    memory.end()
  }
  const keep = async (frame: Frame): Promise<void> => {
    // What is refused counts, too: its answer is here for as long as its caller does not read it.
    bytes += weightOf(frame)
    if (bytes > mostBuffered) throw new DomainError('relay.transcription_unnamed')
    await memory.hold(bytes)
    let event: Json = {}
    let model: string | undefined
    try {
      event = readCallerEvent(frame)
      refuseBinaryAudio(event)
      model = transcriberNamed(event)
    } catch (error) {
      return sendError(end, incoming, { error, about: event })
    }
    if (model === undefined) return void buffered.push(frame)
    named.resolve(model)
    const next = await started.promise
    for (const one of [frame, ...buffered]) if (!isDropped) await next.take(one)
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
  try {
    await memory.hold(bytes)
    socket.send(JSON.stringify(createdEvent(incoming)))
    frames.start((frame) => take(frame), fail)
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
