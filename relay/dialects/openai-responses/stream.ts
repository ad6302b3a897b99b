import type { ReportedUsage } from '#core/usage.ts'
import type { ChatEvent, FinishReason, StreamEncoder } from '#relay/chat/events.ts'
import { shownError } from '../error-text.ts'
import type { CallerError, EncodeContext, FailedCall } from '../types.ts'
import { failedOutcome, toErrorFields } from './error.ts'
import { asksForCompaction } from './compaction.ts'
import { calledAs } from './agent-tools.ts'
import { createEventWriter } from './event-writer.ts'
import { type ResponseHead, finishedResponse, outcomeOf, responseHead } from './response-object.ts'
import { createItems } from './stream-items.ts'

type ContentEvent = Exclude<ChatEvent, { type: 'start' | 'usage' | 'error' | 'finish' | 'logprobs' }>

/** Hub events → response events; the closing one, which repeats the whole response, waits for `close`. */
export function streamOpenAiResponses(context: EncodeContext): StreamEncoder {
  const writer = createEventWriter()
  const items = createItems(writer, context.ambient, calledAs(context.sentBody ?? {}))
  const compacts = asksForCompaction(context.sentBody ?? {})
  let summary = ''
  let head: ResponseHead | undefined
  let failed = false
  let usage: ReportedUsage | undefined
  let reason: FinishReason | undefined

  const headOf = (id: string): ResponseHead => (head ??= responseHead(id, context))
  const begin = (id: string): string => {
    if (head !== undefined) return ''
    const open = { status: 'in_progress', completed_at: null, error: null, incomplete_details: null }
    const response = { ...headOf(id), ...open, output: [], usage: null }
    return writer.event('response.created', { response }) + writer.event('response.in_progress', { response })
  }
  const settle = (): string =>
    items.settle(outcomeOf(reason ?? 'stop').status === 'incomplete' ? 'incomplete' : 'completed')
  const fail = (error: CallerError): string => {
    failed = true
    const opening = begin('') + items.settle('incomplete')
    const response = { ...headOf(''), store: false, ...failedOutcome(error), output: items.output, usage: null }
    return opening + writer.event('error', toErrorFields(error)) + writer.event('response.failed', { response })
  }

  return {
    push(event) {
      if (failed) return ''
      if (event.type === 'error') return fail(shownError(event))
      if (event.type === 'start') return begin(event.id)
      if (event.type === 'usage') {
        usage = event.usage
        return ''
      }
      // The dialect has one answer only, and no place for probabilities.
      if ((event.choice ?? 0) !== 0 || event.type === 'logprobs') return ''
      const opening = begin('')
      if (event.type !== 'finish' && compacts) {
        if (event.type === 'text-delta') summary += event.text
        return opening
      }
      if (event.type !== 'finish') return opening + writeContent(items, event)
      reason = event.reason
      return opening + settle()
    },
    close() {
      if (failed) return ''
      const opening = begin('')
      const ending = opening + (summary.trim() === '' ? '' : items.compact(summary)) + settle()
      const answer = { reason: reason ?? 'stop', output: items.output, usage }
      const response = finishedResponse(headOf(''), answer, context)
      return ending + writer.event(`response.${response.status}`, { response })
    },
  }
}

/** A stream that has nothing but a failure in it. */
export const responsesStreamError = (
  { requestId, ...error }: CallerError,
  { model = '', ...call }: FailedCall,
): string =>
  streamOpenAiResponses({ model, includeUsage: false, estimatedPromptTokens: 0, ...call }).push({
    type: 'error',
    error,
    requestId,
  })

function writeContent(items: ReturnType<typeof createItems>, event: ContentEvent): string {
  switch (event.type) {
    case 'text-delta':
      return items.say('text', event.text)
    case 'refusal-delta':
      return items.say('refusal', event.text)
    case 'audio-delta':
      return items.say('transcript', event.transcript ?? '')
    case 'image':
      return items.show(event.data)
    case 'citation':
      return items.cite(event.citation)
    case 'web-search':
      return items.search(event.search)
    case 'mcp-call':
      return items.callRemote(event.call)
    case 'reasoning-delta':
      return items.think(event.text)
    case 'reasoning-signature':
      return items.endReasoning()
    case 'reasoning-encrypted':
      return event.dialect === 'openai-responses' ? items.endReasoning(event.data) : items.endReasoning()
    case 'tool-call-start':
    case 'tool-call-delta':
    case 'tool-call-end':
      return items.call(event)
  }
}
