import { describe, expect, test } from 'vitest'
import { quotaOfReceipt } from '#core/pricing/charge.ts'
import { receipt } from '#core/pricing/receipt.ts'
import { costByClient } from '#test/support/cost-by-client.ts'
import { ask, chargesOf, converse, errorOf, oneHold, openHolds, payerWith, startRealtime, untilFree } from './world.ts'

const world = await startRealtime()

/** Text in 10, text out 20, audio in 30, audio out 40. */
const exampleTen = '[[usage=40:60,audio=30:40]] Hello'
/** (10 + 20 × 4 + 30 × 8 + 40 × 8 × 2) × 2.5. */
const chargeOfTen = 2425

test('a response costs what its usage says, text and audio each at its price', async () => {
  const { app } = world
  const payer = await payerWith(app, 100_000)
  const session = await world.openSession({ key: payer.key })
  await converse(session, exampleTen)
  // Charged before its end was sent, and the next one is set aside.
  expect(await app.balanceOf(payer.userId)).toBe(100_000 - chargeOfTen - oneHold)
  expect(await openHolds(app, payer.userId)).toBe(1)
  session.socket.close()
  await untilFree(app, payer.userId)
  expect(await app.balanceOf(payer.userId)).toBe(100_000 - chargeOfTen)
  const [row] = await chargesOf(app, payer.userId)
  expect(row).toMatchObject({
    quota: chargeOfTen,
    request_id: session.requestId,
    prompt_tokens: 40,
    completion_tokens: 60,
    is_stream: true,
    content: '模型倍率 2.50，补全倍率 4.00，音频倍率 8.00，音频补全倍率 2.00，分组倍率 1.00',
    other: {
      ws: true,
      text_input: 10,
      text_output: 20,
      audio_input: 30,
      audio_output: 40,
      audio_ratio: 8,
      audio_completion_ratio: 2,
      model_ratio: 2.5,
      completion_ratio: 4,
      group_ratio: 1,
      model_price: -1,
      usage_source: 'upstream',
      receipt: { formula: 'audio' },
    },
  })
  expect(row?.other).not.toHaveProperty('audio')
  expect(row?.other['frt']).toBeGreaterThanOrEqual(0)
})

test('each response of a session has a log row and a charge of its own', async () => {
  const { app } = world
  const payer = await payerWith(app, 100_000)
  const session = await world.openSession({ key: payer.key })
  await converse(session, exampleTen)
  await converse(session, '[[usage=100:10]] again')
  await converse(session, '[[usage=0:100,audio=0:100]] and again')
  session.socket.close()
  await untilFree(app, payer.userId)
  const rows = await chargesOf(app, payer.userId)
  // (100 + 10 × 4) × 2.5, and 100 × 8 × 2 × 2.5.
  expect(rows.map((row) => row.quota)).toEqual([chargeOfTen, 350, 4000])
  expect(rows.map((row) => row.request_id)).toEqual([
    session.requestId,
    `${session.requestId}-2`,
    `${session.requestId}-3`,
  ])
  expect(new Set(rows.map((row) => row.other['session']))).toEqual(new Set([session.requestId]))
  expect(await app.balanceOf(payer.userId)).toBe(100_000 - chargeOfTen - 350 - 4000)
})

test('a session that never asks for anything costs nothing and writes no row', async () => {
  const { app } = world
  const payer = await payerWith(app, 100_000)
  const session = await world.openSession({ key: payer.key })
  await session.next('session.created')
  expect(await openHolds(app, payer.userId)).toBe(1)
  session.socket.close()
  await untilFree(app, payer.userId)
  expect(await app.balanceOf(payer.userId)).toBe(100_000)
  expect(await chargesOf(app, payer.userId)).toEqual([])
})

test('a balance for two responses carries two, and what cannot be set aside ends the session with an error event', async () => {
  const { app } = world
  const payer = await payerWith(app, 2 * chargeOfTen + oneHold - 1)
  const session = await world.openSession({ key: payer.key })
  await converse(session, exampleTen)
  await converse(session, exampleTen)
  expect(await session.next('error')).toMatchObject({
    type: 'error',
    event_id: `evt_${session.requestId}`,
    error: { type: 'gateway_error', code: 'insufficient_user_quota', param: null },
  })
  expect(errorOf(session.events.at(-1) ?? {}).message).toContain('is below the required')
  expect(await session.closed).toMatchObject({ code: 1008 })
  await untilFree(app, payer.userId)
  expect((await chargesOf(app, payer.userId)).map((row) => row.quota)).toEqual([chargeOfTen, chargeOfTen])
  expect(await app.balanceOf(payer.userId)).toBe(oneHold - 1)
  expect(await app.violations()).toEqual([])
})

