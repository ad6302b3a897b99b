import { type NativeBody, type NativeDialect, type ProviderCall, UpstreamRefusal } from '../types.ts'
import { isSealed } from '#relay/chat/seals/envelope.ts'
import { sealLoss } from '#relay/chat/seals/open-seals.ts'
import { deliveredBy } from '#relay/chat/delivered.ts'
import { isEmptyResponse, nameless } from '../shared/answer-record.ts'
import { inspectUnreadable, nothingDelivered } from '../shared/inspect-unreadable.ts'
import { type Json, listOf, numberOf, recordOf, recordsOf } from '../shared/json.ts'
import { rewriteBody } from '../shared/rewrite-body.ts'
import { listenToGemini } from './listen.ts'
import { isGeminiOpening } from './opening.ts'
import { nameIn, partsToProve, unknownSignature } from './proofs.ts'
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

/** The caller's own body, as Google takes it. The path names the model; a second name in the body could only differ from it. */
function fittedBody(json: Json, call: ProviderCall): { body: Json; model: string; losses: string[] } {
  const body: Json = { ...json }
  const model = applyThinking(body, call)
  delete body['model']
  fitBlanks(body)
  return { body, model, losses: fitProofs(body, model, call.isRefusedProof) }
}

function nativeRequest(host: GeminiHost, native: NativeBody, call: ProviderCall) {
  const { body, model, losses } = fittedBody(native.json, call)
  host.shape?.(body, call)
  return {
    method: 'POST' as const,
    url: host.url(call, model),
    headers: host.headers(call),
    body: rewriteBody(native, body),
    losses,
  }
}

const partsOf = (content: unknown): unknown[] => listOf(recordOf(content)?.['parts'])

const attributes = /^(thought|thought_?signature|video_?metadata|media_?resolution|part_?metadata)$/i
const isBlank = (part: unknown): boolean => {
  const record = recordOf(part)
  return record !== undefined && Object.keys(record).every((name) => attributes.test(name))
}

/** Answers end in an empty text. Libraries that write no empty fields (Go's) return it as a part without content, which is refused. */
function fitBlanks(body: Json): void {
  const contents: unknown = body['contents']
  if (!Array.isArray(contents) || !contents.some((content) => partsOf(content).some(isBlank))) return
  const withText = (part: unknown): unknown[] => {
    const record = recordOf(part)
    if (!record || !isBlank(part)) return [part]
    return record[nameIn(record)] === undefined ? [] : [{ ...record, text: '' }]
  }
  body['contents'] = contents.map((content: unknown) => {
    if (!partsOf(content).some(isBlank)) return content
    const parts = partsOf(content).flatMap(withText)
    return { ...recordOf(content), parts: parts.length > 0 ? parts : [{ text: ' ' }] }
  })
}

/**
 * Proofs of other vendors' reasoning, sealed for them, are not shown to this one. What the model refuses without proof goes as
 * something whose proof is not known. So does that whose proof was refused.
 */
function fitProofs(body: Json, model: string, isRefused: ProviderCall['isRefusedProof']): string[] {
  const isForeign = (part: unknown): boolean => {
    const record = recordOf(part)
    const value = record?.[nameIn(record)]
    if (typeof value !== 'string' || value === unknownSignature) return false
    return isSealed(value) || isRefused?.(value) === true
  }
  const toProveIn = (content: unknown): Set<unknown> =>
    recordOf(content)?.['role'] === 'model' ? partsToProve(recordsOf(partsOf(content)), model) : new Set()
  const contents: unknown = body['contents']
  if (!Array.isArray(contents)) return []
  let lost = false
  const fitted = contents.map((content: unknown) => {
    const toProve = toProveIn(content)
    let changed = false
    const parts = partsOf(content).flatMap((part) => {
      const record = recordOf(part)
      const foreign = isForeign(part)
      if (!record || (!foreign && (!toProve.has(part) || record[nameIn(record)] !== undefined))) return [part]
      changed = true
      lost ||= foreign
      const { [nameIn(record)]: _, ...plain } = record
      if (toProve.has(part)) return [{ ...plain, thoughtSignature: unknownSignature }]
      return record['thought'] === true || plain['text'] === '' ? [] : [plain]
    })
    return changed ? { ...recordOf(content), parts: parts.length > 0 ? parts : [{ text: ' ' }] } : content
  })
  if (fitted.some((content, index) => content !== contents[index])) body['contents'] = fitted
  return lost ? [sealLoss] : []
}

function inspect(json: unknown): ReturnType<NativeDialect['inspect']> {
  const usage = recordOf(recordOf(json)?.['usageMetadata'])
  const reported = usage ? { usage: readUsage(usage) } : {}
  try {
    const response = fromGeminiResponse(json, nameless)
    return {
      ...(response.usage ? { usage: response.usage } : {}),
      delivered: () => deliveredBy(response),
      empty: isEmptyResponse(response),
    }
  } catch (error) {
    // A blocked prompt is an answer in this dialect; its caller reads it there.
    const isBlocked = error instanceof UpstreamRefusal && error.failure.code === 'content_filter'
    return isBlocked ? { ...reported, ...nothingDelivered } : inspectUnreadable(error, reported)
  }
}

/** Contents, and what is no part of a prompt. */
const alone = new Set(['contents', 'generationConfig', 'generation_config', 'safetySettings', 'safety_settings'])

/** Google's own counting call takes contents alone, or a whole call with its instructions and tools. */
export const countGemini =
  (
    host: GeminiHost,
    countUrl: (call: ProviderCall, model: string) => string,
  ): NonNullable<NativeDialect['countTokens']> =>
  ({ json }, call) => {
    const { body, model } = fittedBody(json, call)
    const asked = Object.keys(body).every((name) => alone.has(name))
      ? { contents: body['contents'] }
      : { generateContentRequest: { model: `models/${model.replace(/^models\//, '')}`, ...body } }
    const request = { method: 'POST' as const, url: countUrl(call, model), headers: host.headers(call), body: asked }
    return { request, read: (answer) => recordOf(answer)?.['totalTokens'] }
  }

/** The generate dialect of any host that speaks it. */
export const nativeGemini = (host: GeminiHost): NativeDialect => ({
  request: (body, call) => nativeRequest(host, body, call),
  listen: listenToGemini,
  isOpening: isGeminiOpening,
  inspect,
})
