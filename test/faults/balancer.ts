import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { Pool } from 'undici'
import { listenLocally } from '../support/local-server.ts'

type Node = { url: string; pool: Pool; ready: boolean; served: number }

const askEveryMs = 100

/**
 * What proxies do in small: kept-alive connections to every node, calls in turn to those that say they are ready, and no
 * second attempt. A call that breaks on the way is answered with 502.
 */
export async function startBalancer(urls: string[]) {
  const nodes: Node[] = urls.map((url) => ({ url, pool: new Pool(url), ready: false, served: 0 }))
  /** Those that were ready last: on a machine that stalls the only one seems away for a moment. */
  let last: Node[] = []
  let turn = 0
  let stopping = false

  const watch = async (node: Node): Promise<void> => {
    while (!stopping) {
      const reply = await fetch(`${node.url}/readyz`, { signal: AbortSignal.timeout(5000) }).catch(() => null)
      await reply?.body?.cancel()
      node.ready = reply?.status === 200
      await pause(askEveryMs)
    }
  }
  const forward = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await buffer(request)
    const ready = nodes.filter((node) => node.ready)
    if (ready.length > 0) last = ready
    turn += 1
    const node = last[turn % last.length]
    if (!node) return void response.writeHead(502).end('no node is ready')
    try {
      const { connection: _, 'transfer-encoding': __, ...headers } = request.headers
      const method = request.method === 'POST' ? 'POST' : 'GET'
      const reply = await node.pool.request({ path: request.url ?? '/', method, headers, body })
      const answer = await reply.body.arrayBuffer()
      const { connection: ___, 'keep-alive': ____, 'transfer-encoding': _____, ...rest } = reply.headers
      response.writeHead(reply.statusCode, { ...rest, 'content-length': answer.byteLength }).end(Buffer.from(answer))
      node.served += 1
    } catch (error) {
      response.writeHead(502).end(`${node.url}: ${String(error)}`)
    }
  }
  const listening = await listenLocally(createServer((request, response) => void forward(request, response)))
  const watching = Promise.all(nodes.map(watch))
  return {
    url: listening.url,
    isReady: (url: string) => nodes.some((node) => node.url === url && node.ready),
    served: (url: string) => nodes.find((node) => node.url === url)?.served ?? 0,
    [Symbol.asyncDispose]: async () => {
      stopping = true
      await watching
      await listening[Symbol.asyncDispose]()
      await Promise.all(nodes.map(({ pool }) => pool.destroy()))
    },
  }
}
