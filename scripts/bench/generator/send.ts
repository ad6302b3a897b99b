import type { Dispatcher } from 'undici'
import { conversation } from './body.ts'
import type { Connections } from './connections.ts'
import type { Load } from './load.ts'

/** What one load has seen so far. */
export type Tally = {
  answers: number
  failures: number
  refusals: number
  firstFailure: string
  latencies: number[]
  firstTokens: number[]
}

export const emptyTally = (): Tally => ({
  answers: 0,
  failures: 0,
  refusals: 0,
  firstFailure: '',
  latencies: [],
  firstTokens: [],
})

/** The shortest time that the gateway gives a statement of a call: whoever is refused for want of time has waited for that at least. */
const shortestLimitMs = 1000

const streamEnd = Buffer.from('[DONE]')

/** The first events of a stream have an empty text, or none. */
const hasText = (chunk: Buffer): boolean => /"content":\s*"[^"]/.test(chunk.toString('latin1'))

/** Sends requests of one load; each call of the result sends the next one and reports when its answer is over. */
export function createSender(load: Load, connections: Connections, tally: Tally) {
  const body = conversation(load)
  const options = load.keys.map((key): Dispatcher.DispatchOptions => ({
    path: load.path,
    method: 'POST',
    headers: ['content-type', 'application/json', 'authorization', `Bearer ${key}`],
    body,
  }))
  let turn = 0
  return (due: number, over: () => void): void => {
    const client = connections.take()
    const sentAt = performance.now()
    let status = 0
    let first = 0
    let last: Buffer | undefined
    const fail = (reason: string): void => {
      tally.failures += 1
      tally.firstFailure ||= reason
    }
    turn = (turn + 1) % options.length
    client.dispatch(options[turn] as Dispatcher.DispatchOptions, {
      onRequestStart: () => {},
      onResponseStart: (_controller, code) => void (status = code),
      onResponseData: (_controller, chunk) => {
        if (first === 0 && hasText(chunk)) first = performance.now()
        last = chunk
      },
      onResponseEnd: () => {
        connections.give(client)
        if (status === 503 && performance.now() - sentAt >= shortestLimitMs) tally.refusals += 1
        if (status !== 200) fail(`status ${status}: ${last?.toString().slice(0, 200)}`)
        else if (load.stream && !last?.includes(streamEnd)) fail('a stream without its end')
        else {
          tally.answers += 1
          tally.latencies.push(performance.now() - due)
          tally.firstTokens.push((first || performance.now()) - due)
        }
        over()
      },
      onResponseError: (_controller, error) => {
        connections.give(client)
        fail(String(error))
        over()
      },
    })
  }
}
