import { pipeline } from 'node:stream/promises'
import { clientNetwork } from '#features/client-address/service.ts'
import { askToComeAgain, isMemoryShort } from '#features/request-bodies/read-body.ts'
import { findDrawing } from '#features/tasks/service/store.ts'
import { hidesFailures } from '#core/options/hides-failures.ts'
import type { RelayServices } from '#relay/request/call.ts'
import type { Exchange } from '#relay/limited-call.ts'
import { proxyOf } from '#core/proxy-setting.ts'
import { TransportError, type UpstreamReply } from '#relay/transport/send.ts'
import { askWorker } from '#relay/transport/worker-fetch.ts'
import { sendUnsigned } from '#relay/upstream-call/send.ts'

const largestImage = 64 * 1024 * 1024
const pauseLimitMs = 60_000
/** For the whole of it: whoever takes it more slowly than any line does keeps a connection on both sides. */
const longestDeliveryMs = 300_000
/** What is here of one at a time, on its way from one connection to the other. */
const bytesOnTheWay = 256 * 1024
const longestError = 10_000
const retryAfterSeconds = '5'

/** Null: there is none; undefined: nobody knows. No id has a NUL, and the database cannot even be asked for one. */
async function lookUp(services: RelayServices, id: string) {
  if (id.includes('\0')) return null
  return findDrawing(services, id).catch((error: unknown) => {
    services.log.error({ err: error }, 'a drawing could not be looked up')
    return undefined
  })
}

/** An image by its task's id, for everyone who has the address. It may still be growing. */
export async function sendImage(services: RelayServices, id: string, { req, res }: Exchange): Promise<void> {
  res.setHeader('x-request-id', services.ambient.newId(20))
  const left = new AbortController()
  const holding = services.bodies.budget.open(clientNetwork(services, req))
  res.once('close', () => {
    holding.release()
    left.abort()
  })
  const task = await lookUp(services, id)
  if (task === undefined) {
    res.status(503).setHeader('retry-after', retryAfterSeconds).json({ error: 'http_get_image_failed' })
    return
  }
  if (!task || task.imageUrl === '') {
    res.status(400).json({ error: 'midjourney_task_not_found' })
    return
  }
  const signal = AbortSignal.any([left.signal, AbortSignal.timeout(longestDeliveryMs)])
  let reply: UpstreamReply
  try {
    await holding.raise(bytesOnTheWay)
    reply = await open(services, task, signal)
  } catch (error) {
    if (left.signal.aborted) return
    services.log.warn({ err: error, task: task.id }, 'an image could not be fetched')
    askToComeAgain(error, res)
    res.status(isMemoryShort(error) ? 503 : 500).json({ error: 'http_get_image_failed' })
    return
  }
  if (reply.status !== 200) {
    const isHidden = hidesFailures(services)
    if (isHidden) reply.cancel()
    res
      .status(reply.status)
      .json({ error: isHidden ? `upstream returned status ${reply.status}` : await beginningOf(reply) })
    return
  }
  // It comes from elsewhere and is shown under our name: whatever it is, it may do nothing here.
  res.setHeader('content-security-policy', "default-src 'none'; sandbox")
  res.setHeader('x-content-type-options', 'nosniff')
  if (task.status === 'SUCCESS') res.setHeader('cache-control', 'public, max-age=86400')
  const { 'content-length': length } = reply.headers
  if (length !== undefined) res.setHeader('content-length', length)
  res.setHeader('content-type', reply.headers['content-type'] || 'image/jpeg')
  // Nobody waits for what breaks off: a cut image is seen by its missing end.
  await pipeline(bounded(reply.body), res).catch((error: unknown) => {
    if (!left.signal.aborted) services.log.warn({ err: error, task: task.id }, 'an image broke off')
  })
}

async function* bounded(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let length = 0
  for await (const chunk of body) {
    length += chunk.length
    if (length > largestImage) throw new TransportError('too-large', { sent: true })
    yield chunk
  }
}

/** As much of an error as is shown. */
async function beginningOf({ body }: UpstreamReply): Promise<string> {
  const chunks: Uint8Array[] = []
  let length = 0
  try {
    for await (const chunk of body) {
      chunks.push(chunk)
      length += chunk.length
      if (length >= longestError) break
    }
  } catch {
    // What came of it is shown.
  }
  return Buffer.concat(chunks).toString('utf8', 0, longestError)
}

/**
 * Through the operator's worker, else through the channel's proxy, else straight, but only to the open internet: the address is the
 * upstream's word, and a worker or a proxy may stand in a network of its own.
 */
async function open(
  services: RelayServices,
  task: { imageUrl: string; channelId: number },
  signal: AbortSignal,
): Promise<UpstreamReply> {
  const { protocol, href } = services.media.check(task.imageUrl)
  const worker = { url: services.options.get('WorkerUrl'), key: services.options.get('WorkerValidKey') }
  const sending = { firstByteTimeoutMs: pauseLimitMs, idleTimeoutMs: pauseLimitMs, signal }
  if (worker.url !== '' && protocol === 'https:')
    return askWorker(services.transport, worker, { request: { url: href }, ...sending })
  const proxy = proxyOf(services.channels.channel(task.channelId)?.setting ?? {})
  if (proxy) return sendUnsigned(services.transport, { method: 'GET', url: href, headers: {}, proxy, ...sending })
  // Who has a worker does not show its own address.
  if (worker.url !== '') throw new TransportError('bad-url', { message: 'only https addresses can be fetched' })
  return services.media.open(href, { timeoutMs: pauseLimitMs, signal })
}
