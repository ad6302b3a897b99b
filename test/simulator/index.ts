import { createServer, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { answerRequest, type World } from './answer-request.ts'
import { takePrefix } from './directives.ts'
import { createFailureCounter } from './failures.ts'
import type { SimulatedTask } from './types.ts'
import { outcomeOf } from './outcome.ts'
import { answerUpgrade } from './realtime/serve.ts'
import type { RecordedRequest } from './recorder.ts'
import { answerSpark, sparkPattern } from './spark/serve.ts'

export type UpstreamOptions = {
  port?: number | undefined
  host?: string | undefined
  /** Keep what was asked (the last 1,000 requests). Switch off for benchmarks. */
  record?: boolean | undefined
}

/** A simulated AI provider: speaks OpenAI, Anthropic and Gemini, fails on demand (`directives.ts`). */
export type Upstream = {
  /** Without a trailing slash and without `/v1`. */
  url: string
  /** The address with directives in it: `withDirectives('status=500')` for a channel's base URL. */
  withDirectives: (directives: string) => string
  port: number
  requests: RecordedRequest[]
  /** Drawings and pieces of music that were submitted, by id. */
  tasks: Map<string, SimulatedTask>
  /** Requests being answered now. */
  readonly open: number
  /** Requests whose caller went away before the end of the answer. */
  readonly aborted: number
  /** Everything ever asked, also when nothing is recorded. */
  readonly total: number
  /** Lets the answers go on that wait at this gate, now and later. */
  openGate: (name: string) => void
  /** Forgets recorded requests, counters, ids and kept answers. */
  clear: () => void
  close: () => Promise<void>
  [Symbol.asyncDispose]: () => Promise<void>
}

function createWorld(record: boolean): World & { clear: () => void; openGate: (name: string) => void } {
  const gates = new Map<string, PromiseWithResolvers<void>>()
  const gateOf = (name: string) => {
    const gate = gates.get(name) ?? Promise.withResolvers<void>()
    gates.set(name, gate)
    return gate
  }
  let lastId = 0
  const requests: RecordedRequest[] = []
  const counter = createFailureCounter()
  const stored: World['stored'] = new Map()
  const tasks: World['tasks'] = new Map()
  const nextId = (prefix: string) => {
    lastId += 1
    return `${prefix}sim${String(lastId).padStart(8, '0')}`
  }
  const clear = () => {
    lastId = 0
    requests.length = 0
    counter.clear()
    stored.clear()
    tasks.clear()
  }
  const passGate = (name: string) => gateOf(name).promise
  const openGate = (name: string) => gateOf(name).resolve()
  return { record, requests, counter, stored, tasks, prepared: new Map(), nextId, passGate, clear, openGate }
}

const listening = (server: Server, port: number, host: string) =>
  new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => resolve())
  })

export async function startUpstream(options: UpstreamOptions = {}): Promise<Upstream> {
  const { port = 0, host = '127.0.0.1', record = true } = options
  const world = createWorld(record)
  let [open, aborted, total] = [0, 0, 0]
  const count = (response: ServerResponse) => {
    open += 1
    total += 1
    response.on('close', () => {
      open -= 1
      if (outcomeOf(response) === 'aborted') aborted += 1
    })
  }
  // Callers' pools keep idle connections; closing them first would look like failures nobody ordered.
  const server = createServer({ keepAliveTimeout: 120_000, requestTimeout: 0 }, (request, response) => {
    count(response)
    void answerRequest(world, request, response)
  })
  // Connections that asked for a socket are no business of the server's any more.
  const connections = new Set<Socket>()
  server.on('upgrade', (request, stream, head) => {
    const socket = stream as Socket
    total += 1
    connections.add(socket)
    socket.on('close', () => connections.delete(socket))
    const counts = {
      opened: () => {
        open += 1
      },
      closed: (byCaller: boolean) => {
        open -= 1
        if (byCaller) aborted += 1
      },
    }
    const { path } = takePrefix((request.url ?? '/').split('?', 1)[0] ?? '/')
    const answer = sparkPattern.test(path) ? answerSpark : answerUpgrade
    answer(world, { request, socket, head }, counts).catch(() => socket.destroy())
  })
  await listening(server, port, host)
  const address = server.address()
  const bound = typeof address === 'object' && address ? address.port : port
  const url = `http://${host}:${bound}`
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
      for (const socket of connections) socket.destroy()
    })
  return {
    url,
    withDirectives: (directives) => `${url}/~${directives.replaceAll(/[/?# ]/g, encodeURIComponent)}`,
    port: bound,
    requests: world.requests,
    tasks: world.tasks,
    get open() {
      return open
    },
    get aborted() {
      return aborted
    },
    get total() {
      return total
    },
    openGate: world.openGate,
    clear: () => {
      world.clear()
      aborted = 0
      total = 0
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}
