import { setImmediate as nextTurn } from 'node:timers/promises'
import { DomainError } from '#core/errors.ts'
import { bodyAsReceived } from '#relay/attempt/build-request.ts'
import { systemPromptOf } from '#relay/attempt/channel-body.ts'
import { providerCallOf } from '#relay/attempt/upstream-channel.ts'
import { claude } from '#relay/dialects/claude/index.ts'
import { providerFor } from '#relay/providers/registry.ts'
import type { Attempt, CallBody, CallCore, RelayServices } from '#relay/request/call.ts'
import { passesThrough } from '#relay/upstream-call/channel.ts'
import { withParamOverride } from '#relay/upstream-call/param-override.ts'
import type { BatchRequest } from './requests.ts'

type Share = { call: CallCore; attempt: Attempt | undefined; requests: BatchRequest[] }

const turnEvery = 200

/**
 * The batch as a channel sends it: each request as it would go out by itself.
 * @throws {DomainError} relay.batches_unsupported
 */
export async function batchBody(
  services: RelayServices,
  { json, bytes, holding }: CallBody,
  shares: readonly Share[],
): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  let written = 0
  let size = 0
  // A channel's own prompt stands in each of them, however short they came.
  const before = (holding?.bytes() ?? 0) - 2 * bytes.length
  const hold = () => holding?.raise(before + 2 * size)
  for (const { call, attempt, requests } of shares) {
    if (!attempt) throw new DomainError('relay.batches_unsupported', { model: call.model })
    const write = writerFor(services, call, attempt)
    for (const request of requests) {
      written += 1
      if (written % turnEvery === 0) {
        await nextTurn()
        await hold()
      }
      pieces.push(Buffer.from(`${written === 1 ? '' : ','}{"custom_id":${JSON.stringify(request.customId)},"params":`))
      const own = write(request)
      size += own.length
      pieces.push(own, Buffer.from('}'))
    }
  }
  await hold()
  const { requests: _, ...rest } = json
  const others = JSON.stringify(rest).slice(1, -1)
  const head = `{${others === '' ? '' : `${others},`}"requests":[`
  return Buffer.concat([Buffer.from(head), ...pieces, Buffer.from(']}')])
}

function writerFor(services: RelayServices, call: CallCore, attempt: Attempt): (request: BatchRequest) => Uint8Array {
  const { channel, upstreamModel } = attempt
  const provider = providerFor(channel.type)
  const native = provider.native.claude
  const providerCall = providerCallOf(services, call, { attempt, stream: false })
  const prompt = systemPromptOf(channel)
  const before = channel.setting['system_prompt_override'] === true
  const override = channel.paramOverride
  return ({ params, promptTokens }) => {
    const most = channel.maxInputTokens
    if (most > 0 && promptTokens > most)
      throw new DomainError('relay.prompt_too_long', { tokens: promptTokens, limit: most })
    const received = { json: params, bytes: Buffer.from(JSON.stringify(params)) }
    if (passesThrough(channel.setting, services) || !native) return asBytes(bodyAsReceived(received, upstreamModel))
    const json = prompt === '' ? params : claude.withSystemPrompt(params, { prompt, before })
    const body = prompt === '' ? received : { json, bytes: Buffer.from(JSON.stringify(json)) }
    const made = native.request(body, providerCall)
    return asBytes(withParamOverride(made, { provider, call: providerCall, override }).body)
  }
}

const asBytes = (body: unknown): Uint8Array => (body instanceof Uint8Array ? body : Buffer.from(JSON.stringify(body)))
