import { type NativeBody, type NativeDialect, type ProviderCall, UpstreamRefusal } from '../types.ts'
import { deliveredBy } from '#relay/chat/delivered.ts'
import { isEmptyResponse, nameless } from '../shared/answer-record.ts'
import { type Json, numberOf, recordOf } from '../shared/json.ts'
import { rewriteBody } from '../shared/rewrite-body.ts'
import { listenToGemini } from './listen.ts'
import { fromGeminiResponse } from './response.ts'
import { thinkingByName } from './thinking.ts'
import { readUsage } from './usage.ts'

export type GeminiHost = {
  url: (call: ProviderCall, model: string) => string
  headers: (call: ProviderCall) => Record<string, string>
  /** What this host does not take; fields are replaced, never changed inside. */
  shape?: ((body: Json, call: ProviderCall) => void) | undefined
}

/** The thinking that the name asks for, unless the caller says it in the body. Both spellings are read. */
function applyThinking(body: Json, call: ProviderCall): string {
  const name = body['generation_config'] === undefined ? 'generationConfig' : 'generation_config'
  const config = recordOf(body[name]) ?? {}
  const limit = numberOf(config['maxOutputTokens']) ?? numberOf(config['max_output_tokens']) ?? 0
  const { model, thinkingConfig } = thinkingByName(call, limit)
  const thinking = config['thinkingConfig'] ?? config['thinking_config']
  if (thinkingConfig && thinking === undefined) body[name] = { ...config, thinkingConfig }
  return model
}

function nativeRequest(host: GeminiHost, native: NativeBody, call: ProviderCall) {
  const body: Json = { ...native.json }
  const model = applyThinking(body, call)
  // The path names the model; a second name in the body could only differ from it.
  delete body['model']
  host.shape?.(body, call)
  return {
    method: 'POST' as const,
    url: host.url(call, model),
    headers: host.headers(call),
    body: rewriteBody(native, body),
  }
}

function inspect(json: unknown): ReturnType<NativeDialect['inspect']> {
  const usage = recordOf(recordOf(json)?.['usageMetadata'])
  const nothing = {
    ...(usage ? { usage: readUsage(usage) } : {}),
    delivered: () => ({ text: '', toolCalls: 0 }),
    empty: true,
  }
  try {
    const response = fromGeminiResponse(json, nameless)
    return {
      ...(response.usage ? { usage: response.usage } : {}),
      delivered: () => deliveredBy(response),
      empty: isEmptyResponse(response),
    }
  } catch (error) {
    // A blocked prompt is an answer in this dialect; its caller reads it there.
    const failed = error instanceof UpstreamRefusal && error.failure.code !== 'content_filter'
    return failed ? { ...nothing, failure: error.failure } : nothing
  }
}

/** The generate dialect of any host that speaks it. */
export const nativeGemini = (host: GeminiHost): NativeDialect => ({
  request: (body, call) => nativeRequest(host, body, call),
  listen: () => listenToGemini(),
  inspect,
})
