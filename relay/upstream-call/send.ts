import type { ChannelSecrets } from '#core/masking/secret-parts.ts'
import { proxyOf } from '#core/proxy-setting.ts'
import type { UpstreamFailure } from '#relay/chat/events.ts'
import { providerFor } from '#relay/providers/registry.ts'
import { maskFailure } from '#relay/providers/shared/mask-failure.ts'
import type { SocketRequest, UpstreamRequest } from '#relay/providers/types.ts'
import type { TimeLimits } from '#relay/transport/limits.ts'
import type { OpenedSocket } from '#relay/transport/open-socket.ts'
import type { SendRequest, Transport, UpstreamReply } from '#relay/transport/send.ts'
import { plainAddress, TransportError } from '#relay/transport/transport-error.ts'
import type { UpstreamChannel, UpstreamDeps } from './channel.ts'
import { timeoutsOf } from './timeouts.ts'

export type Sending = { limits: TimeLimits; signal?: AbortSignal | undefined }

/**
 * Sends a request signed, through the channel's proxy. Every call to an upstream goes out here.
 * @throws {TransportError} when no answer began.
 */
export async function sendToUpstream(
  { transport, ambient }: Pick<UpstreamDeps, 'transport' | 'ambient'>,
  channel: UpstreamChannel,
  { request, limits, signal }: Sending & { request: UpstreamRequest },
): Promise<UpstreamReply> {
  const signed = providerFor(channel.type).sign?.(request, { channel, ambient }) ?? request
  const { method, url, isLastFrame } = signed
  const body = signed.isForm ? asForm(signed.body) : signed.body
  const encoded = body instanceof FormData ? await formBytes(body, signed.headers) : textOrBytes(signed)
  const proxy = proxyOf(channel.setting)
  return transport.send({ method, url, ...encoded, isLastFrame, signal, proxy, ...limits }).catch((error: unknown) => {
    if (error instanceof TransportError) error.address ||= plainAddress(url)
    throw error
  })
}

/** Sends a request that is none of a channel's own calls: where a result lies, who checks persons. */
export const sendUnsigned = (transport: Pick<Transport, 'send'>, request: SendRequest): Promise<UpstreamReply> =>
  transport.send(request)

const textOrBytes = ({ body, headers }: UpstreamRequest) => ({
  headers,
  body: body === undefined || typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
})

/** Bytes of the caller's own, where those go through, stay what they are. */
function asForm(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || body instanceof Uint8Array) return body
  const form = new FormData()
  for (const [name, value] of Object.entries(body))
    form.set(name, typeof value === 'string' ? value : JSON.stringify(value))
  return form
}

/** Multipart bytes with the boundary in their header. */
async function formBytes(form: FormData, headers: Record<string, string>) {
  const encoded = new Response(form)
  const contentType = encoded.headers.get('content-type') ?? 'multipart/form-data'
  return { headers: { ...headers, 'content-type': contentType }, body: new Uint8Array(await encoded.arrayBuffer()) }
}

/**
 * Opens a socket through the channel's proxy, paused.
 * @throws {TransportError}; {SocketRefused} when the upstream answered otherwise.
 */
export const openUpstreamSocket = (
  { transport }: Pick<UpstreamDeps, 'transport'>,
  { setting }: UpstreamChannel,
  opening: { request: SocketRequest; signal: AbortSignal; largestFrame: number },
): Promise<OpenedSocket> =>
  transport.openSocket({
    ...opening.request,
    proxy: proxyOf(setting),
    signal: opening.signal,
    connectTimeoutMs: timeoutsOf(setting, 'stream').connectTimeoutMs,
    largestFrame: opening.largestFrame,
  })

export const isGood = ({ status }: { status: number }): boolean => status >= 200 && status < 300

export type FailingReply = Pick<UpstreamReply, 'status' | 'headers' | 'text'>

const largestErrorBody = 1024 * 1024

/** The words of a refusal; none where they are too many, cut or unreadable, for its status has come all the same. */
async function wordsOf(reply: FailingReply): Promise<string> {
  try {
    return await reply.text(largestErrorBody)
  } catch (error) {
    if (error instanceof TransportError && error.kind !== 'aborted') return ''
    throw error
  }
}

/** Why an upstream did not answer, in its own words without the secrets of its channel. */
export async function upstreamFailure(reply: FailingReply, secrets: ChannelSecrets): Promise<UpstreamFailure> {
  const text = await wordsOf(reply)
  return maskFailure(providerFor(secrets.type).error(reply.status, text, reply.headers), secrets)
}
