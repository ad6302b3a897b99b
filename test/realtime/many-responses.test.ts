import { expect, test, vi } from 'vitest'
import { holdLock } from '#test/support/held-lock.ts'
import { created, done, named, perCall, startScriptedResponses, type Upstream, word } from './scripted-responses.ts'
import { chargesOf, errorOf, openHolds, payerWith, type Session, untilFree } from './world.ts'

/** What the upstream does when the response of this number is asked for. */
let play: (upstream: Upstream) => void = () => {}
let received: string[] = []

const { app, openSession, sessions } = await startScriptedResponses((upstream, { type }, text) => {
  received.push(text)
  if (type === 'response.create') play(upstream)
})

const asksBeside = { type: 'response.create', response: { conversation: 'none', instructions: 'say hi' } }

/** A session whose first response leaves a conversation of 100,000 tokens, and this much of the balance. */
async function openRead(left: number, next: typeof play) {
  received = []
  const payer = await payerWith(app, 100_050 + left)
  play = (to) => (to.asked === 1 ? to.say(created(1), word(1), done(1, [99_990, 15])) : next(to))
  const session = await openSession({ key: payer.key, model: named })
  session.say({ type: 'response.create' })
  await session.next('response.done')
  expect(await app.balanceOf(payer.userId)).toBe(left - 500)
  return { payer, session }
}

async function end(session: Session, userId: number) {
  session.socket.terminate()
  await untilFree(app, userId)
  expect(await app.violations()).toEqual([])
  return (await chargesOf(app, userId)).map(({ quota }) => quota)
}

test.each([
  ['beside the conversation', asksBeside],
  ['with an empty list of their own', { type: 'response.create', response: { conversation: 'none', input: [] } }],
  ['plain', { type: 'response.create' }],
])(
  'of many responses at once as many are sent upstream as can be paid, and the session goes on: %s',
  async (_, asks) => {
    const ends = Promise.withResolvers<void>()
    const { payer, session } = await openRead(250_400, ({ say, asked }) => {
      say(created(asked))
      void ends.promise.then(() => say(word(asked), done(asked, [100_000, 50], { conversation_id: null })))
    })
    for (let count = 0; count < 20; count += 1) session.say({ ...asks, event_id: `ask-${count}` })
    const refusals = []
    for (let count = 0; count < 18; count += 1) refusals.push(errorOf(await session.next('error')))
    expect(refusals[0]).toMatchObject({ code: 'insufficient_user_quota', event_id: 'ask-2' })
    expect(received).toHaveLength(3)
    // One hold, of two shares.
    expect(await openHolds(app, payer.userId)).toBe(1)
    expect(await app.balanceOf(payer.userId)).toBeLessThan(50_400)
    ends.resolve()
    await session.next('response.done')
    await session.next('response.done')
    expect(session.socket.readyState).toBe(session.socket.OPEN)
    expect(await end(session, payer.userId)).toEqual([100_050, 100_200, 100_200])
    expect(await app.balanceOf(payer.userId)).toBe(250_400 - 2 * 100_200)
  },
)

test('before an upstream has counted anything, responses at once are sent on where the most that they may read is there', async () => {
  received = []
  const ends = Promise.withResolvers<void>()
  play = ({ say, asked }) => {
    say(created(asked))
    void ends.promise.then(() => say(word(asked), done(asked, [20_000, 10], { conversation_id: null })))
  }
  const poor = await payerWith(app, 30_000)
  const session = await openSession({ key: poor.key, model: named })
  for (let count = 0; count < 5; count += 1) session.say(asksBeside)
  for (let count = 0; count < 4; count += 1)
    expect(errorOf(await session.next('error'))).toMatchObject({ code: 'insufficient_user_quota' })
  expect(received).toHaveLength(1)
  const rich = await payerWith(app, 1_000_000)
  const other = await openSession({ key: rich.key, model: named })
  for (let count = 0; count < 5; count += 1) other.say(asksBeside)
  for (let count = 0; count < 5; count += 1) await other.next('response.created')
  ends.resolve()
  await session.next('response.done')
  for (let count = 0; count < 5; count += 1) await other.next('response.done')
  // What it has read is known from here on.
  session.say(asksBeside)
  expect(errorOf(await session.next('error'))).toMatchObject({ code: 'insufficient_user_quota' })
  expect(await end(session, poor.userId)).toEqual([20_040])
  expect(await end(other, rich.userId)).toEqual([20_040, 20_040, 20_040, 20_040, 20_040])
})

