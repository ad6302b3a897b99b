import { isCount, type ReportedUsage, type Usage } from '#core/usage.ts'
import { createReply } from '#relay/chat/delivered.ts'
import { createChoiceEnds, isContent, isEndMark } from '#relay/chat/choice-ends.ts'
import type { ChatEvent, UpstreamFailure } from '#relay/chat/events.ts'
import { moveReasoning } from '#relay/chat/reasoning.ts'
import { createWeight, keepText } from '#relay/providers/shared/answer-record.ts'
import { callerError } from '#relay/attempt/failure.ts'
import type { AttemptContext } from '#relay/attempt/attempt-context.ts'
import { askedOf } from './store-answer.ts'
import type { StreamWriter } from './stream-writer.ts'

/** The upstream's events in the caller's dialect, by way of the hub format. */
export function translatedStream(context: AttemptContext): StreamWriter {
  const { call, provider, providerCall, services, reasoning } = context
  const decoder = provider.chat.stream(providerCall)
  const encoder = call.dialect.stream({
    model: call.request.model,
    includeUsage: call.request.includeUsage,
    includeThoughts: call.request.reasoning?.includeThoughts,
    estimatedPromptTokens: context.promptTokens,
    ambient: services.ambient,
    asJsonArray: call.asJsonArray,
    ...(call.dialect.keepsResponses || call.dialect.keepsInteractions ? askedOf(context) : {}),
  })
  const seen = { usage: undefined as ReportedUsage | undefined, failure: undefined as UpstreamFailure | undefined }
  const text = keepText()
  const ends = createChoiceEnds(context.answers, { resumes: provider.chat.resumes })
  /** Ends that wait for the news that nothing comes behind them: what ends with them would have to be begun anew. */
  const finishes = new Map<number, ChatEvent>()
  const weight = createWeight()
  // Nothing else stores it.
  const reply = services.options.get('LogChatContentEnabled') ? createReply() : null
  let toolCalls = 0
  let images = 0
  let hasContent = false
  let hasBegun = false

  const { fromTags, asText } = reasoning
  const move = fromTags || asText ? moveReasoning(reasoning) : null
  const push = (event: ChatEvent): string => {
    reply?.note(event)
    return encoder.push(event)
  }
  const write = (event: ChatEvent): string => (move ? move(event).map(push).join('') : push(event))
  const finish = (): string => {
    const due = [...finishes.values()].map(write).join('')
    finishes.clear()
    return due
  }
  const take = (events: ChatEvent[]): string => {
    let due = finishes.size > 0 && events.length > 0 && !events.some(isContent) ? finish() : ''
    for (const event of events) {
      if (seen.failure) break
      // An answer that nobody asked for and the dialect has no place for is not delivered.
      if (call.dialect.hasOneAnswer && 'choice' in event && event.choice) continue
      note(event)
      if (event.type === 'error') seen.failure = event.error
      else if (event.type === 'finish') finishes.set(event.choice ?? 0, event)
      else {
        // It was not the end: written now, it would cut off what is open.
        if (provider.chat.resumes && finishes.size > 0 && isContent(event)) {
          finishes.delete(('choice' in event ? event.choice : undefined) ?? 0)
        }
        due += write(event)
      }
    }
    return due
  }
  const note = (event: ChatEvent): void => {
    weight.add(event)
    ends.note(event)
    hasBegun ||= begins(event)
    switch (event.type) {
      case 'text-delta':
      case 'reasoning-delta':
      case 'refusal-delta':
        text.add(event.text)
        hasContent ||= event.text.trim() !== ''
        break
      case 'tool-call-start':
        toolCalls += 1
        text.add(event.name)
        hasContent = true
        break
      case 'tool-call-delta':
        text.add(event.arguments)
        break
      case 'image':
        images += 1
        hasContent = true
        break
      case 'audio-delta':
        text.add(event.transcript ?? '')
        hasContent = true
        break
      case 'usage':
        seen.usage = event.usage
        break
      default:
    }
  }
  /** Whether the figures that went out are those that are charged; nothing is for an answer without content. */
  const isShown = ({ promptTokens, completionTokens }: Usage): boolean =>
    hasContent
      ? seen.usage?.promptTokens === promptTokens && seen.usage.completionTokens === completionTokens
      : isCount(seen.usage?.completionTokens)
  const standing = () => decoder.standing?.()
  const isComplete = (): boolean => ends.areComplete() || standing() === 'ended'
  const counted = () => ({ ...text.stored(), toolCalls, ...(images > 0 ? { images } : {}) })
  return {
    push: (event) => {
      const isLast = isEndMark(event)
      if (isLast) ends.close()
      const due = take(decoder.push(event))
      return isLast || standing() === 'closed' ? due + finish() : due
    },
    end: () => {
      ends.close()
      return take(decoder.end()) + finish()
    },
    close: (measured) => {
      // What was counted here is reported like what the upstream reports.
      const counted = isShown(measured) ? '' : encoder.push({ type: 'usage', usage: measured })
      return counted + encoder.close()
    },
    fail: (failure) => {
      const { requestId, ...error } = callerError(failure, call)
      return encoder.push({ type: 'error', error, requestId }) + encoder.close()
    },
    begun: () => hasBegun,
    complete: isComplete,
    isEnding: () => isComplete() || standing() === 'ending',
    continued: ends.continued,
    usage: () => seen.usage,
    failure: () => seen.failure,
    isEmpty: () => !hasContent,
    written: () => ({ ...counted(), tokens: weight.tokens() }),
    closeCut: (measured) => {
      const open = ends.open()
      if (open.length === 0 && (ends.ended() === 0 || ends.continued())) open.push(0)
      for (const choice of open) finishes.set(choice, { type: 'finish', reason: 'length', choice })
      return finish() + encoder.push({ type: 'usage', usage: measured }) + encoder.close()
    },
    delivered: () => {
      const all = counted()
      return { ...all, ...reply?.beside(all.text) }
    },
  }
}

function begins(event: ChatEvent): boolean {
  switch (event.type) {
    case 'start':
    case 'usage':
    case 'error':
      return false
    case 'text-delta':
    case 'reasoning-delta':
    case 'refusal-delta':
      return event.text !== ''
    default:
      return true
  }
}
