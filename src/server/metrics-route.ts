import cluster, { type Worker } from 'node:cluster'
import { createHash, timingSafeEqual } from 'node:crypto'
import type { Handler, Request } from 'express'
import { AggregatorRegistry, type Registry } from 'prom-client'
import { clientOf } from '#features/client-address/service.ts'
import type { Services } from '#features/deps.ts'
import type { RelayServices } from '#relay/index.ts'

/** The values of one process. */
type Values = Awaited<ReturnType<Registry['getMetricsAsJSON']>>
/** What goes between workers and the first process; other messages pass there too. */
type Message =
  | { metrics: 'asked'; number: number }
  | { metrics: 'collect'; number: number }
  | { metrics: 'collected'; number: number; values: Values }
  | { metrics: 'answer'; number: number; values: Values[] }

const contentType = 'text/plain; version=0.0.4; charset=utf-8'
/** A worker that hangs is left out. */
const longestCollectingMs = 3000

const isOurs = (message: unknown): message is Message =>
  typeof message === 'object' && message !== null && 'metrics' in message

/** In the first process: collects what its workers count, for the worker that was asked. */
export function collectMetricsOfWorkers(): void {
  const collecting = new Map<number, (values: Values) => void>()
  let last = 0
  const send = (worker: Worker, message: Message): void => {
    if (worker.isConnected()) worker.send(message, () => {})
  }
  const collect = (): Promise<Values[]> =>
    new Promise((resolve) => {
      const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker?.isConnected() === true)
      const found: Values[] = []
      last += 1
      const number = last
      const finish = (): void => {
        clearTimeout(timeout)
        collecting.delete(number)
        resolve(found)
      }
      const timeout = setTimeout(finish, longestCollectingMs)
      collecting.set(number, (values) => {
        if (found.push(values) === workers.length) finish()
      })
      for (const worker of workers) if (worker) send(worker, { metrics: 'collect', number })
    })
  cluster.on('message', (worker: Worker, message: unknown) => {
    if (!isOurs(message)) return
    if (message.metrics === 'collected') return collecting.get(message.number)?.(message.values)
    void collect().then((values) => send(worker, { metrics: 'answer', number: message.number, values }))
  })
}

/** `GET /metrics` in the text form of Prometheus, of all processes of this start together. */
export function createMetricsRoute(services: Pick<RelayServices, 'environment' | 'options' | 'metrics'>): Handler {
  const { registry } = services.metrics
  const read = cluster.isWorker ? createClusterReader(registry) : () => registry.metrics()
  return async (req, res) => {
    res.setHeader('cache-control', 'no-store')
    if (!isAllowed(services, req)) {
      const { METRICS_KEY } = services.environment
      const reason = METRICS_KEY ? 'The key is not METRICS_KEY.' : 'Only this machine may ask: METRICS_KEY is not set.'
      return void res
        .status(METRICS_KEY ? 401 : 403)
        .type('text/plain')
        .send(`${reason}\n`)
    }
    const text = await read()
    res.setHeader('content-type', contentType)
    res.send(text)
  }
}

/** With a key whoever has it, else this machine alone. */
function isAllowed(services: Pick<Services, 'environment' | 'options'>, req: Request): boolean {
  const { METRICS_KEY } = services.environment
  if (!METRICS_KEY) return clientOf(services, req).loopback
  const key = /^bearer (.+)$/i.exec(req.headers.authorization ?? '')?.[1]
  return key !== undefined && timingSafeEqual(digest(key), digest(METRICS_KEY))
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/** In a worker: asks the first process, which asks all of them. */
function createClusterReader(registry: Registry): () => Promise<string> {
  const waiting = new Map<number, (values: Values[]) => void>()
  let last = 0
  const send = (message: Message): void => void process.send?.(message)
  process.on('message', (message: unknown) => {
    if (!isOurs(message)) return
    const { number } = message
    if (message.metrics === 'collect') {
      void registry.getMetricsAsJSON().then((values) => send({ metrics: 'collected', number, values }))
    } else if (message.metrics === 'answer') {
      waiting.get(number)?.(message.values)
      waiting.delete(number)
    }
  })
  return async () => {
    last += 1
    const number = last
    const values = await new Promise<Values[]>((resolve) => {
      waiting.set(number, resolve)
      send({ metrics: 'asked', number })
    })
    return AggregatorRegistry.aggregate(values).metrics()
  }
}
