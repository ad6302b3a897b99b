import { expect, test, vi } from 'vitest'
import { eventually } from '../relay/caller-dialects.ts'
import {
  ask,
  chargesOf,
  converse,
  errorOf,
  oneHold,
  openHolds,
  payerWith,
  type Session,
  startRealtime,
  untilFree,
} from './world.ts'

const world = await startRealtime()

/** A word is a tenth of a second of audio, 1.4 tokens at 2.5 × 8 × 2, and a token or two of text at 2.5 × 4. */
const mostOfAWord = 120

test('a response that can no longer be paid ends as at a reached limit, then the session; the balance stays above one piece', async () => {
  const { app } = world
  const payer = await payerWith(app, 6000)
  const session = await world.openSession({ key: payer.key })
  ask(session, '[[words=3000,gap=1]] a long story')
  const done = await session.next('response.done')
  expect(done['response']).toMatchObject({
    status: 'incomplete',
    status_details: { type: 'incomplete', reason: 'max_output_tokens' },
  })
  expect(errorOf(await session.next('error'))).toMatchObject({ code: 'insufficient_user_quota' })
  expect(await session.closed).toMatchObject({ code: 1008 })
  await untilFree(app, payer.userId)
  const [row, ...more] = await chargesOf(app, payer.userId)
  expect(more).toEqual([])
  expect(row?.other).toMatchObject({ end: 'unpaid', usage_source: 'estimated' })
  // Most of what was there was received.
  expect(row?.quota).toBeGreaterThan(4500)
  expect(await app.balanceOf(payer.userId)).toBeGreaterThanOrEqual(-mostOfAWord)
})

test('the quota of a token ends a response like the balance does', async () => {
  const { app } = world
  const token = await app.make.token(await app.make.user({ quota: 1_000_000 }), { remainQuota: 6000 })
  await app.settled()
  const session = await world.openSession({ key: token.key })
  ask(session, '[[words=3000,gap=1]] a long story')
  expect((await session.next('response.done'))['response']).toMatchObject({ status: 'incomplete' })
  await session.closed
  await untilFree(app, token.userId)
  const { rows } = await app.pool.query('select remain_quota::int as remain from tokens where id = $1', [token.id])
  expect(rows[0].remain).toBeGreaterThanOrEqual(-mostOfAWord)
})

test('many sessions on one balance end no lower than a piece each below zero', async () => {
  const { app } = world
  const payer = await payerWith(app, 30_000)
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      const session = await world.openSession({ key: payer.key })
      ask(session, '[[words=600,gap=1]] a long story')
      await session.closed
    }),
  )
  await untilFree(app, payer.userId)
  expect(await app.balanceOf(payer.userId)).toBeGreaterThanOrEqual(-8 * mostOfAWord)
  expect(await app.violations()).toEqual([])
})

test('a conversation that has grown is set aside before it is read again, and not read where it cannot be paid', async () => {
  const { app } = world
  const payer = await payerWith(app, 30_000)
  const session = await world.openSession({ key: payer.key })
  // 8000 tokens at 2.5, and the answer.
  await converse(session, '[[usage=8000:10]] Hello')
  ask(session, '[[usage=8020:10]] Hello')
  expect(errorOf(await session.next('error'))).toMatchObject({ code: 'insufficient_user_quota' })
  session.socket.close()
  await session.closed
  await untilFree(app, payer.userId)
  expect(await app.balanceOf(payer.userId)).toBe(30_000 - 8000 * 2.5 - 10 * 10)
})

test('the result of a function that is longer than the balance pays for is not answered', async () => {
  const { app } = world
  const payer = await payerWith(app, 30_000)
  const session = await world.openSession({ key: payer.key })
  // 20,000 tokens at 2.5.
  const output = 'abcd'.repeat(20_000)
  session.say({ type: 'conversation.item.create', item: { type: 'function_call_output', call_id: 'call_1', output } })
  session.say({ type: 'response.create' })
  expect(errorOf(await session.next('error'))).toMatchObject({ code: 'insufficient_user_quota' })
  await session.closed
  expect(session.events.some(({ type }) => type.endsWith('.delta'))).toBe(false)
  await untilFree(app, payer.userId)
})

test('a response sets aside what responses of the model lately cost, and a session that says nothing does not', async () => {
  const { app } = world
  const payer = await payerWith(app, 1_000_000)
  const session = await world.openSession({ key: payer.key })
  for (let round = 0; round < 3; round += 1) await converse(session, '[[usage=10:900,audio=0:900]] Hello')
  ask(session, '[[words=400,gate=held,gateat=2]] Hello')
  const held = async () =>
    Number(
      (await app.pool.query("select sum(amount) from holds where status = 'open' and user_id = $1", [payer.userId]))
        .rows[0]?.sum,
    )
  // 900 tokens of audio at 2.5 × 16.
  await expect.poll(held).toBeGreaterThanOrEqual(36_000)
  session.socket.close()
  await untilFree(app, payer.userId)
  expect(await openHolds(app, payer.userId)).toBe(0)
})

