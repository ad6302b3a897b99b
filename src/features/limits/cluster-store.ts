import cluster, { type Worker } from 'node:cluster'
import type { RequestVerdict } from '#core/limits/request-limit.ts'
import { inTime } from './in-time.ts'
import { createMemoryStore, type RequestAsk, type RequestEnd, type RequestStore } from './request-store.ts'
import { createUseStore, type UseAsk, type UseCount, type UseStore } from './use-store.ts'

type Question = { act: 'admit'; ask: RequestAsk } | { act: 'end'; ask: RequestEnd } | { act: 'use'; ask: UseAsk }
type Verdict = RequestVerdict | UseCount
/** What goes between a worker and the first process; other messages pass there too. */
type Asked = { requestLimits: { number: number } & Question }
type Answered = { requestLimits: { number: number; verdict: Verdict } }

const longestWaitMs = 5000

const isOurs = (message: unknown): message is { requestLimits: object } =>
  typeof message === 'object' && message !== null && 'requestLimits' in message

/** In the first process: counts for all of its workers. */
export function countForWorkers(): void {
  const store = createMemoryStore()
  const count = createUseStore()
  cluster.on('message', (worker: Worker, message: unknown) => {
    if (!isOurs(message)) return
    const { number, ...question } = (message as Asked).requestLimits
    if (question.act === 'end') return void store.end(question.ask)
    const decided: Promise<Verdict> = question.act === 'use' ? count(question.ask) : store.admit(question.ask)
    void decided.then((verdict) => {
      const answer: Answered = { requestLimits: { number, verdict } }
      // A worker that has died meanwhile receives nothing.
      if (worker.isConnected()) worker.send(answer, () => {})
    })
  })
}

/** In a worker: asks the first process, which all workers share. */
export function createClusterStore(waitMs = longestWaitMs): { requests: RequestStore; uses: UseStore } {
  const waiting = new Map<number, (verdict: Verdict) => void>()
  let asked = 0
  process.on('message', (message: unknown) => {
    if (!isOurs(message)) return
    const { number, verdict } = (message as Answered).requestLimits
    waiting.get(number)?.(verdict)
  })
  const send = (question: Question): number => {
    asked += 1
    const message: Asked = { requestLimits: { number: asked, ...question } }
    process.send?.(message)
    return asked
  }
  const answerTo = <Answer extends Verdict>(question: Question): Promise<Answer> => {
    const number = send(question)
    const answer = new Promise<Verdict>((resolve) => waiting.set(number, resolve)) as Promise<Answer>
    const late = () => new Error('the first process does not count')
    return inTime(answer, waitMs, late).finally(() => waiting.delete(number))
  }
  return {
    requests: {
      admit: (ask) => answerTo<RequestVerdict>({ act: 'admit', ask }),
      end: async (ask) => void send({ act: 'end', ask }),
    },
    uses: (ask) => answerTo<UseCount>({ act: 'use', ask }),
  }
}
