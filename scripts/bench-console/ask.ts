import superjson from 'superjson'
import { Pool } from 'undici'
import { percentile } from '../bench/generator/load.ts'
import type { Given, Question } from './questions.ts'
import { firstId, rootToken, userToken } from './seed.ts'

export type Answered = { what: string; p50: number; p95: number; bytes: number }

const headersOf = ({ as }: Question): Record<string, string> => ({
  authorization: `Bearer ${as === 'root' ? rootToken : userToken}`,
  'new-api-user': String(as === 'root' ? firstId - 1 : firstId),
})

function pathOf(question: Question, given: Given): string {
  if ('path' in question) return question.path(given)
  const input = question.input ? `?input=${encodeURIComponent(superjson.stringify(question.input(given)))}` : ''
  return `/trpc/${question.procedure}${input}`
}

/** What the product gives up over is as slow as it waited. */
const isTooSlow = (text: string): boolean => /query\.too_slow|查询耗时过长/.test(text)

async function askOnce(pool: Pool, question: Question, given: Given): Promise<{ ms: number; bytes: number }> {
  const path = pathOf(question, given)
  const startedAt = performance.now()
  const { statusCode, body } = await pool.request({ path, method: 'GET', headers: headersOf(question) })
  const text = await body.text()
  const ms = performance.now() - startedAt
  // Some documented paths say with 200 that they failed.
  const isFine = statusCode === 200 && !text.startsWith('{"success":false')
  if (!isFine && !isTooSlow(text)) {
    throw new Error(`${question.what}: ${statusCode} ${decodeURIComponent(path)} ${text.slice(0, 300)}`)
  }
  return { ms, bytes: text.length }
}

const longestMs = 4000

/** Asks one thing again and again, one after another, with other values each time. */
export async function ask(pool: Pool, question: Question, input: Given & { repeats: number }): Promise<Answered> {
  const seen: { ms: number; bytes: number }[] = []
  await askOnce(pool, question, input)
  const startedAt = performance.now()
  // What is slow is known to be so after two.
  const isEnough = (): boolean => seen.length > 1 && performance.now() - startedAt > longestMs
  while (seen.length < input.repeats && !isEnough()) seen.push(await askOnce(pool, question, input))
  const times = seen.map(({ ms }) => ms).toSorted((left, right) => left - right)
  const bytes = seen.reduce((sum, one) => sum + one.bytes, 0) / seen.length
  return { what: question.what, p50: percentile(times, 50), p95: percentile(times, 95), bytes }
}

export const connect = (origin: string): Pool =>
  new Pool(origin, { connections: 1, bodyTimeout: 60_000, headersTimeout: 60_000 })
