import type { UpstreamFailure } from '#relay/chat/events.ts'
import type { ChatRequest } from '#relay/chat/request.ts'
import type { ProviderCall } from '../../types.ts'
import { type Json, numberOf, recordOf, recordsOf, textOf, tryRecord, wordOf } from '../../shared/json.ts'
import { argumentsObject } from '../../shared/tool-arguments.ts'
import { bearer } from '../address.ts'
import { fitForcedTool } from '../forced-tool.ts'
import { openAiCompatible } from '../index.ts'
import { messagesBelow } from '../messages-form.ts'
import { enableThinking } from '../thinking-switch.ts'
import { aliImageEdits, aliImages, aliRerank } from './ali-plain.ts'

/** Open-weight models that think by themselves and then refuse to answer in one piece. */
const openWeights = /^qwen3-\d+(\.\d+)?b(?!.*(instruct|thinking|coder))/

/**
 * "This model only support stream mode, please enable the stream parameter to access the model.": https://github.com/infiniflow/ragflow/issues/5912;
 * https://help.aliyun.com/zh/model-studio/glm says it of GLM. What they stream is put together for who did not ask for it.
 */
const streamsOnly = /^(qwq|qvq|glm-4\.[56])|-omni|^qwen3.*-thinking/

/** top_p lies strictly between 0 and 1 here. */
const clampTopP = (value: number): number => Math.min(Math.max(value, 0.001), 0.999)

const withReadableArguments = (call: Json): Json => {
  const asked = recordOf(call['function'])
  const text = textOf(asked?.['arguments']) ?? ''
  return tryRecord(text) ? call : { ...call, function: { ...asked, arguments: JSON.stringify(argumentsObject(text)) } }
}

/** 'The "function.arguments" parameter of the code model must be in JSON format.': what a broken stream left of a call is none. */
function repairArguments(body: Json): void {
  const messages = recordsOf(body['messages'])
  const isOdd = (call: Json): boolean => !tryRecord(textOf(recordOf(call['function'])?.['arguments']) ?? '')
  if (!messages.some((message) => recordsOf(message['tool_calls']).some(isOdd))) return
  body['messages'] = messages.map((message) => {
    const calls = recordsOf(message['tool_calls'])
    return calls.some(isOdd) ? { ...message, tool_calls: calls.map(withReadableArguments) } : message
  })
}

/**
 * Models that are known to think or not by the one field: https://help.aliyun.com/zh/model-studio/deep-thinking, and of GLM
 * https://help.aliyun.com/zh/model-studio/glm.
 */
const hybrids =
  /^(qwen(3|-plus|-turbo|-flash|-max)|glm-(4|5(?!\.[3-9]))|deepseek-v[34]|kimi-k2\.)(?!.*(instruct|coder|thinking))/
/** And take an effort beside it, but think no more for that alone. */
const takesEffort = /^deepseek-v4/

/** The effort of OpenAI's callers, which most of these models have no word for. */
function switchThinking(body: Json): void {
  const effort = wordOf(body['reasoning_effort'])
  const model = String(body['model'])
  if (effort === undefined || !hybrids.test(model)) return
  if (effort === 'none' || !takesEffort.test(model)) delete body['reasoning_effort']
  else if (effort === 'minimal') body['reasoning_effort'] = 'low'
  body['enable_thinking'] ??= effort !== 'none'
}

const switchByField = enableThinking(
  /^(qwen(3|-plus|-turbo|-flash|-max)|glm|deepseek-v[34]|kimi)(?!.*(instruct|coder))/,
)

/** The same of callers of other dialects, of whom some name an effort though they ask not to think. */
function reasoning(body: Json, request: ChatRequest): void {
  switchByField(body, request)
  const effort = request.reasoning?.effort
  if (effort !== undefined && body['enable_thinking'] !== false && takesEffort.test(String(body['model'])))
    body['reasoning_effort'] = effort
}

/** Models that think in any case, and those of the ones above that do unless they are asked not to. */
const alwaysThinks = /^(qwq|qvq|deepseek-r1|glm-(5\.[3-9]|[6-9])|kimi-k[3-9])|-thinking/
const thinksUnasked = /^(qwen3\.[5-9]|glm-[45]|kimi-k2\.)/

function switchOff(body: Json): void {
  body['enable_thinking'] = false
}

/**
 * "The tool_choice parameter does not support being set to required or object in thinking mode":
 * https://github.com/cloudwego/eino/issues/994, https://github.com/can1357/oh-my-pi/issues/886.
 */
function fitChoice(body: Json): string[] {
  const model = String(body['model'])
  const asked = body['enable_thinking'] ?? undefined
  const isFree = asked === undefined && hybrids.test(model) && !alwaysThinks.test(model)
  if (isFree) return fitForcedTool(body, thinksUnasked.test(model) || openWeights.test(model), switchOff)
  return fitForcedTool(body, asked === true || alwaysThinks.test(model))
}

function adjustStream(body: Json, call: ProviderCall): void {
  if (call.stream) return
  if (streamsOnly.test(String(body['model']))) {
    body['stream'] = true
    body['stream_options'] = { include_usage: true }
  } else if (openWeights.test(String(body['model'])) && body['enable_thinking'] !== false) {
    body['enable_thinking'] = false
  }
}

function adjust(body: Json, call: ProviderCall): string[] {
  repairArguments(body)
  const named = String(body['model'])
  if (named.endsWith('-internet')) {
    body['model'] = named.slice(0, -'-internet'.length)
    body['enable_search'] = true
  }
  switchThinking(body)
  const topP = numberOf(body['top_p'])
  if (topP !== undefined) body['top_p'] = clampTopP(topP)
  adjustStream(body, call)
  return fitChoice(body)
}

/** An account that has not paid is refused with the status of a malformed call, for which no other channel would be tried. */
const error = (failure: UpstreamFailure): UpstreamFailure =>
  failure.code === 'Arrearage' || failure.type === 'Arrearage' ? { ...failure, status: 402 } : failure

export const ali = openAiCompatible({
  id: 'ali',
  label: 'Alibaba DashScope',
  channelTypes: [17],
  messagesUrl: messagesBelow(/\/compatible-mode(\/v1)?$/, '/apps/anthropic/v1/messages'),
  version: '/compatible-mode/v1',
  responsesUrl: ({ channel }) =>
    `${channel.baseUrl.replace(/\/compatible-mode(\/v1)?$/, '')}/api/v2/apps/protocols/compatible-mode/v1/responses`,
  responsesModels: /^qwen3/,
  ownSuffix: /-internet$/,
  headers: (channel) => ({
    ...bearer(channel.key),
    ...(channel.other === '' ? {} : { 'x-dashscope-plugin': channel.other }),
  }),
  carriesCacheControl: true,
  takesTopK: true,
  reasoning,
  adjust,
  error,
  plain: { embeddings: { mostInputs: 10 }, rerank: aliRerank, images: aliImages, 'image-edits': aliImageEdits },
})