test('a token that cannot pay the next response ends the session, and one spent to the end is exhausted', async () => {
  const { app } = world
  const user = await app.make.user({ quota: 1_000_000 })
  const token = await app.make.token(user, { remainQuota: chargeOfTen + 100 })
  await app.settled()
  const session = await world.openSession({ key: token.key })
  await converse(session, exampleTen)
  expect(errorOf(await session.next('error'))).toMatchObject({ code: 'pre_consume_token_quota_failed' })
  await session.closed
  const spent = await app.make.token(user, { remainQuota: chargeOfTen })
  await app.settled()
  const last = await world.openSession({ key: spent.key })
  await converse(last, exampleTen)
  expect(errorOf(await last.next('error')).message).toContain('令牌额度已耗尽')
  await last.closed
  const { rows } = await app.pool.query('select status, remain_quota::int as remain from tokens where id = $1', [
    spent.id,
  ])
  expect(rows).toEqual([{ status: 4, remain: 0 }])
})

test('whoever cannot pay the first response is refused after the handshake, and nothing is asked upstream', async () => {
  const { app } = world
  const payer = await payerWith(app, oneHold - 1)
  const before = app.upstream.total
  const session = await world.openSession({ key: payer.key })
  expect(errorOf(await session.next('error'))).toMatchObject({ code: 'insufficient_user_quota' })
  expect(await session.closed).toMatchObject({ code: 1008 })
  expect(app.upstream.total).toBe(before)
  expect(await app.balanceOf(payer.userId)).toBe(oneHold - 1)
})

test('of two sessions at once on a balance for one, one begins', async () => {
  const { app } = world
  const payer = await payerWith(app, oneHold + 100)
  const sessions = await Promise.all([world.openSession({ key: payer.key }), world.openSession({ key: payer.key })])
  const firsts = await Promise.all(
    sessions.map((session) =>
      Promise.race([session.closed.then(() => 'refused'), session.next('session.created').then(() => 'begun')]),
    ),
  )
  expect(firsts.toSorted()).toEqual(['begun', 'refused'])
  for (const session of sessions) session.socket.close()
  await untilFree(app, payer.userId)
  expect(await app.balanceOf(payer.userId)).toBe(oneHold + 100)
})

test('many sessions of one account at once lose no unit', async () => {
  const { app } = world
  const payer = await payerWith(app, 1_000_000)
  const sessions = await Promise.all(Array.from({ length: 12 }, () => world.openSession({ key: payer.key })))
  await Promise.all(
    sessions.map(async (session) => {
      for (let round = 0; round < 3; round += 1) await converse(session, exampleTen)
      session.socket.close()
    }),
  )
  await untilFree(app, payer.userId)
  expect(await chargesOf(app, payer.userId)).toHaveLength(36)
  expect(await app.balanceOf(payer.userId)).toBe(1_000_000 - 36 * chargeOfTen)
  expect(await app.violations()).toEqual([])
})

test('a price per call is charged once a session, with its first response', async () => {
  const { app } = world
  await app.make.channel({ models: 'per-session' })
  await app.make.option('ModelPrice', JSON.stringify({ 'per-session': 0.01 }))
  await app.services.options.reload()
  const payer = await payerWith(app, 5000)
  const session = await world.openSession({ key: payer.key, model: 'per-session' })
  await converse(session, exampleTen)
  // The whole of it is spent: the session goes on all the same.
  expect(await app.balanceOf(payer.userId)).toBe(0)
  await converse(session, exampleTen)
  session.socket.close()
  await untilFree(app, payer.userId)
  const rows = await chargesOf(app, payer.userId)
  expect(rows.map((row) => row.quota)).toEqual([5000, 0])
  expect(rows[0]?.other).toMatchObject({ model_price: 0.01, ws: true })
  expect(rows[1]?.content).toContain('本次会话已计费')
  const reader = await app.make.user({ role: 10 })
  const { json } = await app.rest(reader, 'GET', '/api/log/?model_name=per-session')
  const { items } = json['data'] as { items: { other: string }[] }
  expect(items.map(({ other }) => (JSON.parse(other) as { model_price: number }).model_price)).toEqual([0, 0.01])
  expect(await app.balanceOf(payer.userId)).toBe(0)
})