test.each([
  ['alone', 0, {}],
  ['in a long conversation', 100_000, {}],
  ['beside a stored prompt', 0, { prompt: { id: 'pmpt_1' } }],
])('what is said is set aside in few pieces, whatever is read beside it: %s', async (_, read, update) => {
  const { app } = world
  const payer = await payerWith(app, 10_000_000)
  const session = await world.openSession({ key: payer.key })
  session.say({ type: 'session.update', session: update })
  await session.next('session.updated')
  await converse(session, `[[usage=${read}:10]] Hello`)
  const reserve = vi.spyOn(app.services.ledger, 'reserve')
  // A tenth of a second each, 300 of which are 830 tokens.
  for (let count = 0; count < 300; count += 1)
    session.say({ type: 'input_audio_buffer.append', audio: Buffer.alloc(4800).toString('base64') })
  session.say({ type: 'session.update', session: {} })
  await session.next('session.updated')
  const forInput = reserve.mock.calls.length
  await converse(session, '[[words=300]] a long story')
  const forAnswer = reserve.mock.calls.length - forInput
  reserve.mockRestore()
  expect({ forInput, forAnswer, isFew: forInput < 20 && forAnswer < 20 }).toMatchObject({ isFew: true })
  session.socket.close()
  await untilFree(app, payer.userId)
})

test('whoever leaves in the middle of a response pays for the conversation that it read', async () => {
  const { app } = world
  const payer = await payerWith(app, 1_000_000)
  const session = await world.openSession({ key: payer.key })
  await converse(session, '[[usage=4000:10]] Hello')
  const before = session.events.length
  ask(session, '[[words=400,gap=20]] Hello')
  await eventually(
    () => session.events.slice(before).some(({ type }) => type.endsWith('.delta')),
    (begun) => begun,
  )
  session.socket.close()
  await untilFree(app, payer.userId)
  const rows = await chargesOf(app, payer.userId)
  expect(rows[1]?.prompt_tokens).toBeGreaterThanOrEqual(4010)
})

test('responses are paid by a plan as far as it goes, and none is begun where the plan keeps the balance out', async () => {
  const { app } = world
  const payer = await payerWith(app, 1_000_000)
  await app.make.subscription({ id: payer.userId }, { windows: [{ amount: 30_000 }], balancePays: false })
  const session = await world.openSession({ key: payer.key })
  await converse(session, '[[usage=8000:10]] Hello')
  ask(session, '[[usage=8020:10]] Hello')
  expect(errorOf(await session.next('error'))).toMatchObject({ code: 'insufficient_quota' })
  session.socket.close()
  await session.closed
  await untilFree(app, payer.userId)
  expect(await app.balanceOf(payer.userId)).toBe(1_000_000)
  const { rows } = await app.pool.query('select used_quota::int as used from subscriptions where user_id = $1', [
    payer.userId,
  ])
  expect(rows).toEqual([{ used: 8000 * 2.5 + 10 * 10 }])
  expect(await app.violations()).toEqual([])
})

/** So many seconds of sound, as an utterance that is transcribed. */
async function transcribe(session: Session, seconds: number): Promise<void> {
  session.say({ type: 'input_audio_buffer.append', audio: Buffer.alloc(seconds * 48_000).toString('base64') })
  session.say({ type: 'input_audio_buffer.commit' })
  await session.next('conversation.item.input_audio_transcription.completed')
}

/** A session with so much to spend, transcribed by whisper-1: two seconds are 33 tokens at 15, half a second 17. */
async function openTranscribed(quota: number) {
  const payer = await payerWith(world.app, quota)
  const session = await world.openSession({ key: payer.key })
  session.say({ type: 'session.update', session: { input_audio_transcription: { model: 'whisper-1' } } })
  await session.next('session.updated')
  const charged = async () =>
    (await chargesOf(world.app, payer.userId)).map(({ model_name: name, quota: cost }) => [name, cost])
  return { payer, session, charged }
}

const twoSeconds = ['whisper-1', 33 * 15]
const halfASecond = ['whisper-1', 17 * 15]

test('what is only transcribed sets nothing aside for a response, until one is asked for that reads all of it', async () => {
  // For a response each of these is 55 tokens at 2.5 × 8, all of them 11,100.
  const { payer, session, charged } = await openTranscribed(10_000)
  for (let round = 0; round < 10; round += 1) await transcribe(session, 2)
  session.say({ type: 'response.create' })
  expect(errorOf(await session.next('error'))).toMatchObject({ code: 'insufficient_user_quota' })
  session.socket.close()
  await session.closed
  await untilFree(world.app, payer.userId)
  expect(session.events.some(({ type }) => type === 'response.created')).toBe(false)
  // It was not sent, so nothing was read.
  expect(await charged()).toEqual(Array.from({ length: 10 }, () => twoSeconds))
})

test('a session that is only transcribed ends when the balance does', async () => {
  const { payer, session, charged } = await openTranscribed(oneHold + 3 * 17 * 15 - 1)
  for (let round = 0; round < 3; round += 1) await transcribe(session, 0.5)
  expect(errorOf(await session.next('error'))).toMatchObject({ code: 'insufficient_user_quota' })
  expect(await session.closed).toMatchObject({ code: 1008 })
  await untilFree(world.app, payer.userId)
  expect(await charged()).toEqual([halfASecond, halfASecond, halfASecond])
  expect(await world.app.balanceOf(payer.userId)).toBe(oneHold - 1)
})
