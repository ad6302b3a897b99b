import { expect, test } from 'vitest'
import { openHolds } from '#test/relay/caller-dialects.ts'
import { long } from '#test/support/long.ts'
import { startMeteredApp } from './metered-upstream.ts'

const calls = long ? 10_000 : 400
const perToken = 3
const tokensPerEvent = 3
const models = { chat: 'm-chat', plain: 'm-plain', image: 'dall-e-2', rank: 'rerank-1', audio: 'tts-1' }

const names = Object.values(models)
// Any of OpenAI's form; the type decides who ranks.
const channels = [{ models: names.filter((name) => name !== models.rank).join(',') }, { type: 38, models: models.rank }]
const { app } = await startMeteredApp(channels, {
  ModelRatio: JSON.stringify(Object.fromEntries(names.map((name) => [name, 1]))),
  CompletionRatio: JSON.stringify(Object.fromEntries(names.map((name) => [name, perToken]))),
  ModelPrice: '{"dall-e-2":0.0002}',
})

let state = 20_261_122
/** The same sequence in every run. */
const below = (limit: number): number => {
  state = (state * 1_103_515_245 + 12_345) % 2 ** 31
  return Math.floor((state / 2 ** 31) * limit)
}

type Input = { path: string; body: Record<string, unknown> }

function chatInput(): Input {
  const stream = below(2) === 0
  const limit = [{}, { max_tokens: 1 + below(300) }, { max_tokens: 128_000 }][below(3)]
  return {
    path: '/v1/chat/completions',
    body: {
      model: models.chat,
      messages: [{ role: 'user', content: `${'word '.repeat(below(60))}[${1 + below(400)}/${tokensPerEvent}]` }],
      ...limit,
      ...(below(5) === 0 ? { n: 2 } : {}),
      ...(stream ? { stream, stream_options: { include_usage: true } } : {}),
    },
  }
}

const tokensInput = (): number[] => Array.from({ length: 1 + below(400) }, () => below(50_000))

function inputOf(operation: number): Input {
  const text = 'word '.repeat(1 + below(200))
  switch (operation) {
    case 0:
      return { path: '/v1/embeddings', body: { model: models.plain, input: tokensInput() } }
    case 1:
      return { path: '/v1/embeddings', body: { model: models.plain, input: [tokensInput(), tokensInput()] } }
    case 2:
      return { path: '/v1/moderations', body: { model: models.plain, input: [text, text] } }
    case 3:
      return { path: '/v1/images/generations', body: { model: models.image, prompt: text, n: 1 + below(4) } }
    case 4:
      return { path: '/v1/audio/speech', body: { model: models.audio, input: text, voice: 'alloy' } }
    case 5:
      return {
        path: '/v1/rerank',
        body: { model: models.rank, query: text.slice(0, 40), documents: [text, text, text] },
      }
    default:
      return chatInput()
  }
}

test('generated calls of every operation, at once and on small balances, end no lower than a chunk a stream below zero', async () => {
  const width = 10
  const served = new Map<string, number>()
  const payers = Math.ceil(calls / 50)
  // Each is served once for certain; whether a small balance can pay for it is chance.
  const wealthy = await app.make.token(await app.make.user({ quota: 10_000_000 }))
  for (let operation = 0; operation < 8; operation += 1) {
    const { path, body } = inputOf(operation)
    const reply = await app.relay(wealthy, path, body)
    expect(reply.status, `${path} ${await reply.text()}`).toBe(200)
    served.set(path, 1)
  }
  let next = 0
  const runPayer = async (): Promise<void> => {
    for (let own = next++; own < payers; own = next++) {
      const user = await app.make.user({ quota: 20 + below(6000) })
      const token = await app.make.token(
        user,
        below(2) === 0 ? {} : { unlimited: false, remainQuota: 20 + below(6000) },
      )
      const inputs = Array.from({ length: 50 }, () => inputOf(below(8)))
      await Promise.all(
        Array.from({ length: width }, async () => {
          for (let wanted = inputs.pop(); wanted; wanted = inputs.pop()) {
            const reply = await app.relay(token, wanted.path, wanted.body)
            const text = await reply.text()
            if (reply.status === 200) served.set(wanted.path, (served.get(wanted.path) ?? 0) + 1)
            else expect([401, 403], `${wanted.path} ${text.slice(0, 300)}`).toContain(reply.status)
          }
        }),
      )
    }
  }
  await Promise.all([runPayer(), runPayer()])
  expect([...served.keys()].toSorted()).toEqual([
    '/v1/audio/speech',
    '/v1/chat/completions',
    '/v1/embeddings',
    '/v1/images/generations',
    '/v1/moderations',
    '/v1/rerank',
  ])
  await expect.poll(() => openHolds(app)).toBe(0)
  // Several streams of one user may be cut at once, each within a chunk.
  const chunk = perToken * tokensPerEvent * 2
  const { rows } = await app.pool.query<{ user: number; quota: number; remain: number | null; cut: number }>(
    `select * from (
       select u.id as user, u.quota::int, case when not t.unlimited_quota then t.remain_quota::int end as remain,
         (select count(*)::int from logs l where l.user_id = u.id and l.other ->> 'end' = 'unpaid') as cut
       from users u join tokens t on t.user_id = u.id
     ) payers where least(quota, remain) < -$1::int * greatest(cut, 1)`,
    [chunk],
  )
  expect(rows).toEqual([])
  expect(await app.violations()).toEqual([])
})

test('tokens that come as numbers are reserved as tokens: what cannot be paid is refused before any upstream is called', async () => {
  const user = await app.make.user({ quota: 30 })
  const token = await app.make.token(user)
  const input = Array.from({ length: 2000 }, (_, index) => index)
  const replies = await Promise.all(
    Array.from({ length: 10 }, (_, index) =>
      app.relay(token, '/v1/embeddings', { model: models.plain, input: index % 2 === 0 ? input : [input, input] }),
    ),
  )
  expect(replies.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 403))
  expect(await app.balanceOf(user.id)).toBe(30)
})
