import { supportsOperation } from '#core/channel-types/index.ts'
import {
  type NativeDialect,
  plainOperations,
  type Provider,
  type ProviderCall,
  type ProviderChannel,
} from '../types.ts'
import { outputLimitOf } from '../output-limit.ts'
import { readFailure } from '../shared/failures.ts'
import { nothingDelivered } from '../shared/inspect-unreadable.ts'
import { recordOf, recordsOf, wordOf } from '../shared/json.ts'
import { joinPath } from '../shared/join-path.ts'
import { nativeCompaction, nativeResponses } from '../openai-responses/native.ts'
import { fromResponse, isResponse } from '../openai-responses/response.ts'
import { channelHeaders, requestHeaders } from './address.ts'
import { nativeCompletions } from './completions.ts'
import { applyFamilyRules } from './model-families.ts'
import { foreignMessages } from './messages-form.ts'
import { nativeOpenAi } from './native.ts'
import { openAiOperation } from './plain.ts'
import { compatibleProfile } from './profile.ts'
import { openAiRealtime } from './realtime.ts'
import { knownNames, toOpenAiRequest } from './request.ts'
import { toHubResponse } from './response.ts'
import { createEitherDecoder, takesChat, toResponsesRequest, wantsResponses } from './responses-form.ts'
import { createOpenAiDecoder } from './stream.ts'
import type { OpenAiStyle } from './style.ts'

const readModelIds = (json: unknown): string[] => {
  const answer = recordOf(json)
  const rows = Array.isArray(json) ? json : (answer?.['data'] ?? answer?.['models'] ?? answer?.['result'])
  return recordsOf(rows).flatMap((row) => wordOf(row['id']) ?? wordOf(row['name']) ?? [])
}

const modelsOf = (style: OpenAiStyle): Provider['models'] => ({
  request: (channel: ProviderChannel) => ({
    method: 'GET',
    url: style.modelsUrl?.(channel) ?? joinPath(channel.baseUrl, style.version ?? '/v1', '/models'),
    headers: channelHeaders(style, channel),
  }),
  read: readModelIds,
})

/** Vendors with failures of their own in 2xx bodies have them in every form that they speak. */
function withRefusals({ refusal }: OpenAiStyle, native: NativeDialect): NativeDialect {
  if (!refusal) return native
  return {
    ...native,
    inspect: (json) => {
      const failure = refusal.read(recordOf(json) ?? {})
      return failure ? { failure, ...nothingDelivered } : native.inspect(json)
    },
  }
}

/** A provider that speaks the OpenAI chat form, with the differences its style names. */
export function openAiCompatible(style: OpenAiStyle): Provider {
  const isPlainName = ({ model }: ProviderCall) => !style.ownSuffix?.test(model)
  const takesResponses = (_: unknown, call: ProviderCall) =>
    supportsOperation(call.channel.type, 'responses') &&
    (style.responsesModels?.test(call.model) ?? true) &&
    isPlainName(call)
  const profile = { ...compatibleProfile, ...style.profile }
  return {
    id: style.id,
    label: style.label,
    telemetryName: style.telemetryName,
    channelTypes: style.channelTypes,
    framing: 'sse',
    afterOverride: (body, call) => {
      applyFamilyRules(body, knownNames(call.channel.type))
      return undefined
    },
    plain: Object.fromEntries(
      plainOperations.map((operation) => [
        operation,
        { ...openAiOperation(style, operation), ...style.plain?.[operation] },
      ]),
    ) as Provider['plain'],
    ...(style.realtimeUrl ? { realtime: openAiRealtime(style, style.realtimeUrl) } : {}),
    chat: {
      profile: ({ model }) => ({ ...profile, mostOutput: outputLimitOf(model) }),
      request: (request, call) =>
        wantsResponses(style, request, call)
          ? toResponsesRequest(style, request, call)
          : toOpenAiRequest(style)(request, call),
      response: (json, call) =>
        style.needsResponses && isResponse(json) ? fromResponse(json, call) : toHubResponse(style, json, call),
      stream: (call) => (style.needsResponses ? createEitherDecoder(style, call) : createOpenAiDecoder(style, call)),
      resumes: true,
      media: 'inline',
      keepsAddress: (part) => part.type === 'image' && style.inlineImages !== true,
    },
    native: {
      ...(style.translatesAlways ? {} : { 'openai-chat': { ...nativeOpenAi(style), accepts: takesChat(style) } }),
      ...(style.completionsUrl ? { 'openai-completions': nativeCompletions(style, style.completionsUrl) } : {}),
      ...(style.responsesUrl
        ? {
            'openai-responses': {
              ...withRefusals(
                style,
                nativeResponses({
                  url: style.responsesUrl,
                  headers: (call) => requestHeaders(style, call),
                  mayLack: style.mayLackResponses,
                  mayRefuse: style.partialResponses,
                }),
              ),
              accepts: takesResponses,
            },
            ...(style.compacts
              ? {
                  'openai-compaction': {
                    ...nativeCompaction({ url: style.responsesUrl, headers: (call) => requestHeaders(style, call) }),
                    accepts: takesResponses,
                  },
                }
              : {}),
          }
        : {}),
      ...(style.messagesUrl
        ? {
            claude: {
              ...withRefusals(
                style,
                foreignMessages(style.messagesUrl, { userRule: style.profile?.user, adjust: style.adjustMessages }),
              ),
              accepts: (_: unknown, call: ProviderCall) => isPlainName(call),
            },
          }
        : {}),
    },
    error: (status, body) => {
      const failure = readFailure(status, body)
      return style.error?.(failure, body) ?? failure
    },
    models: modelsOf(style),
  }
}
