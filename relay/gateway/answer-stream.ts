import { DomainError } from '#core/errors.ts'
import type { ReportedUsage, Usage } from '#core/usage.ts'
import type { ChatEvent, UpstreamFailure, WireEvent } from '#relay/chat/events.ts'
import type { UpstreamReply } from '#relay/upstream/send.ts'
import { asAttemptFailure, type Delivered, masked, measure } from './answer.ts'
import { type CallerStream, openCallerStream } from './caller-stream.ts'
import { AttemptFailed, callerError, failureOfDomainError } from './failure.ts'
import type { Forwarding } from './forward.ts'
import { bookingFailure, finishHungUp, settle, SettleFailed } from './settle.ts'
import { withUsageChunk } from './missing-usage.ts'
import { shapeFailure } from './shape-failure.ts'
import { createEventReader } from './event-reader.ts'
import { createArrayFramer, eventFramer } from './framer.ts'

/** One way of turning upstream events into caller's text: as received, or through the hub format. */
type Passage = {
  /** Text that may leave at once. */
  push: (event: WireEvent) => string
  /** The upstream closed; text that was still due. */
  end: () => string
  /** The closing text, sent after the settlement; `measured` is what was charged. */
  close: (measured: Usage) => string
  /** The text that ends the answer with an error. */
  fail: (failure: UpstreamFailure) => string
  /** Whether the answer came to its own end. */
  readonly complete: boolean
  readonly usage: ReportedUsage | undefined
  readonly failure: UpstreamFailure | undefined
  readonly empty: boolean
  delivered: () => Delivered
}

/** Streams an answer through; whatever happens after the first byte ends here, settled. */
export async function answerStream(forwarding: Forwarding, reply: UpstreamReply): Promise<void> {
  const { call } = forwarding
  const passage = forwarding.native ? nativePassage(forwarding) : translatedPassage(forwarding)
  const asJsonArray = call.asJsonArray
  const caller = openCallerStream(call, {
    contentType: call.dialect.streamContentType({ asJsonArray }),
    losses: forwarding.losses,
  })
  const progress = { firstTokenMs: null as number | null, isStream: true }
  const failure = await pump(forwarding, { reply, passage, caller, progress })
  // Somebody who left but is paid for to the end is not told of failures; what was delivered is charged all the same.
  if (call.gone.signal.aborted && (call.halt.signal.aborted || !failure)) {
    await finishHungUp(forwarding, passage, progress)
  } else if (failure) {
    await endFailed(forwarding, { passage, caller, progress, failure })
  } else {
    await endComplete(forwarding, { passage, caller, progress })
  }
}

type Run = {
  passage: Passage
  caller: CallerStream
  progress: { firstTokenMs: number | null; isStream: boolean }
}

/** Moves events until the upstream ends, fails or nobody listens. Resolves with the failure, if there was one. */
async function pump(forwarding: Forwarding, run: Run & { reply: UpstreamReply }): Promise<UpstreamFailure | undefined> {
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
      return call.gone.signal.aborted ? undefined : failureOfDomainError(new DomainError('relay.stopping'))
    }
    const { failure } = asAttemptFailure(error)
    if (!passage.complete) return failure
    // What broke after the end of the answer took nothing from it.
    text += passage.end()
    await flush()
  } finally {
    reply.cancel()
  }
  if (passage.failure) return passage.failure
  return passage.complete ? undefined : cutFailure
}

const cutFailure: UpstreamFailure = {
  status: 502,
  type: 'upstream_error',
  code: 'stream_response_error',
  message: 'the upstream ended its answer early',
}

async function endComplete(forwarding: Forwarding, { passage, caller, progress }: Run): Promise<void> {
  const { call, attempt } = forwarding
  const measured = await measure(call, attempt.upstreamModel, passage)
  try {
    await settle(forwarding, {
      measured,
      ...progress,
      end: 'complete',
      empty: passage.empty,
      delivered: passage.delivered,
    })
  } catch (error) {
    if (!(error instanceof SettleFailed)) throw error
    await caller.end(passage.fail(bookingFailure()))
    return
  }
  await caller.end(passage.close(measured.usage))
}

