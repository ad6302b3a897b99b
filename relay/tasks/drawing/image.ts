import { findDrawing } from '#features/tasks/service/store.ts'
import type { RelayServices } from '#relay/request/call.ts'
import type { Exchange } from '#relay/limited-call.ts'
import { proxyOf } from '#core/proxy-setting.ts'
import { askWorker } from '#relay/transport/worker-fetch.ts'
import { sendUnsigned } from '#relay/upstream-call/send.ts'

const largestImage = 64 * 1024 * 1024
const downloadLimitMs = 60_000

type Image = { status: number; contentType: string; body: Buffer }

/** Null: there is none; undefined: nobody knows. No id has a NUL, and the database cannot even be asked for one. */
async function lookUp(services: RelayServices, id: string) {
  if (id.includes('\0')) return null
  return findDrawing(services, id).catch((error: unknown) => {
    services.log.error({ err: error }, 'a drawing could not be looked up')
    return undefined
  })
}

/** An image by its task's id, for everyone who has the address. It may still be growing. */
export async function sendImage(services: RelayServices, id: string, { res }: Exchange): Promise<void> {
  res.setHeader('x-request-id', services.ambient.newId(20))
  const task = await lookUp(services, id)
  if (task === undefined) {
    res.status(503).setHeader('retry-after', '5').json({ error: 'http_get_image_failed' })
    return
  }
  if (!task || task.imageUrl === '') {
    res.status(400).json({ error: 'midjourney_task_not_found' })
    return
  }
  let image: Image
  try {
    image = await download(services, task)
  } catch (error) {
    services.log.warn({ err: error, task: task.id }, 'a picture could not be fetched')
    res.status(500).json({ error: 'http_get_image_failed' })
    return
  }
  if (image.status !== 200) {
    res.status(image.status).json({ error: image.body.toString('utf8', 0, 10_000) })
    return
  }
  // It comes from elsewhere and is shown under our name: whatever it is, it may do nothing here.
  res.setHeader('content-security-policy', "default-src 'none'; sandbox")
  res.setHeader('x-content-type-options', 'nosniff')
  if (task.status === 'SUCCESS') res.setHeader('cache-control', 'public, max-age=86400')
  res.setHeader('content-type', image.contentType || 'image/jpeg').end(image.body)
}

/**
 * Through the operator's worker, else through the channel's proxy, else straight, but only to the open internet: the address is the
 * upstream's word, and a worker or a proxy may stand in a network of its own.
 */
async function download(services: RelayServices, task: { imageUrl: string; channelId: number }): Promise<Image> {
  const workerUrl = services.options.get('WorkerUrl')
  const viaWorker = workerUrl !== '' && task.imageUrl.startsWith('https:')
  const proxy = proxyOf(services.channels.channel(task.channelId)?.setting ?? {})
  if (!viaWorker && !proxy) {
    const reply = await services.media.guardedFetch(task.imageUrl, {
      maxBytes: largestImage,
      timeoutMs: downloadLimitMs,
    })
    return { status: reply.status, contentType: reply.headers['content-type'] ?? '', body: reply.body }
  }
  services.media.check(task.imageUrl)
  const sending = {
    firstByteTimeoutMs: downloadLimitMs,
    idleTimeoutMs: downloadLimitMs,
    signal: AbortSignal.timeout(downloadLimitMs),
  }
  const worker = { url: workerUrl, key: services.options.get('WorkerValidKey') }
  const reply = viaWorker
    ? await askWorker(services.transport, worker, { request: { url: task.imageUrl }, ...sending })
    : await sendUnsigned(services.transport, { method: 'GET', url: task.imageUrl, headers: {}, proxy, ...sending })
  return {
    status: reply.status,
    contentType: reply.headers['content-type'] ?? '',
    body: await reply.bytes(largestImage),
  }
}
