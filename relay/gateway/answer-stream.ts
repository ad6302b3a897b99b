import { DomainError } from '#core/errors.ts'
import type { UpstreamFailure } from '#relay/chat/events.ts'
import type { UpstreamReply } from '#relay/upstream/send.ts'
import { maskFailure } from '#relay/upstream/mask-failure.ts'
import { asAttemptFailure, measure } from './answer.ts'
import { attemptSecrets } from './attempt-secrets.ts'
import { type CallerStream, openCallerStream } from './caller-stream.ts'
import { AttemptFailed, failureOfDomainError } from './failure.ts'
import type { Forwarding } from './forward.ts'
import { bookingFailure, finishHungUp, settle, SettleFailed } from './settle.ts'
import { nativePassage } from './native-passage.ts'
import type { Passage } from './passage.ts'
import { shapeFailure } from './shape-failure.ts'
import { createEventReader } from '#relay/upstream/event-reader.ts'
import { translatedPassage } from './translated-passage.ts'

/** Streams an answer through; whatever happens after the first byte ends here, settled. */
export async function answerStream(forwarding: Forwarding, reply: UpstreamReply): Promise<void> {
  const { call } = forwarding
  const passage = forwarding.listens ? nativePassage(forwarding) : translatedPassage(forwarding)
  const asJsonArray = call.asJsonArray
  const caller = openCallerStream(call, {
    contentType: call.dialect.streamContentType({ asJsonArray }),
    losses: forwarding.losses,
  })
  const progress = { firstTokenMs: null as number | null, isStream: true }
  const broken = await pump(forwarding, { reply, passage, caller, progress })
  // Somebody who left but is paid for to the end is not told of failures; what was delivered is charged all the same.
  if (call.gone.signal.aborted && (call.halt.signal.aborted || !broken)) {
    await finishHungUp(forwarding, passage, progress)
  } else if (broken) {
    await endFailed(forwarding, { passage, caller, progress, broken })
  } else {
    await endComplete(forwarding, { passage, caller, progress })
  }
}

type Run = {
  passage: Passage
  caller: CallerStream
  progress: { firstTokenMs: number | null; isStream: boolean }
}

/** How a stream failed; `connection`: by no word of the upstream's. */
type Broken = { failure: UpstreamFailure; connection: boolean }

const worded = (failure: UpstreamFailure): Broken => ({ failure, connection: false })

/** Moves events until the upstream ends, fails or nobody listens. Resolves with the failure, if there was one. */
async function pump(forwarding: Forwarding, run: Run & { reply: UpstreamReply }): Promise<Broken | undefined> {
  const { call } = forwarding
  const { passage, caller, progress, reply } = run
  let text = ''
  const parser = createEventReader(forwarding.provider, reply, (event) => {
    if (passage.failure) return
    text += passage.push(event)
  })
  const flush = async (): Promise<void> => {
    if (text === '') return
    progress.firstTokenMs ??= performance.now() - call.startedAt
    const due = text
    text = ''
    await caller.write(due)
  }
  try {
    for await (const chunk of reply.body) {
      parser.push(chunk)
      await flush()
      if (passage.failure || call.halt.signal.aborted) break
    }
    if (!passage.failure && !call.halt.signal.aborted) {
      parser.end()
      text += passage.end()
      await flush()
    }
  } catch (error) {
    if (call.halt.signal.aborted) {
      return call.gone.signal.aborted ? undefined : worded(failureOfDomainError(new DomainError('relay.stopping')))
    }
    const { failure, connection } = asAttemptFailure(error)
    if (!passage.complete) return { failure, connection }
    // What broke after the end of the answer took nothing from it.
    text += passage.end()
    await flush()
  } finally {
    reply.cancel()
  }
  if (passage.failure) return worded(passage.failure)
  return passage.complete ? undefined : worded(cutFailure)
}

const cutFailure: UpstreamFailure = {
  status: 502,
  type: 'upstream_error',
  code: 'stream_response_error',
  message: 'the upstream ended its answer early',
}

async function endComplete(forwarding: Forwarding, { passage, caller, progress }: Run): Promise<void> {
  const measured = await measure(forwarding, passage)
  try {
    await settle(forwarding, {
      measured,
      ...progress,
      end: 'complete',
      empty: passage.empty,
      delivered: passage.delivered,
      keeps: passage.keeps,
    })
  } catch (error) {
    if (!(error instanceof SettleFailed)) throw error
    await caller.end(passage.fail(bookingFailure()))
    return
  }
  await caller.end(passage.close(measured.usage))
}

/** Before the first byte another channel may answer; after it the caller is told, and pays for what was delivered. */
async function endFailed(forwarding: Forwarding, run: Run & { broken: Broken }): Promise<void> {
  const { attempt, providerCall } = forwarding
  const { passage, caller, progress } = run
  const failure = maskFailure(
    shapeFailure(forwarding.services, attempt.channel, run.broken.failure),
    attemptSecrets(attempt, providerCall),
  )
  if (!caller.started || progress.firstTokenMs === null) {
    throw new AttemptFailed(failure, { local: false, connection: run.broken.connection })
  }
  const { usage, delivered } = passage
  const measured = await measure(forwarding, { usage, delivered, cut: true })
  await settle(forwarding, {
    measured,
    ...progress,
    end: 'failed',
    empty: false,
    failure: failure.message,
    delivered: passage.delivered,
  }).catch((error: unknown) => {
    if (!(error instanceof SettleFailed)) throw error
  })
  await caller.end(passage.fail(failure))
}
