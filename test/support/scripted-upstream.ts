import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { listenLocally } from './local-server.ts'

export const cut = Symbol('the connection breaks')
export const hang = Symbol('silence, and the connection stays')

/** Bytes to send, a pause in milliseconds, something to wait for, or what becomes of the connection. */
export type Step = string | Uint8Array | number | Promise<unknown> | typeof cut | typeof hang

export type Play = {
  status?: number
  headers?: Record<string, string>
  steps: Step[]
}

type ReceivedRequest = { method: string; path: string; headers: IncomingHttpHeaders; bytes: Buffer }

/** A provider that sends exactly the bytes it was asked to, and keeps what it was sent. */
export async function startScriptedUpstream() {
  const plays: (Play | ((path: string) => Play))[] = []
  const received: ReceivedRequest[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const [, number = '', path = ''] = /^\/play(\d+)(.*)$/.exec(request.url ?? '') ?? []
    received.push({ method: request.method ?? '', path, headers: request.headers, bytes: Buffer.concat(chunks) })
    const play = plays[Number(number)]
    if (play === undefined) response.writeHead(404).end()
    else await perform(response, typeof play === 'function' ? play(path) : play)
  })
  const listening = await listenLocally(server)
  return {
    ...listening,
    received,
    /** The base address of a channel whose calls are all answered so, or by their paths. */
    play(play: Play | ((path: string) => Play)): string {
      plays.push(play)
      return `${listening.url}/play${plays.length - 1}`
    },
  }
}

export type ScriptedUpstream = Awaited<ReturnType<typeof startScriptedUpstream>>

async function perform(response: ServerResponse, { status = 200, headers, steps }: Play): Promise<void> {
  response.on('error', () => {})
  response.writeHead(status, { 'content-type': 'text/event-stream', ...headers })
  response.flushHeaders()
  for (const step of steps) {
    if (response.destroyed) return
    if (typeof step === 'number') await pause(step)
    else if (step instanceof Promise) await step
    else if (step === hang) return
    else if (step === cut) {
      // What was written before goes out first.
      await pause(5)
      response.destroy()
      return
    } else if (!response.write(step)) await taken(response)
  }
  response.end()
}

/** What was written has left, or nobody wants it any more. */
const taken = (response: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done).off('close', done)
      resolve()
    }
    response.on('drain', done).on('close', done)
  })

export const json = (value: unknown): Play => ({
  headers: { 'content-type': 'application/json' },
  steps: [JSON.stringify(value)],
})

/** Server-sent events of chat completions, the end mark included. */
export const chunks = (...values: unknown[]): Play => ({
  steps: [...values.map((value) => `data: ${JSON.stringify(value)}\n\n`), 'data: [DONE]\n\n'],
})
