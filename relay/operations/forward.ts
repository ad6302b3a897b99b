import { DomainError } from '#core/errors.ts'
import type { ReportedUsage } from '#core/usage.ts'
import { SettleFailed } from '#features/ledger/service.ts'
import type { AttemptPlan } from '#relay/gateway/attempts.ts'
import { asAttemptFailure, masked } from '#relay/gateway/answer.ts'
import type { RelayServices } from '#relay/gateway/call.ts'
import { AttemptFailed, failureOfDomainError } from '#relay/gateway/failure.ts'
import { withToken } from '#relay/gateway/key-exchange.ts'
import { toProviderCall } from '#relay/gateway/provider-call.ts'
import { overridden } from '#relay/gateway/sent-body.ts'
import { shapeFailure } from '#relay/gateway/shape-failure.ts'
import { timeoutsOf } from '#relay/gateway/timeouts.ts'
import { providerFor } from '#relay/providers/registry.ts'
import type { PlainTranslation, Provider, ProviderCall } from '#relay/providers/types.ts'
import { retryAfterMs } from '#relay/upstream/retry-after.ts'
import type { UpstreamReply } from '#relay/upstream/send.ts'
import { plainChargeRow, type PlainEnd, plainUsage } from './bill.ts'
import { inWantedEncoding } from './embedding-encoding.ts'
import type { PlainCall } from './types.ts'
import { createTail } from './tail.ts'

const largestErrorBody = 1024 * 1024
const largestAnswer = 128 * 1024 * 1024

type Try = {
  services: RelayServices
  call: PlainCall
  plan: AttemptPlan
  provider: Provider
  providerCall: ProviderCall
  translation: PlainTranslation
  sentAt: number
}

/**
 * One try of an operation on one channel, to the settled answer.
 * @throws {AttemptFailed} when nothing has reached the caller and another channel may be tried.
 */
export async function forwardPlain(services: RelayServices, call: PlainCall, plan: AttemptPlan): Promise<void> {
  const { attempt } = plan
  const provider = providerFor(attempt.channel.type)
  const translation = provider.plain?.[call.asked.operation]
  if (!translation) {
    const refusal = failureOfDomainError(new DomainError('relay.operation_unsupported'))
    throw new AttemptFailed(refusal, { local: true, elsewhere: true })
  }
  const plainCall = toProviderCall(services, call, { attempt, stream: call.stream })
  const current: Try = {
    services,
    call,
    plan,
    provider,
    providerCall: plainCall,
    translation,
    sentAt: performance.now(),
  }
  try {
    current.providerCall = await withToken(services, provider, plainCall)
    await answer(current, await send(current))
  } catch (error) {
    if (call.gone.signal.aborted) return await settle(current, { reported: {}, firstByteMs: null, end: 'hung-up' })
    if (call.halt.signal.aborted) throw new DomainError('relay.stopping', {}, { cause: error })
    const failed = asAttemptFailure(error)
    throw new AttemptFailed(masked(failed.failure, [attempt.key.value, plainCall.channel.baseUrl]), {
      local: failed.local,
      elsewhere: failed.elsewhere,
      connection: failed.connection,
      retryAfterMs: failed.retryAfterMs,
      cause: failed.cause,
    })
  }
}

async function send({ services, call, plan, provider, providerCall, translation }: Try): Promise<UpstreamReply> {
  const { setting } = plan.attempt.channel
  const built = translation.request(call.asked, providerCall)
  const unsigned = built.body instanceof FormData ? built : overridden(services, plan.attempt.channel, built)
  const request = provider.sign?.(unsigned, providerCall) ?? unsigned
  const { body, headers } = await toBytes(request.body, request.headers)
  return services.transport.send({
    method: request.method,
    url: request.url,
    headers,
    body,
    signal: call.halt.signal,
    proxy: typeof setting['proxy'] === 'string' && setting['proxy'] !== '' ? setting['proxy'] : undefined,
    ...timeoutsOf(setting, call.stream),
  })
}

/** A form becomes multipart bytes with the boundary in its header; a JSON value becomes text. */
async function toBytes(body: unknown, headers: Record<string, string>) {
  if (body instanceof FormData) {
    const encoded = new Response(body)
    const contentType = encoded.headers.get('content-type') ?? 'multipart/form-data'
    return { body: new Uint8Array(await encoded.arrayBuffer()), headers: { ...headers, 'content-type': contentType } }
  }
  const bytes = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body)
  return { body: bytes, headers }
}