test('of a response that an upstream has refused nothing more is asked for beside the next one', async () => {
  received = []
  const payer = await payerWith(app, 30_000)
  play = ({ say, asked }) =>
    asked === 1
      ? say({ type: 'error', error: { message: 'Unknown parameter', event_id: 'ask-1' } })
      : say(created(asked), word(asked), done(asked, [20_000, 10]))
  const session = await openSession({ key: payer.key, model: named })
  session.say({ type: 'response.create', event_id: 'ask-1' })
  await session.next('error')
  session.say({ type: 'response.create', event_id: 'ask-2' })
  await session.next('response.done')
  expect(await end(session, payer.userId)).toEqual([20_040])
})

test('of responses that cost nothing each, fifty at once are sent upstream, and the session goes on', async () => {
  received = []
  const payer = await payerWith(app, 30_000)
  const begins = Promise.withResolvers<void>()
  play = ({ say, asked }) => void begins.promise.then(() => say(created(asked), word(asked), done(asked, [10, 1])))
  const session = await openSession({ key: payer.key, model: perCall })
  for (let count = 0; count < 52; count += 1) session.say({ ...asksBeside, event_id: `ask-${count}` })
  for (const event_id of ['ask-50', 'ask-51'])
    expect(errorOf(await session.next('error'))).toMatchObject({ code: 'too_many_responses', event_id })
  await expect.poll(() => received).toHaveLength(50)
  begins.resolve()
  for (let count = 0; count < 50; count += 1) await session.next('response.done')
  session.say(asksBeside)
  await session.next('response.done')
  // A price per call is that of the session.
  expect((await end(session, payer.userId)).filter((quota) => quota > 0)).toEqual([5000])
})

test('whoever leaves before a response that was asked for has begun pays the conversation that it reads', async () => {
  const { payer, session } = await openRead(150_000, () => {})
  session.say({ type: 'response.create' })
  await expect.poll(() => received).toHaveLength(2)
  expect(await end(session, payer.userId)).toEqual([100_050, 100_005])
})

test('what is held back until its caller has gone is not sent on, and is not paid', async () => {
  const { payer, session } = await openRead(150_000, () => {})
  await using unlock = await holdLock(app.pool, `select id from users where id = ${payer.userId} for update`)
  session.say({ type: 'response.create' })
  const waits = "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
  await expect.poll(async () => (await app.pool.query(waits)).rows).not.toEqual([])
  session.socket.terminate()
  await expect.poll(() => sessions.size).toBe(0)
  await unlock()
  expect(await end(session, payer.userId)).toEqual([100_050])
  expect(received).toHaveLength(1)
})

test('an upstream that leaves before a response that was asked for has begun is paid nothing for it', async () => {
  const { payer, session } = await openRead(150_000, () => {
    for (const socket of sessions) socket.terminate()
  })
  session.say({ type: 'response.create' })
  await session.closed
  expect(await end(session, payer.userId)).toEqual([100_050])
})

test('errors of other events free nothing of what is set aside for a response that may yet begin', async () => {
  const { payer, session } = await openRead(150_000, ({ say }) => say({ type: 'error', error: { message: 'odd' } }))
  session.say(asksBeside)
  await session.next('error')
  session.say(asksBeside)
  expect(errorOf(await session.next('error'))).toMatchObject({ code: 'insufficient_user_quota' })
  expect(received).toHaveLength(2)
  expect(await end(session, payer.userId)).toEqual([100_050])
})

