import { setTimeout as delay } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { reportTimeoutMs } from '#relay/realtime/session.ts'
import { longestDrainMs } from '#server/services.ts'
import { startApp } from '#test/support/app.ts'
import { created, done, named, perCall, startScriptedResponses, type Upstream, word } from './scripted-responses.ts'
import { chargesOf, errorOf, open, payerWith, type Session, untilFree } from './world.ts'

/** What the upstream does when the response of this number of its session is asked for, and with its caller's other events. */
let play: (upstream: Upstream) => void = () => {}
let react: (upstream: Upstream, type: unknown, name: unknown) => void = () => {}
let received: unknown[] = []

const { app, openSession } = await startScriptedResponses((upstream, { type, event_id: name }) => {
  received.push(type)
  if (type === 'response.create') play(upstream)
  else react(upstream, type, name)
})

const stored = { prompt: { id: 'pmpt_1' } }
const asksStored = { type: 'response.create', response: stored }

/** So many sessions of one account. */
async function openSome(count: number, quota: number, model = named) {
  received = []
  react = () => {}
  const payer = await payerWith(app, quota)
  const opening = Array.from({ length: count }, () => openSession({ key: payer.key, model }))
  const sessions = await Promise.all(opening)
  for (const session of sessions) await session.next('session.created')
  return { userId: payer.userId, sessions, first: sessions[0] as Session }
}

/** What was charged, once nothing is held any more. */
async function end(sessions: readonly Session[], userId: number) {
  for (const session of sessions) session.socket.terminate()
  await untilFree(app, userId)
  expect(await app.violations()).toEqual([])
  return (await chargesOf(app, userId)).map(({ quota }) => quota)
}

const refusal = { code: 'insufficient_user_quota' }

test.each([
  ['named by the response', asksStored, []],
  ['named by the session', { type: 'response.create' }, [{ type: 'session.update', session: stored }]],
])(
  'of parallel sessions as many read a stored prompt as the most that it may be is there for: %s',
  async (_, asks, before) => {
    const read = Promise.withResolvers<void>()
    play = ({ say, asked }) => {
      say(created(asked), word(asked))
      void read.promise.then(() => say(done(asked, [200_000, 10])))
    }
    const { userId, sessions } = await openSome(10, 420_000)
    for (const session of sessions) for (const event of [...before, asks]) session.say(event)
    const outcomes = (type: string) => sessions.filter(({ events }) => events.some((event) => event.type === type))
    await expect.poll(() => outcomes('error').length + outcomes('response.created').length).toBe(10)
    expect(outcomes('response.created')).toHaveLength(2)
    for (const session of outcomes('error')) {
      expect(errorOf(await session.next('error'))).toMatchObject(refusal)
      expect(session.socket.readyState).toBe(session.socket.OPEN)
    }
    read.resolve()
    await expect.poll(() => outcomes('response.done').length).toBe(2)
    expect(await end(sessions, userId)).toEqual([200_040, 200_040])
    expect(received.filter((type) => type === 'response.create')).toHaveLength(2)
  },
)

test('sound is not sent on to an upstream that answers by itself from a stored prompt without the most that it may read', async () => {
  const { userId, sessions, first } = await openSome(1, 30_000)
  first.say({ type: 'session.update', session: stored })
  first.say({ type: 'input_audio_buffer.append', audio: Buffer.alloc(4800).toString('base64') })
  expect(errorOf(await first.next('error'))).toMatchObject(refusal)
  expect(await first.closed).toMatchObject({ code: 1008 })
  expect(await end(sessions, userId)).toEqual([])
  expect(received).toEqual(['session.update'])
})

test('an answer is paid beside what its upstream may have read for it, and ends where it cannot be', async () => {
  play = ({ say, asked }) => say(created(asked), ...Array.from({ length: 4000 }, () => word(asked)))
  const { userId, sessions, first } = await openSome(1, 205_000)
  react = ({ say, asked }, type) => {
    if (type === 'response.cancel') say(done(asked, [200_000, 4000]))
  }
  first.say(asksStored)
  expect((await first.next('response.done'))['response']).toMatchObject({ status: 'incomplete' })
  expect(await first.closed).toMatchObject({ code: 1008 })
  const [quota, ...more] = await end(sessions, userId)
  expect(more).toEqual([])
  expect(quota).toBeGreaterThan(202_000)
  // One word.
  expect(await app.balanceOf(userId)).toBeGreaterThanOrEqual(-4)
})

test('whoever leaves a response that reads a stored prompt pays what its upstream says that it has read', async () => {
  play = ({ say, asked }) => say(created(asked), word(asked))
  const { userId, sessions, first } = await openSome(1, 300_000)
  react = ({ say, asked }, type) => {
    if (type === 'response.cancel') say(word(asked), done(asked, [20_000, 50]))
  }
  first.say(asksStored)
  await first.next('response.output_text.delta')
  expect(await end(sessions, userId)).toEqual([20_004])
  expect(received).toEqual(['response.create', 'response.cancel'])
})