/** Before the first byte another channel may answer; after it the caller is told, and pays for what was delivered. */
async function endFailed(forwarding: Forwarding, run: Run & { failure: UpstreamFailure }): Promise<void> {
  const { call, attempt, providerCall } = forwarding
  const { passage, caller, progress } = run
  const failure = masked(shapeFailure(forwarding.services, forwarding.attempt.channel, run.failure), [
    attempt.key.value,
    providerCall.channel.baseUrl,
  ])
  if (!caller.started || progress.firstTokenMs === null) throw new AttemptFailed(failure, { local: false })
  const { usage, delivered } = passage
  const measured = await measure(call, attempt.upstreamModel, { usage, delivered, cut: true })
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

function nativePassage(forwarding: Forwarding): Passage {
  const { native, call } = forwarding
  if (!native) throw new Error('no native dialect')
  const listener = native.listen({ includeUsage: call.request.includeUsage })
  const framer = call.asJsonArray ? createArrayFramer() : eventFramer
  let held = ''
  let holding = false
  return {
    push: (event) => {
      const verdict = listener.push(event)
      if (verdict === 'drop' || verdict === 'failed') return ''
      if (verdict === 'hold') holding = true
      const text = framer.frame(event)
      if (!holding) return text
      held += text
      return ''
    },
    end: () => '',
    close: (measured) => {
      const isMissed = call.dialect.id === 'openai-chat' && call.request.includeUsage && !listener.usage
      return (isMissed ? withUsageChunk(held, measured) : held) + framer.close()
    },
    fail: (failure) => {
      const told = callerError(failure, call.id)
      return framer.fail({ event: call.dialect.streamError(told), body: call.dialect.error(told).body })
    },
    get complete() {
      return listener.complete
    },
    get usage() {
      return listener.usage
    },
    get failure() {
      return listener.failure
    },
    get empty() {
      if (listener.usage) return false
      const { text, toolCalls } = listener.delivered()
      return text.trim() === '' && toolCalls === 0
    },
    delivered: () => listener.delivered(),
  }
}

function translatedPassage(forwarding: Forwarding): Passage {
  const { call, provider, providerCall, services } = forwarding
  const decoder = provider.chat.stream(providerCall)
  const encoder = call.dialect.stream({
    model: call.request.model,
    includeUsage: call.request.includeUsage,
    estimatedPromptTokens: call.estimate.promptTokens,
    ambient: services.ambient,
    asJsonArray: call.asJsonArray,
    callerBody: call.body.json,
  })
  const seen = { usage: undefined as ReportedUsage | undefined, failure: undefined as UpstreamFailure | undefined }
  const texts: string[] = []
  let toolCalls = 0
  let finished = false
  let hasContent = false

  const take = (events: ChatEvent[]): string => {
    let text = ''
    for (const event of events) {
      if (seen.failure) break
      note(event)
      if (event.type === 'error') seen.failure = event.error
      else text += encoder.push(event)
    }
    return text
  }
  const note = (event: ChatEvent): void => {
    switch (event.type) {
      case 'text-delta':
      case 'reasoning-delta':
      case 'refusal-delta':
        texts.push(event.text)
        hasContent ||= event.text.trim() !== ''
        break
      case 'tool-call-start':
        toolCalls += 1
        texts.push(event.name)
        hasContent = true
        break
      case 'tool-call-delta':
        texts.push(event.arguments)
        break
      case 'image':
      case 'audio-delta':
        hasContent = true
        break
      case 'usage':
        seen.usage = event.usage
        break
      case 'finish':
        finished = true
        break
      default:
    }
  }
  return {
    push: (event) => take(decoder.push(event)),
    end: () => take(decoder.end()),
    close: (measured) => {
      // What was counted here is told like what the upstream reports.
      const text = seen.usage ? '' : encoder.push({ type: 'usage', usage: measured })
      return text + encoder.close()
    },
    fail: (failure) => {
      const told = { ...failure, message: `${failure.message} (request id: ${call.id})` }
      return encoder.push({ type: 'error', error: told }) + encoder.close()
    },
    get complete() {
      return finished
    },
    get usage() {
      return seen.usage
    },
    get failure() {
      return seen.failure
    },
    get empty() {
      return !hasContent
    },
    delivered: () => ({ text: texts.join(''), toolCalls }),
  }
}
