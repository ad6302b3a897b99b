import { parseJson } from '#core/exact-json.ts'
import { DomainError } from '#core/errors.ts'
import { withinLimit } from '#relay/billing/lowered-limit.ts'
import { fitRequest } from '#relay/chat/fit/fit-request.ts'
import { openAiProfile } from '#relay/chat/fit/profile.ts'
import { withPresentChoice } from '#relay/chat/tool-choice.ts'
import { untranslatable } from '#relay/chat/losses.ts'
import type { ChatRequest } from '#relay/chat/request.ts'
import { nativeDialectOf } from '#relay/providers/registry.ts'
import { customToolNames } from '#relay/providers/shared/custom-tools.ts'
import { rewriteBody } from '#relay/providers/shared/rewrite-body.ts'
import type { UpstreamRequest } from '#relay/providers/types.ts'
import type { CallBody } from '#relay/request/call.ts'
import { passesThrough } from '#relay/upstream-call/channel.ts'
import { withParamOverride } from '#relay/upstream-call/param-override.ts'
import type { AttemptContext } from './attempt-context.ts'
import { AttemptFailed, failureOfDomainError, unsupportedHere } from './failure.ts'
import { checkImages } from './image-limit.ts'
import { inlineMedia, openFileMemory } from './inline-media.ts'
import { restoringProvider } from './restoring-provider.ts'
import { sealingProvider, withOpenSeals } from './seals.ts'
import { sendRequest } from './send-request.ts'
import { uploadMedia } from './upload-media.ts'

/**
 * What is sent upstream: the caller's own body, the same in the upstream's own form of the dialect, or a translation.
 * @throws {AttemptFailed} for what this upstream cannot express; another one may.
 */
export async function buildRequest(context: AttemptContext): Promise<UpstreamRequest> {
  const { native, provider, providerCall, call, services, sent } = context
  const { channel, upstreamModel } = context.attempt
  try {
    checkLength(context)
    if (passesThrough(channel.setting, services)) {
      const made = native?.request(sent.body, providerCall) ?? provider.chat.request(sent.request, providerCall)
      return { ...made, body: bodyAsReceived(sent.body, upstreamModel), losses: [] }
    }
    const withOverrides = (request: UpstreamRequest): UpstreamRequest => {
      const overridden = withParamOverride(request, { provider, call: providerCall, override: channel.paramOverride })
      return withinLimit(overridden, channel, context.held.plan.lowered)
    }
    if (native) return withOverrides(native.request(sent.body, providerCall))
    const field = untranslatable(sent.request, nativeDialectOf(provider), provider.chat)
    if (field !== undefined)
      throw field === 'thread' ? new DomainError('unsupported.thread') : new DomainError('unsupported.field', { field })
    checkImages(sent.request, provider.chat.mostImages?.(providerCall))
    const opened = withOpenSeals(context)
    const profile = provider.chat.profile?.(providerCall) ?? openAiProfile
    const asked = withPresentChoice(await withMedia(context, opened.request))
    const { request, losses, callerNames } = fitRequest(asked, profile, call.request.messages)
    context.providerCall = { ...providerCall, customTools: customToolNames(request.tools) }
    const restored = callerNames.size > 0 ? restoringProvider(provider, callerNames) : provider
    context.provider = sealingProvider(context, restored)
    const made = provider.chat.request(request, context.providerCall)
    return withOverrides({ ...made, losses: [...opened.losses, ...losses, ...(made.losses ?? [])] })
  } catch (error) {
    throw unsupportedHere(error)
  }
}

/** A channel may take short prompts only. */
function checkLength({ promptTokens: tokens, attempt }: AttemptContext): void {
  const { maxInputTokens: limit } = attempt.channel
  if (limit > 0 && tokens > limit) throw new DomainError('relay.prompt_too_long', { tokens, limit })
}

/** The caller's body as it came, but for the name of the model where the upstream knows another. */
export const bodyAsReceived = (body: CallBody, model: string): unknown =>
  rewriteBody(body, typeof body.json['model'] === 'string' ? { ...body.json, model } : body.json)

/** The request with its images and files where the upstream wants them: inside, or uploaded before it. */
async function withMedia(context: AttemptContext, request: ChatRequest): Promise<ChatRequest> {
  const { provider, providerCall, call, services } = context
  const { media, keepsAddress, uploads } = provider.chat
  if (uploads) {
    const post = (asked: UpstreamRequest) => upload(context, asked)
    return uploadMedia(request, { uploads, call: providerCall, post })
  }
  if (media !== 'inline') return request
  const { signal } = call.upstreamAbort
  const memory = () => (context.fileMemory ??= openFileMemory(services, call))
  return inlineMedia(request, { fetchMedia: services.media, keepsAddress, signal, memory })
}

const largestUploadAnswer = 1024 * 1024

/** An upload alone is not yet the call, and is not paid for. */
async function upload(context: AttemptContext, request: UpstreamRequest): Promise<unknown> {
  const reply = await sendRequest({ ...context }, request, 'unstreamed')
  const text = await reply.text(largestUploadAnswer)
  try {
    return parseJson(text)
  } catch (cause) {
    throw new AttemptFailed(failureOfDomainError(new DomainError('relay.reply_malformed')), { local: false, cause })
  }
}