describe('without usage from the upstream', () => {
  test('text is counted here, and the tools from the second response on', async () => {
    const { app } = world
    const payer = await payerWith(app, 100_000)
    const session = await world.openSession({ key: payer.key })
    const tools = [{ type: 'function', name: 'weather', description: 'Tells the weather', parameters: {} }]
    session.say({
      type: 'session.update',
      session: { type: 'realtime', output_modalities: ['text'], instructions: 'Be brief.', tools },
    })
    await session.next('session.updated')
    await converse(session, '[[nousage]] Hello')
    await converse(session, '[[nousage]] Hello')
    session.socket.close()
    await untilFree(app, payer.userId)
    const rows = await chargesOf(app, payer.userId)
    // "Be brief." is 3 tokens, "[[nousage]] Hello" 5, "You said: Hello" 4: (8 + 4 × 4) × 2.5.
    expect(rows[0]).toMatchObject({ prompt_tokens: 8, completion_tokens: 4, quota: 60 })
    expect(rows[0]?.other).toMatchObject({ usage_source: 'estimated', audio_input: 0, audio_output: 0 })
    // The second time 5 of the text, and for the tool 8 and the 6 of "weatherTells the weather{}": (19 + 16) × 2.5 = 87.5.
    expect(rows[1]).toMatchObject({ prompt_tokens: 19, completion_tokens: 4, quota: 88 })
  })

  test('audio is counted by its seconds', async () => {
    const { app } = world
    const payer = await payerWith(app, 1_000_000)
    const session = await world.openSession({ key: payer.key })
    session.say({
      type: 'session.update',
      session: {
        type: 'realtime',
        output_modalities: ['audio'],
        audio: { output: { format: { type: 'audio/pcm', rate: 24000 } } },
      },
    })
    await session.next('session.updated')
    // Three seconds of 24,000 samples of two bytes, in pieces of a quarter second.
    const quarter = Buffer.alloc(12_000).toString('base64')
    for (let piece = 0; piece < 12; piece += 1) session.say({ type: 'input_audio_buffer.append', audio: quarter })
    await converse(session, '[[nousage,words=20]] go')
    session.socket.close()
    await untilFree(app, payer.userId)
    const [row] = await chargesOf(app, payer.userId)
    // 3 s of input: floor(3 / 60 × 100 / 0.06) = 83. 20 words are 2 s of audio: floor(2 / 60 × 200 / 0.24) = 27.
    expect(row?.other).toMatchObject({ audio_input: 83, audio_output: 27, usage_source: 'estimated' })
    const [textInput, textOutput] = [Number(row?.other['text_input']), Number(row?.other['text_output'])]
    expect(row?.quota).toBe(Math.round((textInput + textOutput * 4 + 83 * 8 + 27 * 16) * 2.5))
    expect(textOutput).toBeGreaterThanOrEqual(20)
  })

  test('audio beside a usage that reports an output of 0 is counted here', async () => {
    const { app } = world
    const payer = await payerWith(app, 100_000)
    const session = await world.openSession({ key: payer.key })
    await converse(session, '[[words=20,usage=100:0]] Hello')
    session.socket.close()
    await untilFree(app, payer.userId)
    const [row] = await chargesOf(app, payer.userId)
    // 20 words, and floor(2 / 60 × 200 / 0.24) tokens of audio.
    expect(row?.other).toMatchObject({ usage_source: 'estimated', text_input: 100, audio_output: 27 })
    expect(row?.other['text_output']).toBeGreaterThanOrEqual(20)
  })

  test('a response that failed before it said anything is free', async () => {
    const { app } = world
    const payer = await payerWith(app, 100_000)
    const session = await world.openSession({ key: payer.key })
    const done = await converse(session, '[[status=429]] Hello')
    expect(done['response']).toMatchObject({ status: 'failed' })
    expect(await app.balanceOf(payer.userId)).toBe(100_000 - oneHold)
    expect(await chargesOf(app, payer.userId)).toMatchObject([{ quota: 0, prompt_tokens: 0 }])
    ask(session, exampleTen)
    await session.next('response.done')
    session.socket.close()
    await untilFree(app, payer.userId)
    expect((await chargesOf(app, payer.userId)).map((row) => row.quota)).toEqual([0, chargeOfTen])
  })

  test('a usage that cannot be is counted here, and marked', async () => {
    const { app } = world
    const payer = await payerWith(app, 100_000)
    const session = await world.openSession({ key: payer.key })
    await converse(session, '[[usage=-5:x]] Hello')
    session.socket.close()
    await untilFree(app, payer.userId)
    const [row] = await chargesOf(app, payer.userId)
    expect(row?.other).toMatchObject({ usage_source: 'estimated', usage_corrected: true })
    expect(row?.quota).toBeGreaterThan(0)
  })
})

type ListedRow = { prompt_tokens: number; completion_tokens: number; other: string }
const costOfRow = ({ prompt_tokens: promptTokens, completion_tokens: completionTokens, other }: ListedRow): number =>
  costByClient({ promptTokens, completionTokens, other: JSON.parse(other) as Record<string, unknown> })

