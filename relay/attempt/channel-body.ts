import type { ReasoningPlace } from '#relay/chat/reasoning.ts'
import type { CallerDialect } from '#relay/dialects/types.ts'
import type { ChatRequest, Message } from '#relay/chat/request.ts'
import { isUnstreamed } from '#relay/providers/registry.ts'
import type { Attempt, Call, CallBody, RelayServices } from '#relay/request/call.ts'
import { passesThrough } from '#relay/upstream-call/channel.ts'

/** A call's request as one channel sends it: its system prompt set, streaming off where the upstream has none, on where it has nothing else. */
export type ChannelRequest = {
  request: ChatRequest
  body: CallBody
  /** The channel's system prompt is in it. */
  hasChannelPrompt: boolean
  /** It stands in front of the caller's own. */
  leadsSystemPrompt: boolean
  /** What the model was instructed is not all the caller's own, and an answer that repeats it not the caller's to read. */
  hidesInstructions: boolean
}

/** The channel's own system prompt, from either of its places; "" where it has none. */
export const systemPromptOf = ({ systemPrompt, setting }: Attempt['channel']): string =>
  systemPrompt || (typeof setting['system_prompt'] === 'string' ? setting['system_prompt'] : '')

/** The same as far as calls of a dialect are sent with it; "" where they are not. */
export const addedPromptOf = (services: RelayServices, { dialect }: Call, channel: Attempt['channel']): string =>
  dialect.withSystemPrompt && !passesThrough(channel.setting, services) ? systemPromptOf(channel) : ''

/** The channel instructs the model itself, by its system prompt or by an override of the responses form. */
export const instructs = (services: RelayServices, channel: Attempt['channel']): boolean =>
  !passesThrough(channel.setting, services) &&
  (systemPromptOf(channel) !== '' || channel.paramOverride?.['instructions'] !== undefined)

export function forChannel(services: RelayServices, call: Call, attempt: Attempt): ChannelRequest {
  const { channel } = attempt
  const { setting } = channel
  const { withSystemPrompt } = call.dialect
  let { request, body } = call
  let leadsSystemPrompt = false
  const prompt = addedPromptOf(services, call, channel)
  if (withSystemPrompt && prompt !== '') {
    const before = setting['system_prompt_override'] === true
    leadsSystemPrompt = before && request.messages[0]?.role === 'system'
    request = { ...request, messages: withPrompt(request.messages, prompt, before) }
    body = rewritten(body, (json) => withSystemPrompt(json, { prompt, before }))
  }
  if (isUnstreamed(attempt, call.request)) {
    if (request.stream) body = rewritten(body, ({ stream: _stream, stream_options: _options, ...rest }) => rest)
    request = { ...request, stream: false }
  } else if (setting['force_stream'] === true && !request.stream) {
    request = { ...request, stream: true }
  }
  const hidesInstructions = instructs(services, channel)
  return { request, body, hasChannelPrompt: prompt !== '', leadsSystemPrompt, hidesInstructions }
}

type Json = Record<string, unknown>

const rewritten = (body: CallBody, change: (json: Json) => Json): CallBody => {
  const json = change(body.json)
  return { json, bytes: Buffer.from(JSON.stringify(json)) }
}

/** Replaces the first message when it is the caller's system message, else goes in front. */
function withPrompt(messages: Message[], prompt: string, before: boolean): Message[] {
  const own: Message = { role: 'system', content: [{ type: 'text', text: prompt }] }
  return messages[0]?.role === 'system' && !before ? [own, ...messages.slice(1)] : [own, ...messages]
}

type Setting = Readonly<Record<string, unknown>>

/** What a channel's `setting` wants done to answers on their way to callers. */
type AnswerSettings = {
  reasoning: ReasoningPlace
  /** An answer in the caller's own dialect is read and written anew instead of going out as received. */
  rewrites: boolean
}

/**
 * Chat completions have no agreed place for reasoning, so the settings that move it or bring answers to the canonical
 * shape change those. Dialects that have one keep their reasoning, which goes back signed; reasoning in tags becomes reasoning
 * wherever an answer is translated.
 */
export function answerSettings(
  setting: Setting,
  { hasReasoningPlace }: Pick<CallerDialect, 'hasReasoningPlace'>,
  request: Pick<ChatRequest, 'reasoning'>,
): AnswerSettings {
  const fromTags = setting['think_tag_to_reasoning'] === true
  const asText = !hasReasoningPlace && setting['thinking_to_content'] === true
  return {
    // What the caller excludes is moved nowhere, and left out where it stands.
    reasoning: { fromTags, asText: asText && request.reasoning?.includeThoughts !== false },
    rewrites: !hasReasoningPlace && (setting['force_format'] === true || fromTags || asText),
  }
}
