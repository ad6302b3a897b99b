import { DomainError } from '#core/errors.ts'
import { joinPath } from '../../shared/join-path.ts'
import type { Effort } from '#core/models/parameters.ts'
import type { ReportedUsage } from '#core/usage.ts'
import type { UpstreamFailure } from '#relay/chat/events.ts'
import type { ChatRequest } from '#relay/chat/request.ts'
import type { ProviderCall } from '../../types.ts'
import { openAiCompatible } from '../index.ts'
import { xaiImageEdits, xaiImages } from './xai-images.ts'
import { clampEffort } from '../model-families.ts'
import { effortOf } from '../request.ts'
import { readUsage } from '../usage.ts'
import { countOf, type Json, recordOf, sumOf } from '../../shared/json.ts'

/** Other hosts name the maker before the model. */
const thinks = (model: string): boolean =>
  !model.includes('non-reasoning') && /^(xai\/)?grok-(3-mini|[4-9]|build|code)/.test(model)

/** What thinking models refuse, wherever they run. */
export function dropRefusedByGrok(body: Json): string[] {
  if (!thinks(String(body['model']))) return []
  const refused = ['presence_penalty', 'frequency_penalty', 'stop'].filter((name) => body[name] !== undefined)
  for (const name of refused) delete body[name]
  return refused
}

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
  return dropRefusedByGrok(body)
}

/** The efforts that each release takes; the others take none: https://docs.x.ai/developers/model-capabilities/text/reasoning */
const releases: readonly [RegExp, readonly Effort[]][] = [
  [/^grok-3-mini/, ['low', 'high']],
  [/^grok-4\.3/, ['none', 'low', 'medium', 'high']],
  [/^grok-4\.6/, ['low', 'medium', 'high', 'xhigh']],
  [/^grok-4\.[5-9]/, ['low', 'medium', 'high']],
]

/** The effort of callers of other dialects, as near as the release has one; without any it would think as much as it does by default. */
function reasoning(body: Json, request: ChatRequest): string[] {
  const input = request.reasoning
  if (!input) return []
  if (request.extra.dialect === 'openai-chat') {
    if (input.effort !== undefined) body['reasoning_effort'] = input.effort
    return []
  }
  const effort = effortOf(request)
  const taken = releases.find(([model]) => model.test(String(body['model'])))?.[1]
  if (effort === undefined || taken === undefined) return []
  const wanted = effort === 'minimal' ? 'low' : effort
  const nearest = clampEffort(wanted, taken)
  body['reasoning_effort'] = nearest
  return nearest === wanted ? [] : ['reasoning_effort']
}

/** Reasoning is counted beside the answer here, and cached tokens sometimes beside the prompt. */
export function grokUsage(counts: Json): ReportedUsage {
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

/**
 * A wrong key is refused with 400 here: https://docs.x.ai/developers/debugging. What is forbidden in a call is refused with 403,
 * with every key, and may be charged each time: https://github.com/theopenco/llmgateway/pull/1785.
 */
function error(failure: UpstreamFailure): UpstreamFailure {
  const { status, message } = failure
  if (status === 400 && message.startsWith('Incorrect API key provided')) return { ...failure, status: 401 }
  if (status === 403 && message.startsWith('Content violates usage guidelines'))
    return { ...failure, status: 400, type: 'content_filter', code: 'content_filter', param: null }
  return failure
}

function realtimeUrl({ channel, model, query }: ProviderCall): string {
  const { conversation_id: id } = query
  const resumed = id === undefined ? '' : `&conversation_id=${encodeURIComponent(id)}`
  return `${joinPath(channel.baseUrl, '/v1', '/realtime')}?model=${encodeURIComponent(model)}${resumed}`
}

export const xai = openAiCompatible({
  id: 'xai',
  telemetryName: 'x_ai',
  label: 'xAI',
  channelTypes: [48],
  responsesUrl: ({ channel }) => joinPath(channel.baseUrl, '/v1', '/responses'),
  ownSuffix: /^grok-3-mini.*-(high|medium|low)$|-search$/,
  realtimeUrl,
  realtimeBillsUnread: true,
  realtimeNeverTranscribes: true,
  realtimeResumes: true,
  reasoning,
  adjust,
  usage: grokUsage,
  error,
  plain: { images: xaiImages, 'image-edits': xaiImageEdits },
  // Callers are sent the whole output, reasoning included, so the answer cannot go through as it came.
  translatesAlways: true,
})