test('a transcription of the input is charged by its own report at its own price, once each', async () => {
  const { app } = world
  const user = await app.make.user({ quota: 1_000_000 })
  const payer = await app.make.token(user)
  await app.settled()
  // Of the model that answers, which is not the one that transcribes.
  const cap = await app.make.spendCap(
    { scope: 'user', id: payer.userId },
    { amount: 900_000, models: ['gpt-4o-realtime*'] },
  )
  const session = await world.openSession({ key: payer.key })
  const transcribe = async (model: string) => {
    session.say({ type: 'session.update', session: { input_audio_transcription: { model } } })
    await session.next('session.updated')
    session.say({ type: 'input_audio_buffer.append', audio: Buffer.alloc(96_000).toString('base64') })
    session.say({ type: 'input_audio_buffer.commit' })
    await session.next('conversation.item.input_audio_transcription.completed')
  }
  await transcribe('whisper-1')
  await transcribe('gpt-4o-transcribe')
  const rows = await chargesOf(app, payer.userId)
  expect(rows.map(({ model_name: name, quota, prompt_tokens: prompt }) => [name, quota, prompt])).toEqual([
    // Two seconds are 33 of a thousand tokens a minute, at 15.
    ['whisper-1', 33 * 15, 33],
    // This model's recordings are listed at $6, its texts at $2.50: (20 × 2.4 + 40 × 4) × 1.25.
    ['gpt-4o-transcribe', 260, 20],
  ])
  expect(quotaOfReceipt(receipt.parse(rows[1]?.other['receipt']))).toBe(rows[1]?.quota)
  expect(rows[1]?.quota).toBeGreaterThan(0)
  // Clients of the documented paths come to the same.
  const { items } = (await app.rest(user, 'GET', '/api/log/self?type=2')).json['data'] as { items: ListedRow[] }
  expect(items.map(costOfRow)).toEqual([expect.closeTo(260, 6), expect.closeTo(495, 6)])
  expect(rows[1]).toMatchObject({ completion_tokens: 40, other: { operation: 'realtime-transcription', ws: true } })
  session.socket.close()
  await untilFree(app, payer.userId)
  // No response has read the sound.
  expect(await chargesOf(app, payer.userId)).toHaveLength(2)
  expect(await app.balanceOf(payer.userId)).toBe(1_000_000 - 33 * 15 - 260)
  const counted = await app.pool.query('select sum(amount)::int as sum from spend_cap_buckets where cap_id = $1', [cap])
  expect(counted.rows[0].sum ?? 0).toBe(0)
  expect(await app.violations()).toEqual([])
})

test.each([
  ['-1', 1],
  ['1e308', 2],
])('a transcription that reports a length of %s seconds is not charged', async (seconds, priority) => {
  const { app } = world
  const model = 'gpt-4o-mini-realtime-preview'
  const baseUrl = app.upstream.withDirectives(`usage=${seconds}`)
  const { id } = await app.make.channel({ models: model, baseUrl, priority })
  await app.services.channels.reload(id)
  const payer = await payerWith(app, 1_000_000)
  const session = await world.openSession({ key: payer.key, model })
  session.say({ type: 'session.update', session: { input_audio_transcription: { model: 'whisper-1' } } })
  await session.next('session.updated')
  session.say({ type: 'input_audio_buffer.append', audio: Buffer.alloc(96_000).toString('base64') })
  session.say({ type: 'input_audio_buffer.commit' })
  await session.next('conversation.item.input_audio_transcription.completed')
  expect(await chargesOf(app, payer.userId)).toEqual([])
  session.socket.close()
  await untilFree(app, payer.userId)
})

test('of two responses at once each is charged: as it reports, and what was said of one that is broken off', async () => {
  const { app } = world
  const payer = await payerWith(app, 1_000_000)
  const session = await world.openSession({ key: payer.key })
  ask(session, '[[words=60,gate=beside,gateat=42]] a long story')
  await session.next('response.created')
  for (let word = 0; word < 20; word += 1) await session.next('response.output_audio.delta')
  await converse(session, '[[usage=10:10]] a short one')
  session.socket.close()
  await untilFree(app, payer.userId)
  const [short, long, ...more] = await chargesOf(app, payer.userId)
  expect(more).toEqual([])
  // (10 + 10 × 4) × 2.5.
  expect(short).toMatchObject({ quota: 125, other: { usage_source: 'upstream' } })
  // 20 words, and floor(2 / 60 × 200 / 0.24) tokens of audio.
  expect(long).toMatchObject({ other: { usage_source: 'estimated', end: 'hung-up', audio_output: 27 } })
  expect(long?.other['text_output']).toBeGreaterThanOrEqual(20)
  app.upstream.openGate('beside')
})