async function answer(current: Try, reply: UpstreamReply): Promise<void> {
  const { services, provider, plan } = current
  if (reply.status < 200 || reply.status >= 300) {
    const failure = provider.error(reply.status, await reply.text(largestErrorBody))
    throw new AttemptFailed(shapeFailure(services, plan.attempt.channel, failure), {
      local: false,
      retryAfterMs: retryAfterMs(reply.headers, services.ambient.now().getTime()) ?? null,
    })
  }
  const contentType = String(reply.headers['content-type'] ?? '')
  return contentType.includes('json') ? answerJson(current, reply) : answerBytes(current, reply, contentType)
}

async function answerJson(current: Try, reply: UpstreamReply): Promise<void> {
  const { call, translation } = current
  const { res, asked } = call
  const text = await reply.text(largestAnswer)
  const json = readJson(text)
  const usage = translation.usage(json)
  const seconds = secondsOf(json)
  await settle(current, {
    reported: { usage, seconds },
    firstByteMs: performance.now() - call.startedAt,
    end: 'complete',
  })
  const translated = translation.response ? translation.response(json, asked) : json
  const shaped =
    asked.operation === 'embeddings' ? inWantedEncoding(translated, asked.json['encoding_format']) : translated
  res.status(200).setHeader('content-type', 'application/json; charset=utf-8')
  res.end(shaped === json ? text : JSON.stringify(shaped))
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new AttemptFailed(failureOfDomainError(new DomainError('relay.reply_malformed')), { local: false, cause })
  }
}

/** Sound, subtitles and event streams go through as they come; only the end waits for the settlement. */
async function answerBytes(current: Try, reply: UpstreamReply, contentType: string): Promise<void> {
  const { call, translation } = current
  const { res, gone } = call
  const tail = createTail(contentType.includes('text/event-stream'))
  let firstByteMs: number | null = null
  const progress = () => ({ reported: { usage: tail.usage(translation.usage), seconds: undefined }, firstByteMs })
  const start = (): void => {
    if (res.headersSent) return
    res.status(200).setHeader('content-type', contentType || 'application/octet-stream')
    res.flushHeaders()
  }
  try {
    for await (const chunk of reply.body) {
      firstByteMs ??= performance.now() - call.startedAt
      const due = tail.push(chunk)
      if (due.length === 0) continue
      start()
      if (!res.write(due)) await drained(call)
    }
  } catch (error) {
    if (gone.signal.aborted) return await settle(current, { ...progress(), end: 'hung-up' })
    if (!res.headersSent) throw error
    await settle(current, { ...progress(), end: 'failed' })
    // The caller must not take a cut answer for a whole one.
    res.destroy()
    return
  }
  await settle(current, { ...progress(), end: 'complete' })
  start()
  res.end(tail.rest())
}

const drained = ({ res, gone }: PlainCall): Promise<void> =>
  new Promise((resolve) => {
    res.once('drain', resolve)
    gone.signal.addEventListener('abort', () => resolve(), { once: true })
  })

type End = {
  reported: { usage?: ReportedUsage | undefined; seconds?: number | undefined }
  firstByteMs: number | null
  end: PlainEnd['end']
}

async function settle({ services, call, plan, sentAt }: Try, { reported, firstByteMs, end }: End): Promise<void> {
  const { attempt } = plan
  const used = await plainUsage(call, attempt.upstreamModel, { usage: reported.usage, seconds: reported.seconds })
  const upstreamMs = performance.now() - sentAt
  plan.attempts.push({
    channel_id: attempt.channel.id,
    channel_name: attempt.channel.name,
    key_index: attempt.key.position,
    status: end === 'failed' ? 500 : 200,
    reason: '',
    ms: Math.round(upstreamMs),
  })
  const row = plainChargeRow(services, call, { plan, end: { used, firstByteMs, upstreamMs, end } })
  try {
    await services.ledger.settle(row, call.res.headersSent ? 'go-on' : 'give-up')
  } catch (error) {
    if (!(error instanceof SettleFailed)) throw error
    throw new AttemptFailed(failureOfDomainError(new DomainError('relay.unavailable')), { local: true, cause: error })
  }
}

/** The length of a recording, where the answer tells it. */
function secondsOf(json: unknown): number | undefined {
  if (typeof json !== 'object' || json === null) return undefined
  const { duration, usage } = json as { duration?: unknown; usage?: { seconds?: unknown } | null }
  const value = typeof duration === 'number' ? duration : usage?.seconds
  return typeof value === 'number' ? value : undefined
}
