import { DomainError } from '#core/errors.ts'
import { joinPath } from '../../shared/join-path.ts'
import type { ReportedUsage } from '#core/usage.ts'
import type { ChatRequest } from '#relay/chat/request.ts'
import { openAiCompatible } from '../index.ts'
import { xaiImageEdits, xaiImages } from './xai-images.ts'
import { effortOf } from '../request.ts'
import { readUsage } from '../usage.ts'
import { countOf, type Json, recordOf, sumOf } from '../../shared/json.ts'

const thinks = (model: string): boolean =>
  !model.includes('non-reasoning') && /^grok-(3-mini|[4-9]|build|code)/.test(model)

function adjust(body: Json): string[] {
  const model = String(body['model'])
  if (model.endsWith('-search')) {
    throw new DomainError('unsupported.live_search')
  }
  const suffix = /^(grok-3-mini.*)-(high|medium|low)$/.exec(model)
  if (suffix) {
    body['model'] = suffix[1]
    body['reasoning_effort'] = suffix[2]
  }
  if (!thinks(String(body['model']))) return []
  const refused = ['presence_penalty', 'frequency_penalty', 'stop'].filter((name) => body[name] !== undefined)
  for (const name of refused) delete body[name]
  return refused
}

/** Only the small model takes an effort from callers of other dialects; the larger ones differ from release to release. */
function reasoning(body: Json, request: ChatRequest): void {
  const input = request.reasoning
  if (!input) return
  if (request.extra.dialect === 'openai-chat') {
    if (input.effort !== undefined) body['reasoning_effort'] = input.effort
    return
  }
  const effort = effortOf(input, request.extra.dialect)
  if (effort === undefined || effort === 'none' || !String(body['model']).startsWith('grok-3-mini')) return
  body['reasoning_effort'] = effort === 'high' || effort === 'xhigh' || effort === 'max' ? 'high' : 'low'
}

/** Reasoning is counted beside the answer here, and cached tokens sometimes beside the prompt. */
function usage(counts: Json): ReportedUsage {
  const reported = readUsage(counts)
  const prompt = reported.promptTokens ?? undefined
  const cached = reported.cachedTokens ?? undefined
  const apart = prompt !== undefined && cached !== undefined && cached > prompt
  const total = countOf(counts['total_tokens'])
  const written = countOf(counts['completion_tokens'])
  const reasoningText = countOf(recordOf(counts['completion_tokens_details'])?.['reasoning_tokens'])
  // A total beside a prompt without its cache says nothing sure of the output: the cache may be in it.
  const rest = !apart && total !== undefined && prompt !== undefined && total >= prompt ? total - prompt : undefined
  return {
    ...reported,
    promptTokens: apart ? sumOf(prompt, cached) : prompt,
    completionTokens: rest ?? sumOf(written, reasoningText),
  }
}

export const xai = openAiCompatible({
  id: 'xai',
  telemetryName: 'x_ai',
  label: 'xAI',
  channelTypes: [48],
  responsesUrl: ({ channel }) => joinPath(channel.baseUrl, '/v1', '/responses'),
  ownSuffix: /^grok-3-mini.*-(high|medium|low)$|-search$/,
  realtimeUrl: ({ channel, model }) =>
    `${joinPath(channel.baseUrl, '/v1', '/realtime')}?model=${encodeURIComponent(model)}`,
  realtimeBillsUnread: true,
  reasoning,
  adjust,
  usage,
  plain: { images: xaiImages, 'image-edits': xaiImageEdits },
  // Callers are sent the whole output, reasoning included, so the answer cannot go through as it came.
  translatesAlways: true,
})
