import { cheapPromptTokens, type CheapPromptCount } from '#relay/counting/cheap-count.ts'
import type { ChatRequest } from '#relay/chat/request.ts'
import { providerFor } from '#relay/providers/registry.ts'
import type { NativeDialect, ProviderCall } from '#relay/providers/types.ts'
import type { Attempt, Call, RelayServices } from '#relay/request/call.ts'
import { passesThrough } from '#relay/upstream-call/channel.ts'
import { providerCallOf } from './upstream-channel.ts'

/** The form that a body goes out in: as it came, the upstream's own form of the caller's dialect, or none of the caller's. */
type SentForm = { passes: boolean; native: NativeDialect | null | undefined; providerCall: ProviderCall }

/** The request with what goes upstream of what the caller's own form alone can say. */
export function withSentParts(request: ChatRequest, { passes, native, providerCall }: SentForm): ChatRequest {
  const { nativeOnly } = request
  if (nativeOnly === undefined || passes) return request
  if (!native) return { ...request, nativeOnly: undefined }
  const changesTools = nativeOnly.some(({ toolChange }) => toolChange === true)
  if (!changesTools || native.joinsToolChanges?.(providerCall) !== true) return request
  return { ...request, nativeOnly: nativeOnly.filter(({ toolChange }) => toolChange !== true) }
}

/** The cheap count of what is sent of a call. */
export const estimateOf = ({ request, estimate }: Call, { nativeOnly }: ChatRequest): CheapPromptCount =>
  nativeOnly === request.nativeOnly ? estimate : cheapPromptTokens({ ...request, nativeOnly })

/** The request with what may go upstream of that, before the form is decided on: the caller's own counts wherever the upstream may be asked in it. */
export function withMostSentParts(services: RelayServices, call: Call, attempt: Attempt): ChatRequest {
  const { dialect, request, body, stream } = call
  if (request.nativeOnly === undefined) return request
  const { channel } = attempt
  const providerCall = providerCallOf(services, call, { attempt, stream })
  const own = dialect.native && providerFor(channel.type).native[dialect.native]
  const native = own?.accepts?.(body.json, providerCall) === false ? null : own
  return withSentParts(request, { passes: passesThrough(channel.setting, services), native, providerCall })
}
