import type { ProviderCall, NativeBody, NativeDialect } from '../types.ts'
import { deliveredBy } from '#relay/chat/delivered.ts'
import { isEmptyResponse, nameless } from '../shared/answer-record.ts'
import { inspectUnreadable } from '../shared/inspect-unreadable.ts'
import { type Json, recordOf } from '../shared/json.ts'
import { rewriteBody } from '../shared/rewrite-body.ts'
import { chatUrl, requestHeaders } from './address.ts'
import { listenToOpenAi } from './listen.ts'
import { isChatOpening } from './opening.ts'
import { finishBody, mayAskForUsage, searchesBy } from './request.ts'
import { toHubResponse } from './response.ts'
import type { OpenAiStyle } from './style.ts'
import { readUsage, usageObjectOf } from './usage.ts'

/** Asks for usage in every stream that can report it; the field is not the caller's to set elsewhere. */
export function setStreamOptions(body: Json, style: OpenAiStyle, call: ProviderCall): void {
  const given = recordOf(body['stream_options'])
  if (!call.stream || !mayAskForUsage(style, call)) {
    delete body['stream_options']
  } else if (given?.['include_usage'] !== true) {
    body['stream_options'] = { ...given, include_usage: true }
  }
}

function nativeRequest(style: OpenAiStyle, native: NativeBody, call: ProviderCall) {
  const body: Json = { ...native.json }
  body['model'] = call.model
  // A caller's absent `stream` means no stream, so only a differing value is written.
  if ((body['stream'] === true) !== call.stream) body['stream'] = call.stream
  setStreamOptions(body, style, call)
  const losses = finishBody(body, style, call)
  const searches = searchesBy(style, body)
  return {
    method: 'POST' as const,
    url: chatUrl(style, { ...call, model: String(body['model']) }),
    headers: requestHeaders(style, call),
    body: rewriteBody(native, body),
    losses,
    ...(searches > 0 ? { searches } : {}),
  }
}

function inspect(style: OpenAiStyle, json: unknown): ReturnType<NativeDialect['inspect']> {
  const usage = usageObjectOf(recordOf(json) ?? {})
  const reported = usage ? { usage: (style.usage ?? readUsage)(usage) } : {}
  try {
    const response = toHubResponse(style, json, nameless)
    return { ...reported, delivered: () => deliveredBy(response), empty: isEmptyResponse(response) }
  } catch (error) {
    return inspectUnreadable(error, reported)
  }
}

export const nativeOpenAi = (style: OpenAiStyle): NativeDialect => ({
  request: (body, call) => nativeRequest(style, body, call),
  listen: (caller) => listenToOpenAi(style, caller),
  isOpening: isChatOpening,
  inspect: (json) => inspect(style, json),
})
