import { expandOther } from '#core/log-other.ts'
import { afterAll, expect, test } from 'vitest'
import { startProduct, until } from '../support/processes.ts'
import type { TestToken } from '../support/factories.ts'
import { callOnce } from './traffic.ts'
import { createWorld } from './world.ts'

const world = await createWorld()
await world.make.channel()
// Four processes on two instances: each keeps its own rows.
const products = await Promise.all(
  [1, 2].map(() => startProduct({ isPatient: true, environment: { ...world.environment, WORKERS: '2' } })),
)
afterAll(async () => {
  await Promise.all(products.map((product) => product.killAll()))
  await world[Symbol.asyncDispose]()
})

/** Calls often enough that every process answers some; connections are not reused, so they are spread. */
const everywhere = async (token: TestToken, model?: string): Promise<number[]> => {
  const calls = products.flatMap(({ url }) =>
    Array.from({ length: 6 }, () =>
      callOnce(url, token, { kind: 'plain', text: 'hello', ...(model ? { model } : {}) }),
    ),
  )
  return (await Promise.all(calls)).map(({ status }) => status)
}

const untilEverywhere = (token: TestToken, status: number, model?: string) =>
  until(async () => (await everywhere(token, model)).every((answer) => answer === status), {
    what: `not every process answers ${status}`,
  })

const anyone = async (): Promise<TestToken & { user: number }> => {
  const user = await world.make.user()
  return { ...(await world.make.token(user)), user: user.id }
}

test('a disabled token is refused by every process at once, and served again when it is enabled', async () => {
  const token = await anyone()
  await untilEverywhere(token, 200)
  await world.pool.query('update tokens set status = 2 where id = $1', [token.id])
  await untilEverywhere(token, 401)
  await world.pool.query('update tokens set status = 1 where id = $1', [token.id])
  await untilEverywhere(token, 200)
})

test('a banned or removed user is refused by every process at once, whose running stream ends as it would and is charged', async () => {
  const token = await anyone()
  await untilEverywhere(token, 200)
  const stream = callOnce(products[0]?.url ?? '', token, {
    kind: 'stream',
    text: '[[gap=60,words=40]] tell something',
    onChunk: (() => {
      let banned: Promise<unknown> | null = null
      return () => void (banned ??= world.pool.query('update users set status = 2 where id = $1', [token.user]))
    })(),
  })
  await untilEverywhere(token, 403)
  const streamed = await stream
  expect(streamed.complete).toBe(true)
  const { rows } = await world.pool.query('select quota::int from logs where request_id = $1', [streamed.id])
  expect(rows[0].quota).toBeGreaterThan(0)
  await world.pool.query('update users set status = 1, deleted_at = now() where id = $1', [token.user])
  await untilEverywhere(token, 500)
})

test('a disabled channel gets no further call from any process', async () => {
  const token = await anyone()
  const { id } = await world.make.channel({ models: 'only-here' })
  await world.make.option('ModelRatio', JSON.stringify({ 'only-here': 1, 'gpt-4o-mini': 0.075 }))
  await untilEverywhere(token, 200, 'only-here')
  await world.pool.query('update channels set status = 2 where id = $1', [id])
  await untilEverywhere(token, 503, 'only-here')
  await world.pool.query('update channels set status = 1 where id = $1', [id])
  await untilEverywhere(token, 200, 'only-here')
})

test('a changed price holds for every process at once, and no call is charged half by one and half by the other', async () => {
  const token = await anyone()
  const ratioOf = async (): Promise<Set<number>> => {
    await everywhere(token, 'priced')
    const { rows } = await world.pool.query<{
      other: Record<string, unknown>
      quota: string
      prompt_tokens: number
      completion_tokens: number
    }>(
      "select * from (select * from logs where model_name = 'priced' order by created_at desc, id desc limit 12) latest",
    )
    const ratios = rows.map((row) => {
      const { model_ratio: ratio, completion_ratio: completion } = expandOther(row.other, 'priced') as Record<
        'model_ratio' | 'completion_ratio',
        number
      >
      expect(Number(row.quota)).toBe(Math.round(ratio * (row.prompt_tokens + completion * row.completion_tokens)))
      return ratio
    })
    return new Set(ratios)
  }
  await world.make.channel({ models: 'priced' })
  for (const ratio of [3, 7]) {
    await world.make.option('ModelRatio', JSON.stringify({ priced: ratio }))
    await until(
      async () => {
        const seen = await ratioOf()
        return seen.size === 1 && seen.has(ratio)
      },
      { what: `not every process charges by ${ratio}` },
    )
  }
})
