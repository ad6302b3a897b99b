import { formatSseEvent } from '#relay/transport/sse.ts'
import type { WireEvent } from '#relay/transport/framing.ts'
import { callerError } from '#relay/attempt/failure.ts'
import type { AttemptContext } from '#relay/attempt/attempt-context.ts'
import { tryRecord, wordOf } from '#relay/providers/shared/json.ts'
import { isNothing } from '#relay/chat/delivered.ts'
import { createTextSetter } from '#relay/chat/text-at.ts'
import { instructionsSetter } from './own-instructions.ts'
import type { StreamWriter } from './stream-writer.ts'

/** The upstream's own events, watched and sent on as they came. */
export function passthroughStream(context: AttemptContext): StreamWriter {
  const { listens, call } = context
  if (!listens) throw new Error('no native dialect')
  const choices = context.answers
  const listener = listens.listen({ includeUsage: call.request.includeUsage, choices })
  const withModel = createTextSetter(call.request.model)
  const withOwnInstructions = context.sent.hidesInstructions ? instructionsSetter(context) : undefined
  const named = (received: WireEvent): WireEvent => {
    const event = withOwnInstructions ? { ...received, data: withOwnInstructions(received.data, 'event') } : received
    const place = call.dialect.modelPlace?.event(event)
    return place ? { ...event, data: withModel(event.data, place) } : event
  }
  const withName = call.dialect.namesEvents === true ? nameEvent : (event: WireEvent) => event
  const framed = (events: WireEvent[]): string => events.map((event) => framer.frame(named(event))).join('')
  const framer = call.asJsonArray ? createArrayFramer() : eventFramer
  const cutter = call.dialect.cutter({
    includeUsage: call.request.includeUsage,
    choiceCount: choices,
    model: call.request.model,
    ambient: context.services.ambient,
  })
  let held = ''
  let holding = false
  let hasBegun = false
  return {
    push: (received) => {
      const event = withName(received)
      // Callers see complete events only.
      if (event.unfinished && !isComplete(event)) return ''
      const verdict = listener.push(event)
      if (verdict === 'drop' || verdict === 'failed') return ''
      let due = ''
      if (verdict === 'hold') holding = true
      else if (verdict === 'resume') {
        due = held
        held = ''
        holding = listener.complete
      }
      hasBegun ||= !listens.isOpening(event)
      cutter.watch(event, holding)
      const text = framer.frame(named(event))
      if (!holding) return due + text
      held += text
      return due
    },
    end: () => {
      listener.close?.()
      return ''
    },
    close: (measured) => {
      const mark = cutter.mark?.()
      const closing = mark ? held + framer.frame(mark) : held
      const isMissed = call.request.includeUsage && !listener.usage()
      return ((isMissed ? call.dialect.withUsage?.(closing, measured) : undefined) ?? closing) + framer.close()
    },
    fail: (failure) => {
      const error = callerError(failure, call)
      // Of an answer that goes on and on the last piece waits with its end.
      const rest = listener.continued ? held : ''
      if (cutter.fail) return rest + framed(cutter.fail(error))
      const event = call.dialect.streamError(error, { ambient: context.services.ambient })
      return rest + framer.fail({ event, body: call.dialect.error(error).body })
    },
    begun: () => hasBegun,
    complete: () => listener.complete,
    isEnding: () => listener.complete,
    continued: () => listener.continued,
    usage: listener.usage,
    failure: () => listener.failure,
    isEmpty: () => isNothing(listener.delivered()),
    written: listener.written,
    closeCut: (measured) =>
      held + framed(cutter.end({ usage: measured, text: listener.delivered().text })) + framer.close(),
    delivered: () => listener.delivered(),
    keeps: () => listener.keeps,
  }
}

/** Some hosts leave the name to the data; clients of the dialect read events with a name alone. */
function nameEvent(event: WireEvent): WireEvent {
  if (event.event !== undefined) return event
  const name = /^\{\s*"type"\s*:\s*"([a-z_.]+)"/.exec(event.data)?.[1] ?? wordOf(tryRecord(event.data)?.['type'])
  return name === undefined ? event : { ...event, event: name }
}

function isComplete({ data }: WireEvent): boolean {
  if (data === '[DONE]') return true
  try {
    JSON.parse(data)
    return true
  } catch {
    return false
  }
}

/** How native events are written to the caller. */
type Framer = {
  frame: (event: WireEvent) => string
  close: () => string
  /** Ends the answer with an error that the dialect has already put in words. */
  fail: (error: { event: string; body: unknown }) => string
}

const eventFramer: Framer = { frame: formatSseEvent, close: () => '', fail: ({ event }) => event }

/** The JSON array that a Gemini caller without `alt=sse` reads. */
function createArrayFramer(): Framer {
  let first = true
  return {
    frame: ({ data }) => {
      const lead = first ? '[' : ',\n'
      first = false
      return lead + data
    },
    close: () => (first ? '[]' : ']'),
    fail: ({ body }) => `${first ? '[' : ',\n'}${JSON.stringify(body)}]`,
  }
}