test('whoever leaves before the first word of a response that began pays the conversation that it reads', async () => {
  const { payer, session } = await openRead(150_000, ({ say, asked }) => say(created(asked)))
  session.say({ type: 'response.create' })
  await session.next('response.created')
  await session.next('response.created')
  // The usage of the first, input and output.
  expect(await end(session, payer.userId)).toEqual([100_050, 100_005])
})

test('each of two that began pays what it reads when the caller leaves, one with a list of its own only that', async () => {
  const { payer, session } = await openRead(500_000, ({ say, asked }) => say(created(asked)))
  const input = [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hello there' }] }]
  for (const response of [{}, { conversation: 'none' }, { conversation: 'none', input }])
    session.say({ type: 'response.create', response })
  for (let count = 0; count < 4; count += 1) await session.next('response.created')
  expect(await end(session, payer.userId)).toEqual([100_050, 2 * 100_005 + 2])
})

test('a response without a usage of its own pays the conversation by estimate', async () => {
  const { payer, session } = await openRead(150_000, ({ say, asked }) =>
    say(created(asked), word(asked), { type: 'response.done', response: { id: `r${asked}`, status: 'cancelled' } }),
  )
  session.say({ type: 'response.create' })
  await session.next('response.done')
  expect(await end(session, payer.userId)).toEqual([100_050, 100_009])
})

test('ends that have arrived when the balance ends the session are charged by what they read, and not delivered', async () => {
  received = []
  const payer = await payerWith(app, 30_014)
  const all = Promise.withResolvers<void>()
  play = ({ say, asked }) => {
    say(created(asked))
    if (asked === 1) return say(word(1), done(1, [10, 1]))
    if (asked === 6) all.resolve()
    void all.promise.then(() => say(done(asked, [20_000, 100], { conversation_id: null })))
  }
  const session = await openSession({ key: payer.key, model: named })
  session.say({ type: 'response.create' })
  await session.next('response.done')
  for (let count = 0; count < 5; count += 1) session.say(asksBeside)
  expect(await session.closed).toMatchObject({ code: 1008 })
  const [first, ...quotas] = await end(session, payer.userId)
  expect(first).toBe(14)
  const delivered = session.events.filter(({ type }) => type === 'response.done').length - 1
  expect(quotas).toHaveLength(5)
  expect(quotas).toEqual(Array.from({ length: 5 }, (_, index) => (index < delivered ? 20_400 : 20_000)))
  expect(delivered).toBeLessThan(5)
})

test('a session that the balance ends keeps what its other responses are paid with, and no other session gets it', async () => {
  received = []
  const [input, output] = [1000, 100]
  const cost = input + 4 * output
  // The conversation, and the beginning of an answer.
  const share = input + output + 4 * 16
  const upstreams = new Set<Upstream>()
  play = (to) => {
    upstreams.add(to)
    to.say(created(to.asked))
    if (to.asked === 1) to.say(word(1), done(1, [input, output]))
  }
  const endRest = ({ say, asked }: Upstream): void => {
    for (let id = 2; id <= asked; id += 1) say(done(id, [input, output]))
  }
  const quota = 10 * cost
  const payer = await payerWith(app, quota)
  const [first, second] = [
    await openSession({ key: payer.key, model: named }),
    await openSession({ key: payer.key, model: named }),
  ]
  const isAdmitted = async (session: Session): Promise<boolean> => {
    const answers = () => session.events.filter(({ type }) => type === 'response.created' || type === 'error')
    const before = answers().length
    session.say({ type: 'response.create' })
    await expect.poll(() => answers().length, { timeout: 20_000 }).toBe(before + 1)
    return answers().at(-1)?.type === 'response.created'
  }
  for (const session of [first, second]) {
    expect(await isAdmitted(session)).toBe(true)
    await session.next('response.done')
  }
  for (let open = [first, second]; open.length > 0;)
    for (const session of open) if (!(await isAdmitted(session))) open = open.filter((one) => one !== session)
  const [ofFirst, ofSecond] = [...upstreams] as [Upstream, Upstream]
  const renew = app.services.ledger.renew
  const verdict = Promise.withResolvers<string>()
  const asked = Promise.withResolvers<void>()
  const spy = vi.spyOn(app.services.ledger, 'renew').mockImplementation(async (renewal) => {
    const result = await renew(renewal)
    verdict.resolve(result.verdict)
    await asked.promise
    return result
  })
  endRest(ofFirst)
  expect(await verdict.promise).toBe('user_insufficient')
  while (await isAdmitted(second));
  spy.mockRestore()
  asked.resolve()
  expect(await first.closed).toMatchObject({ code: 1008 })
  endRest(ofSecond)
  const ends = () => second.events.filter(({ type }) => type === 'response.done').length
  const { socket } = second
  await expect
    .poll(() => socket.readyState !== socket.OPEN || ends() === ofSecond.asked, { timeout: 20_000 })
    .toBe(true)
  const quotas = await end(second, payer.userId)
  // Of each session one is delivered that comes to more than its share.
  const left = await app.balanceOf(payer.userId)
  expect(left).toBe(quotas.reduce((sum, charged) => sum - charged, quota))
  expect(left).toBeGreaterThanOrEqual(-2 * (cost - share))
})

test('a response that is asked for while another ends, and cannot be paid, is refused alone, and the session goes on', async () => {
  const ends = Promise.withResolvers<void>()
  const { payer, session } = await openRead(150_400, ({ say, asked }) => {
    say(created(asked))
    void ends.promise.then(() => say(word(asked), done(asked, [100_000, 50], { conversation_id: null })))
  })
  session.say(asksBeside)
  for (const _ of [1, 2]) await session.next('response.created')
  const reached = Promise.withResolvers<void>()
  const asked = Promise.withResolvers<void>()
  // What is looked at before more is set aside.
  const { upToDate } = app.services
  const spy = vi.spyOn(app.services, 'upToDate').mockImplementationOnce(async () => {
    reached.resolve()
    await asked.promise
    await upToDate()
  })
  ends.resolve()
  await reached.promise
  session.say({ ...asksBeside, event_id: 'beside-an-end' })
  await expect.poll(() => spy.mock.calls, { timeout: 20_000 }).toHaveLength(2)
  asked.resolve()
  spy.mockRestore()
  expect(errorOf(await session.next('error'))).toMatchObject({
    code: 'insufficient_user_quota',
    event_id: 'beside-an-end',
  })
  await session.next('response.done')
  expect(session.socket.readyState).toBe(session.socket.OPEN)
  expect(await end(session, payer.userId)).toEqual([100_050, 100_200])
})

test('what is no strict JSON is refused, and names that pass for others are not sent on', async () => {
  received = []
  const payer = await payerWith(app, 30_000)
  const session = await openSession({ key: payer.key, model: named })
  for (const frame of ['no JSON', '\uFEFF{"type":"a"}', '{"type":"response.create","temperature":NaN}', '[]']) {
    session.socket.send(frame)
    expect(errorOf(await session.next('error'))).toMatchObject({ type: 'gateway_error' })
  }
  session.socket.send('{"type":"session.update","session":{"model":"m2","model":null,"Model":"m2"},"SESSION":{}}')
  session.socket.send('{"type":"a","response":{"Prompt":{"id":"p"},"tools":[{"Type":"mcp","parameters":{"Type":1}}]}}')
  session.socket.send('{"type":"response.create","type":"a","n":12345678901234567890}')
  await expect.poll(() => received).toHaveLength(3)
  expect(received).toEqual([
    '{"type":"session.update","session":{"model":null}}',
    '{"type":"a","response":{"tools":[{"parameters":{"Type":1}}]}}',
    '{"type":"a","n":12345678901234567890}',
  ])
  expect(await end(session, payer.userId)).toEqual([])
})
