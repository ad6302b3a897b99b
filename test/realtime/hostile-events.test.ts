import { expect, test } from 'vitest'
import { startScriptedUpstream } from './scripted-upstream.ts'
import { ask, chargesOf, model, payerWith, startRealtime, untilFree } from './world.ts'

type Event = Record<string, unknown>

const soon = { timeout: 60_000 }

/** What the upstream says to whoever asks for the response of this number. */
let play: (asked: number) => readonly Event[] = () => []

const { baseUrl } = await startScriptedUpstream((socket) => {
  let asked = 0
  const say = (event: Event): void => socket.send(JSON.stringify(event))
  say({ type: 'session.created', session: { id: 's', output_modalities: ['text'] } })
  socket.on('message', (data: Buffer) => {
    const event = JSON.parse(data.toString()) as Event
    if (event['type'] === 'conversation.item.create') say({ type: 'conversation.item.added', item: event['item'] })
    if (event['type'] !== 'response.create') return
    asked += 1
    for (const next of play(asked)) say(next)
  })
})

const { app, openSession } = await startRealtime()
const named = 'realtime-scripted'
await app.make.channel({ models: named, baseUrl, modelMapping: JSON.stringify({ [named]: model }) })
// An output token of this model costs four of its input.
await app.make.option('ModelRatio', JSON.stringify({ [named]: 1, [model]: 1 }))
await app.services.options.reload()
await app.settled()

const usage = { input_tokens: 1000, output_tokens: 100 }
const reported = 1000 + 100 * 4
/** What is set aside for one: the conversation, and the beginning of an answer. */
const share = 1000 + 100 + 16 * 4
const created = (id: string): Event => ({ type: 'response.created', response: { id } })
const word = (id: string): Event => ({ type: 'response.output_text.delta', response_id: id, delta: ' word' })
const done = (id: string, more: Event = { usage }): Event => ({
  type: 'response.done',
  response: { id, status: 'completed', ...more },
})

const start = async (quota: number) => {
  const payer = await payerWith(app, quota)
  const session = await openSession({ key: payer.key, model: named })
  const finish = async () => {
    session.socket.terminate()
    await untilFree(app, payer.userId)
    expect(await app.violations()).toEqual([])
    const quotas = (await chargesOf(app, payer.userId)).map((row) => row.quota)
    expect(await app.balanceOf(payer.userId)).toBe(quotas.reduce((left, charged) => left - charged, quota))
    return quotas
  }
  return { payer, session, finish }
}

const answer = [created('r'), word('r'), word('r'), word('r'), done('r')]

test.each(answer.map((_, index) => index + 1))(
  'whoever hangs up after %i events of an answer pays what was read and delivered, once',
  async (count) => {
    play = (asked) => (asked === 1 ? [created('a'), done('a')] : answer.slice(0, count))
    const { session, finish } = await start(100_000)
    ask(session, 'Hello there')
    await session.next('response.done')
    ask(session, 'Hello there')
    await expect
      .poll(() => session.events.filter(({ type }) => type.startsWith('response.')).length, soon)
      .toBe(2 + count)
    // The conversation, and the two tokens that came to it; a word is four of them.
    const cut = 1102 + 4 * Math.max(0, count - 1)
    expect(await finish()).toEqual([reported, count === answer.length ? reported : cut])
  },
)

test.each([
  ['each twice', answer.flatMap((event) => [event, event])],
  ['all twice', [...answer, ...answer]],
  ['its end first', [done('r'), created('r'), word('r'), word('r')]],
  ['its words after its end', [created('r'), done('r'), word('r'), word('r'), done('r')]],
  ['its words before its beginning', [word('r'), created('r'), word('r'), done('r')]],
  ['without its beginning', [word('r'), done('r')]],
  ['an end of something else beside it', [created('r'), word('r'), done('x', { status: 'failed' }), done('r')]],
])('events of an answer in another order, or again, are charged once: %s', async (_, events) => {
  play = (asked) => (asked === 1 ? events : [created('next'), word('next'), done('next')])
  const { session, finish } = await start(100_000)
  ask(session, 'Hello there')
  await expect
    .poll(() => session.events.filter(({ type }) => type.startsWith('response.')).length, soon)
    .toBe(events.length)
  session.say({ type: 'response.create' })
  await session.next('response.done')
  await expect.poll(() => session.events.at(-1), soon).toMatchObject({ response: { id: 'next' } })
  const quotas = await finish()
  expect(quotas.filter((quota) => quota > 0)).toEqual([reported, reported])
})

test('of two answers whose events are mixed each is charged once', async () => {
  const mixed = [word('b'), word('a'), done('b'), word('a'), done('a'), done('b'), word('b'), created('a')]
  play = (asked) =>
    asked === 1 ? [created('first'), done('first')] : asked === 2 ? [created('a')] : [created('b'), ...mixed]
  const { session, finish } = await start(1_000_000)
  for (let count = 0; count < 3; count += 1) {
    session.say({ type: 'response.create' })
    await session.next('response.created')
  }
  await expect.poll(() => session.events.at(-1), soon).toMatchObject({ response: { id: 'a' } })
  await session.next('response.done')
  expect(await finish()).toEqual([reported, reported, reported])
})

test('two sessions on a small balance, each asking for many responses at once, leave it below zero by what their last ones exceed their shares alone', async () => {
  play = (asked) => [created(`r${asked}`), word(`r${asked}`), done(`r${asked}`)]
  const payer = await payerWith(app, 10 * reported)
  const sessions = await Promise.all([0, 1].map(() => openSession({ key: payer.key, model: named })))
  await Promise.all(
    sessions.map(async ({ socket, events, say }) => {
      for (const rounds of [1, 2]) {
        for (let count = 0; count < 12; count += 1) say({ type: 'response.create' })
        const ends = () => events.filter(({ type }) => type === 'response.done' || type === 'error').length
        await expect.poll(() => socket.readyState !== socket.OPEN || ends() >= 12 * rounds, soon).toBe(true)
      }
      socket.terminate()
    }),
  )
  await untilFree(app, payer.userId)
  const charged = (await chargesOf(app, payer.userId)).map(({ quota }) => quota)
  // One whose end had arrived when the balance ended the session is not delivered, and pays what it has read.
  expect([...new Set(charged)].filter((quota) => quota !== reported && quota !== usage.input_tokens)).toEqual([])
  const left = await app.balanceOf(payer.userId)
  expect(left).toBe(charged.reduce((sum, quota) => sum - quota, 10 * reported))
  expect(left).toBeGreaterThanOrEqual(-2 * (reported - share))
  expect(await app.violations()).toEqual([])
})
