import { DomainError } from '#core/errors.ts'
import type { NativeBody, NativeDialect, ProviderCall } from '../types.ts'
import { messageIds } from '../shared/held-objects.ts'
import { deliveredBy } from '#relay/chat/delivered.ts'
import { isEmptyResponse, nameless } from '../shared/answer-record.ts'
import { inspectUnreadable } from '../shared/inspect-unreadable.ts'
import { type Json, listOf, numberOf, recordOf, recordsOf, withoutAbsent } from '../shared/json.ts'
import { rewriteBody } from '../shared/rewrite-body.ts'
import { goOn } from './conversation.ts'
import { joinLaterInstructions } from './later-instructions.ts'
import { listenToClaude } from './listen.ts'
import { isClaudeOpening } from './opening.ts'
import type { ClaudeTraits } from './models.ts'
import { type ClaudeHost, planOf } from './request.ts'
import { fromClaudeResponse } from './response.ts'
import { answerLimit, suffixThinking, thinkingBase } from './thinking.ts'
import { dropUnprovenSearches } from './unproven-searches.ts'
import { dropUnprovenReasoning, isReasoning, isRoundWithoutReasoning } from './unsigned-reasoning.ts'
import { readUsage } from './usage.ts'

/** Whether the conversation ends with the beginning of an answer that was not thought about. */
function beginsAnswer(messages: readonly unknown[]): boolean {
  const { role, content } = recordOf(messages.at(-1)) ?? {}
  if (role !== 'assistant') return false
  const blocks = recordsOf(content)
  return typeof content === 'string' || (blocks.at(-1)?.['type'] === 'text' && !blocks.some(isReasoning))
}

/** Brings what the caller wrote without thinking to what the model takes while it thinks; names what is given up. */
function fitThinking(body: Json, traits: ClaudeTraits): string[] {
  delete body['top_p']
  delete body['top_k']
  if (traits.sampling === 'refused') delete body['temperature']
  else body['temperature'] = 1
  const messages = listOf(body['messages'])
  if (traits.prefill && beginsAnswer(messages)) {
    body['messages'] = [...messages, { role: 'user', content: goOn }]
  }
  const choice = recordOf(body['tool_choice'])
  if (choice?.['type'] !== 'any' && choice?.['type'] !== 'tool') return []
  body['tool_choice'] = withoutAbsent({ ...choice, type: 'auto', name: undefined })
  return ['tool_choice']
}

/** The thinking that the suffix of the name asks for, unless the caller says it in the body. */
function applySuffix(
  body: Json,
  call: ProviderCall,
  wanted: number | undefined,
): { thinks: boolean; losses: string[] } {
  const { suffix, traits, share } = planOf(call.model, call)
  body['model'] = suffix.model
  if (!suffix.thinking || body['thinking'] !== undefined) return { thinks: false, losses: [] }
  const { thinking, effort, maxTokens, on } = suffixThinking(suffix, numberOf(body['max_tokens']) ?? 0, {
    traits,
    share,
    base: thinkingBase(wanted, numberOf(body['max_tokens']) ?? 0),
  })
  if (!on) return { thinks: false, losses: [] }
  if (traits.thinking === 'budget' && isRoundWithoutReasoning(body['messages'])) {
    return { thinks: false, losses: ['thinking'] }
  }
  body['thinking'] = thinking
  body['max_tokens'] = maxTokens
  if (effort !== undefined) body['output_config'] = { ...recordOf(body['output_config']), effort }
  return { thinks: true, losses: fitThinking(body, traits) }
}

/** Later instructions are left where they stand by the vendor's own models alone, and by those of them that know any. */
const joinsInstructions = (host: ClaudeHost, { laterInstructions }: ClaudeTraits): boolean =>
  host.keepsThreads !== true || !laterInstructions

function nativeRequest(host: ClaudeHost, native: NativeBody, call: ProviderCall) {
  const body: Json = { ...native.json }
  if (host.keepsThreads !== true) refuseThread(body)
  const { traits } = planOf(call.model, call)
  const unplaced = joinsInstructions(host, traits) ? joinLaterInstructions(body, { takesEffort: traits.effort }) : []
  // An explicit zero only warms the cache, which this vendor takes.
  body['max_tokens'] ??= answerLimit(undefined, call, traits.maxOutput)
  const unproven = dropUnprovenReasoning(body, { traits, isRefused: call.isRefusedProof })
  const { thinks, losses: unfit } = applySuffix(body, call, numberOf(native.json['max_tokens']))
  if ((body['stream'] === true) !== call.stream) body['stream'] = call.stream
  const losses = [
    ...unplaced,
    ...unproven,
    ...unfit,
    ...dropUnprovenSearches(body),
    ...(host.shape?.(body, call) ?? []),
  ]
  const needs = { sampling: thinks && body['temperature'] !== undefined, files: false }
  return {
    method: 'POST' as const,
    url: host.url(call),
    headers: host.headers(call, needs),
    body: rewriteBody(native, body),
    losses,
  }
}

/**
 * Its client then sends the whole conversation again; without it the model would be asked about nothing.
 * @throws {DomainError} unsupported.thread
 */
export function refuseThread(body: Json): void {
  if ((body['thread'] ?? null) === null) return
  throw new DomainError('unsupported.thread')
}

const spoken = new Set<unknown>(['text', 'thinking', 'redacted_thinking'])

/** Runs of the vendor's own tools and compactions are answers too. */
const isOnlySpoken = (json: unknown): boolean =>
  recordsOf(recordOf(json)?.['content']).every(({ type }) => spoken.has(type))

function inspect(json: unknown): ReturnType<NativeDialect['inspect']> {
  const usage = recordOf(recordOf(json)?.['usage'])
  const reported = usage ? { usage: readUsage(usage) } : {}
  try {
    const response = fromClaudeResponse(json, nameless)
    const keeps = messageIds(json)
    return {
      ...reported,
      keeps,
      delivered: () => deliveredBy(response),
      empty: isEmptyResponse(response) && isOnlySpoken(json),
    }
  } catch (error) {
    return inspectUnreadable(error, reported)
  }
}

/** The messages dialect of any host that speaks it: the vendor itself, or another with an address for it. */
export const nativeClaude = (host: ClaudeHost): NativeDialect => ({
  request: (body, call) => nativeRequest(host, body, call),
  joinsToolChanges: (call) => joinsInstructions(host, planOf(call.model, call).traits),
  listen: () => listenToClaude(),
  isOpening: isClaudeOpening,
  inspect,
})
