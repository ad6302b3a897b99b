import { type ReportedUsage, normaliseUsage, totalTokens } from '#core/usage.ts'
import { replayResponse } from '#relay/chat/collect.ts'
import type { ChatResponse, FinishReason, StreamEncoder } from '#relay/chat/events.ts'
import { type Fields, isObject } from '#relay/chat/json.ts'
import { geminiError } from '../gemini/error.ts'
import { shownError } from '../error-text.ts'
import type { CallerError, EncodeContext } from '../types.ts'
import { createAnswerSteps } from './answer-steps.ts'
import { interactionPrefix } from './ids.ts'

const statuses = {
  stop: 'completed',
  'tool-calls': 'requires_action',
  length: 'incomplete',
  'content-filter': 'incomplete',
} satisfies Record<FinishReason, string>

/** What an interaction repeats of its request. */
const repeated = [
  'previous_interaction_id',
  'system_instruction',
  'tools',
  'generation_config',
  'response_format',
  'labels',
]

/** What opens a remote server is not repeated: answers are stored, logged and passed on. */
const withoutSecrets = (name: string, value: unknown): unknown =>
  name === 'tools' && Array.isArray(value)
    ? value.map((tool: unknown) => (isObject(tool) ? { ...tool, headers: undefined } : tool))
    : value

/** The part of an interaction that stays the same from its first event to its last. */
function headOf({ ambient, model, callerBody = {} }: EncodeContext): Fields {
  const created = `${ambient.now().toISOString().slice(0, 19)}Z`
  const echo = repeated.flatMap((name) =>
    callerBody[name] === undefined ? [] : [[name, withoutSecrets(name, callerBody[name])] as const],
  )
  const id = `${interactionPrefix}${ambient.newId(32)}`
  return { id, object: 'interaction', model, created, updated: created, ...Object.fromEntries(echo) }
}

function toUsage(reported: ReportedUsage): Fields {
  const { usage } = normaliseUsage(reported)
  return {
    total_input_tokens: usage.promptTokens,
    total_cached_tokens: usage.cachedTokens,
    total_output_tokens: usage.completionTokens - usage.reasoningTokens,
    total_thought_tokens: usage.reasoningTokens,
    total_tool_use_tokens: 0,
    total_tokens: totalTokens(usage),
  }
}

type Ending = { steps: Fields[]; reason: FinishReason; usage: ReportedUsage | undefined }

const finished = (head: Fields, { steps, reason, usage }: Ending): Fields => ({
  ...head,
  status: statuses[steps.some(({ type }) => type === 'function_call') && reason === 'stop' ? 'tool-calls' : reason],
  steps,
  ...(usage === undefined ? {} : { usage: toUsage(usage) }),
})

/** Hub answer → interaction. Further choices have no place in this dialect. */
export function encodeInteraction(response: ChatResponse, context: EncodeContext): unknown {
  const answer = createAnswerSteps(() => {})
  for (const event of replayResponse(response)) if (!('choice' in event) || !event.choice) answer.push(event)
  answer.close()
  const reason = response.choices[0]?.finish ?? 'stop'
  return finished(headOf(context), { steps: answer.steps, reason, usage: response.usage })
}

const eventText = (type: string, fields: Fields): string =>
  `event: ${type}\ndata: ${JSON.stringify({ event_type: type, ...fields })}\n\n`

/** An error as the event that ends a stream. */
export function interactionStreamError(error: CallerError): string {
  const { body } = geminiError(error)
  const { status, message } = (body as { error: { status: string; message: string } }).error
  return eventText('error', { error: { code: status.toLowerCase(), message } })
}

/** Hub events → events of an interaction; the closing one, which holds all of it, waits for `close`. */
export function streamInteraction(context: EncodeContext): StreamEncoder {
  let text = ''
  const answer = createAnswerSteps((type, fields) => {
    text += eventText(type, fields)
  })
  let head: Fields | undefined
  let failed = false
  let usage: ReportedUsage | undefined
  let reason: FinishReason = 'stop'
  const begin = (): void => {
    if (head) return
    head = headOf(context)
    text += eventText('interaction.created', { interaction: { ...head, status: 'in_progress' } })
  }
  const taken = (): string => {
    const due = text
    text = ''
    return due
  }
  const fail = (error: CallerError): string => {
    failed = true
    return taken() + interactionStreamError(error)
  }
  return {
    push(event) {
      if (failed) return ''
      if (event.type === 'error') return fail(shownError(event))
      if (event.type === 'usage') {
        usage = event.usage
        return ''
      }
      begin()
      if (event.type === 'start' || event.choice) return taken()
      if (event.type === 'finish') {
        reason = event.reason
        answer.close()
      } else answer.push(event)
      return taken()
    },
    close() {
      if (failed) return ''
      begin()
      answer.close()
      const interaction = finished(head ?? {}, { steps: answer.steps, reason, usage })
      return `${taken()}${eventText('interaction.completed', { interaction })}event: done\ndata: [DONE]\n\n`
    },
  }
}
