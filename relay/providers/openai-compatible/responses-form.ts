import type { StreamDecoder } from '#relay/chat/events.ts'
import type { ChatRequest } from '#relay/chat/request.ts'
import { toResponsesBody } from '../openai-responses/request.ts'
import { createResponsesDecoder } from '../openai-responses/stream.ts'
import type { ProviderCall, UpstreamRequest } from '../types.ts'
import { recordsOf, textOf } from '../shared/json.ts'
import { requestHeaders } from './address.ts'
import { splitEffort } from './model-families.ts'
import { effortOf, knownNames } from './request.ts'
import { createOpenAiDecoder } from './stream.ts'
import type { OpenAiStyle } from './style.ts'

/** Whether the vendor takes this call in the responses form only. */
export function wantsResponses(style: OpenAiStyle, request: ChatRequest, call: ProviderCall): boolean {
  const { model, effort } = splitEffort(call.model, knownNames(call.channel.type))
  return (
    style.needsResponses?.(call, {
      model,
      tools: request.tools.some((tool) => tool.type === 'function' || tool.type === 'custom'),
      search: request.tools.some((tool) => tool.type === 'web-search'),
      effort: effort ?? effortOf(request),
    }) ?? false
  )
}

/** The same question over the body of a caller who speaks the chat form. */
export const takesChat =
  (style: OpenAiStyle) =>
  (body: Record<string, unknown>, call: ProviderCall): boolean => {
    if (!style.needsResponses) return true
    const { model, effort } = splitEffort(call.model, knownNames(call.channel.type))
    return !style.needsResponses(call, {
      model,
      tools: recordsOf(body['tools']).length > 0 || recordsOf(body['functions']).length > 0,
      search: body['web_search_options'] !== undefined,
      effort: effort ?? textOf(body['reasoning_effort']),
    })
  }

export function toResponsesRequest(style: OpenAiStyle, request: ChatRequest, call: ProviderCall): UpstreamRequest {
  const { body, losses } = toResponsesBody(request, call)
  const url = style.responsesUrl?.(call) ?? ''
  return { method: 'POST', url, headers: requestHeaders(style, call), body, losses }
}

/** Reads whichever of the two forms the first event shows: which one was asked for is not known here. */
export function createEitherDecoder(style: OpenAiStyle, call: ProviderCall): StreamDecoder {
  let decoder: StreamDecoder | undefined
  return {
    push(event) {
      decoder ??= /"type"\s*:\s*"(response\.|error")/.test(event.data.slice(0, 500))
        ? createResponsesDecoder(call)
        : createOpenAiDecoder(style, call)
      return decoder.push(event)
    },
    end: () => decoder?.end() ?? [],
  }
}