test.each([
  ['by its name', (name: unknown) => ({ event_id: name })],
  ['without a name', () => ({})],
])(
  'a cancelling that comes too late ends no wait for the response that was asked for behind it: its error says so %s',
  async (_, about) => {
    play = ({ say, asked }) => {
      if (asked === 1) say(created(1), word(1))
    }
    const { userId, sessions, first } = await openSome(1, 600_000)
    let cancelled = 0
    react = ({ say }, type, name) => {
      if (type !== 'response.cancel') return
      cancelled += 1
      if (cancelled === 2) return say(done(2, [30_000, 0]))
      say(done(1, [20_000, 1]), { type: 'error', error: { code: 'response_cancel_not_active', ...about(name) } })
      setTimeout(() => say(created(2)), 200)
    }
    first.say(asksStored)
    await first.next('response.output_text.delta')
    first.say(asksStored)
    await expect.poll(() => received).toHaveLength(2)
    expect(await end(sessions, userId)).toEqual([20_004, 30_000])
  },
)

test('a response that is cut is shown its own figures, whichever of those beside it was reported last', async () => {
  play = ({ say, asked }) => {
    say(created(asked))
    if (asked === 2) say(...Array.from({ length: 4000 }, () => word(2)))
  }
  const { userId, sessions, first } = await openSome(1, 405_000)
  react = ({ say }, type) => {
    if (type === 'response.cancel') say(done(2, [200_000, 4000]), done(1, [30_000, 0]))
  }
  for (let count = 0; count < 2; count += 1) first.say(asksStored)
  expect((await first.next('response.done'))['response']).toMatchObject({
    id: 'r2',
    status: 'incomplete',
    usage: { input_tokens: 200_000 },
  })
  await first.closed
  expect((await end(sessions, userId))[1]).toBe(30_000)
})

test('a process that stops has a second and more to book what a caller has left, although the upstream says nothing of it', async () => {
  play = ({ say, asked }) => say(created(asked), word(asked))
  received = []
  react = () => {}
  const payer = await payerWith(app, 300_000)
  {
    // On a slow machine the rest takes long too; the times themselves are compared below.
    await using node = await startApp({ on: { connection: app.connection, upstream: app.upstream }, drainMs: 60_000 })
    const session = await open({ url: node.url, key: payer.key, model: named })
    session.say(asksStored)
    await session.next('response.output_text.delta')
    const { settle } = node.services.ledger
    vi.spyOn(node.services.ledger, 'settle').mockImplementation(async (...asked) => {
      await delay(1000)
      return settle(...asked)
    })
    session.socket.terminate()
    await expect.poll(() => received).toContain('response.cancel')
  }
  expect((await chargesOf(app, payer.userId)).map(({ other }) => other)).toMatchObject([{ end: 'hung-up' }])
  expect(longestDrainMs - reportTimeoutMs).toBeGreaterThan(1000)
  expect(await app.violations()).toEqual([])
})

test('no response begins on a balance that another session has spent, whatever it has set aside', async () => {
  play = ({ say, asked }) => say(created(asked), word(asked), done(asked, [100_000, 10]))
  const { userId, sessions, first } = await openSome(6, 30_000)
  first.say({ type: 'response.create' })
  await first.next('response.done')
  expect(await first.closed).toMatchObject({ code: 1008 })
  const [byItself, ...others] = sessions.slice(1)
  for (const session of others) {
    session.say({ type: 'response.create' })
    expect(errorOf(await session.next('error'))).toMatchObject(refusal)
    expect(session.socket.readyState).toBe(session.socket.OPEN)
  }
  react = ({ say }) => say(created(1))
  byItself?.say({ type: 'input_audio_buffer.append', audio: '' })
  expect(await byItself?.closed).toMatchObject({ code: 1008 })
  expect(await end(sessions, userId)).toEqual([100_040])
  expect(received.filter((type) => type === 'response.create')).toHaveLength(1)
})

test.each([
  ['without a name', {}],
  ['by names of the upstream’s own', { event_id: 'evt_1' }],
])('fifty responses that were refused keep nobody from the next one: %s', async (_, about) => {
  play = ({ say, asked }) =>
    say(
      ...(asked <= 50
        ? [{ type: 'error', error: { message: 'Unknown parameter', ...about } }]
        : [created(asked), word(asked), done(asked, [10, 1])]),
    )
  const { userId, sessions, first } = await openSome(1, 30_000, perCall)
  for (let count = 0; count < 50; count += 1) first.say({ type: 'response.create' })
  for (let count = 0; count < 50; count += 1) await first.next('error')
  first.say({ type: 'response.create' })
  await first.next('response.done')
  expect(await end(sessions, userId)).toEqual([5000])
})
