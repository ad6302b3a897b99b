import { beforeEach, describe, expect, test } from 'vitest'
import { channelsOf, type Route, serve, setOptions, withOptions } from '../relay/serve.ts'
import { chat, consumed, say, callerDialects } from '../relay/caller-dialects.ts'
import { startRelay } from '../relay/relay-world.ts'
import { isTaken } from '#test/support/long.ts'

const { app, token } = await startRelay()
beforeEach(() => app.upstream.clear())

/** The rule for statuses of channels without automatic retries, spelled out. */
const isRetried = (status: number): boolean => {
  if (status === 504 || status === 524) return false
  return status !== 400 && status !== 408
}

/** Each status on a channel of its own, in front of a healthy one; those whose call was answered by the latter. */
async function retriedStatuses(statuses: number[], type = 1): Promise<number[]> {
  const ask = async (status: number) => {
    const { model, ids } = await serve(app, { type, priority: 1, does: `status=${status}` }, {})
    const reply = await say(app, chat, { token, model })
    return { status, model, ids, answered: reply.status, text: await reply.text() }
  }
  const asked: Awaited<ReturnType<typeof ask>>[] = []
  // Some at a time: on a slow machine hundreds would wait for their holds longer than a call may.
  for (let index = 0; index < statuses.length; index += 20)
    asked.push(...(await Promise.all(statuses.slice(index, index + 20).map(ask))))
  const chains = new Map((await consumed(app)).map((row) => [row.model_name, channelsOf(row)]))
  for (const { status, model, ids, answered, text } of asked) {
    if (answered === 200) expect(chains.get(model)).toEqual(ids)
    // A redirection is nothing a caller could follow.
    else
      expect([answered, text]).toEqual([status < 400 ? 500 : status, expect.stringContaining('request id') as string])
  }
  return asked.filter(({ answered }) => answered === 200).map(({ status }) => status)
}

// 304 has no body by the rules of HTTP, so no upstream can fail with it in words.
const failing = Array.from({ length: 300 }, (_, index) => 300 + index).filter((status) => status !== 304)

const named = new Set([307, 400, 401, 403, 404, 408, 409, 422, 429, 500, 502, 503, 504, 524, 529, 599])

describe('every status from 300 to 599', () => {
  test('leads to another channel exactly where the document says so', async () => {
    const tried = failing.filter((status) => named.has(status) || isTaken(4, status))
    expect(await retriedStatuses(tried)).toEqual(tried.filter(isRetried))
  })

  test('leads to another channel by the operator’s list alone, where automatic retries are on', async () => {
    const enabled = { 'global.auto_retry_enabled': 'true', RetryTimes: '0', 'global.auto_retry_count': '1' }
    for (const [list, isListed] of [
      ['5xx,4xx', (status: number) => status >= 400],
      [' 429 , 500-503,307', (status: number) => [307, 429, 500, 501, 502, 503].includes(status)],
      ['', () => true],
    ] as const) {
      const sample = failing.filter(
        (status) => status % 7 === 0 || [307, 400, 408, 429, 500, 503, 504, 524].includes(status),
      )
      await withOptions(app, { ...enabled, 'global.auto_retry_status_codes': list }, async () => {
        expect([list, await retriedStatuses(sample)]).toEqual([list, sample.filter(isListed)])
      })
    }
  })

  test('400 does too on the one type of channel that answers so for faults of its own', async () => {
    expect(await retriedStatuses([400, 408, 504, 524, 401], 14)).toEqual([400, 401])
  })
})

/** What an upstream may do instead of answering; in a stream and whole alike. */
const failures: { does: string; route: Omit<Route, 'models'> }[] = [
  ...[401, 403, 404, 429, 500, 503].map((status) => ({
    does: `status ${status}`,
    route: { does: `status=${status}` },
  })),
  { does: 'connection refused', route: { baseUrl: 'http://127.0.0.1:9' } },
  { does: 'silence', route: { does: 'hang', setting: '{"first_byte_timeout":0.2}' } },
  { does: 'a cut before the first byte', route: { does: 'reset' } },
  { does: 'a cut after the headers', route: { does: 'cut=0' } },
  { does: 'an error with status 200', route: { does: 'error200' } },
  { does: 'a web page', route: { does: 'html' } },
  { does: 'an empty body', route: { does: 'empty' } },
]

describe('of three channels two fail', () => {
  test.each(failures)('by $does: every call is answered, no channel is asked twice', async ({ does, route }) => {
    const place = failures.findIndex((failure) => failure.does === does)
    for (const [caller, by] of callerDialects.entries()) {
      for (const stream of [false, true]) {
        if (!isTaken(4, place, caller, Number(stream))) continue
        // A new model each: what an earlier call learnt about the channels is not what is looked at.
        const { model, ids } = await serve(app, route, { does: 'usage=10:2' }, route)
        const before = (await consumed(app)).length
        const reply = await say(app, by, { token, model, stream })
        const text = await reply.text()
        expect([by.dialect, stream, reply.status, text]).toEqual([
          by.dialect,
          stream,
          200,
          expect.stringContaining('hello') as string,
        ])
        const rows = (await consumed(app)).slice(before)
        const tried = channelsOf(rows[0])
        expect(rows.map((row) => [row.channel_id, row.quota])).toEqual([[ids[1], 450]])
        expect(new Set(tried).size).toBe(tried.length)
      }
    }
  })

  test.each(['status=504', 'status=524', 'status=400', 'status=408'])(
    'with %s, which is not tried again',
    async (does) => {
      const { model } = await serve(app, { priority: 1, does }, {}, {})
      const reply = await say(app, chat, { token, model })
      expect(reply.status).toBe(Number(does.slice(7)))
      expect(app.upstream.total).toBe(1)
    },
  )
})

describe('a call that every place has had', () => {
  test.each([
    { does: 'status=404', type: 1, asked: 1 },
    { does: 'status=401', type: 1, asked: 1 },
    { does: 'status=422', type: 24, asked: 1 },
    { does: 'status=400', type: 14, asked: 1 },
    { does: 'status=429', type: 1, asked: 3 },
    { does: 'status=503', type: 14, asked: 3 },
  ])(
    'goes to none of them again that would only refuse it again: $does, $asked time(s)',
    async ({ does, type, asked }) => {
      const { model } = await serve(app, { type, does })
      const reply = await say(app, chat, { token, model })
      expect(reply.ok).toBe(false)
      expect(app.upstream.total).toBe(asked)
    },
  )

  test('goes again while one of them may have been busy only', async () => {
    const { model } = await serve(app, { priority: 1, does: 'status=503,fail=1' }, { does: 'status=404' })
    expect((await say(app, chat, { token, model })).status).toBe(200)
    expect(app.upstream.total).toBe(3)
  })

  test('goes again where the operator’s own list says so', async () => {
    await withOptions(app, { 'global.auto_retry_enabled': 'true', 'global.auto_retry_count': '2' }, async () => {
      const { model } = await serve(app, { does: 'status=404' })
      expect((await say(app, chat, { token, model })).status).toBe(404)
      expect(app.upstream.total).toBe(3)
    })
  })
})

describe('an answer with nothing in it', () => {
  const auto = { 'global.auto_retry_enabled': 'true', RetryTimes: '0', 'global.auto_retry_count': '2' }

  test.each(callerDialects)('is tried elsewhere where automatic retries are on, in $dialect', async (by) => {
    const route = { type: by.dialect === 'messages' ? 14 : by.dialect === 'generateContent' ? 24 : 1 }
    await withOptions(app, auto, async () => {
      const { model, ids } = await serve(
        app,
        { ...route, priority: 1, does: 'blank,usage=10:1' },
        { ...route, does: 'usage=10:2' },
      )
      const before = (await consumed(app)).length
      const reply = await say(app, by, { token, model })
      expect([reply.status, await reply.text()]).toEqual([200, expect.stringContaining('hello') as string])
      const rows = (await consumed(app)).slice(before)
      // (10 + 2) × 37.5: the blank one is not charged.
      expect(rows.map((row) => [row.channel_id, row.quota, channelsOf(row)])).toEqual([[ids[1], 450, ids]])
    })
  })

  test('goes out as it is from the last attempt, charged and reported once', async () => {
    await withOptions(app, auto, async () => {
      const { model } = await serve(app, { does: 'blank,usage=10:2' }, { does: 'blank,usage=10:2' })
      await setOptions(app, { 'global.auto_retry_force_channel_switch': 'true' })
      const before = (await consumed(app)).length
      const reply = await say(app, chat, { token, model })
      await setOptions(app, { 'global.auto_retry_force_channel_switch': 'false' })
      expect([reply.status, await reply.json()]).toMatchObject([200, { choices: [{ message: { content: '' } }] }])
      const rows = (await consumed(app)).slice(before)
      expect(rows.map((row) => [row.quota, channelsOf(row).length])).toEqual([[450, 2]])
      expect(app.upstream.total).toBe(2)
    })
  })

  test('is left alone without them, in a stream, with a tool call, and when the key names its channel', async () => {
    const { model } = await serve(app, { priority: 1, does: 'blank,usage=10:1' }, {})
    await say(app, chat, { token, model })
    expect(app.upstream.total).toBe(1)
    await withOptions(app, auto, async () => {
      app.upstream.clear()
      await (await say(app, chat, { token, model, stream: true })).text()
      expect(app.upstream.total).toBe(1)
      const { model: tools } = await serve(app, { priority: 1, does: 'tool=look,blank' }, {})
      app.upstream.clear()
      const tool = { type: 'function', function: { name: 'look', parameters: { type: 'object' } } }
      await say(app, chat, { token, body: { ...chat.body(tools, 'hello', false), tools: [tool] } })
      expect(app.upstream.total).toBe(1)
      const admin = await app.make.token(await app.make.user({ role: 10 }))
      const { model: pinned, ids } = await serve(app, { does: 'blank,usage=10:1' }, {})
      app.upstream.clear()
      expect((await say(app, chat, { token: admin, key: `${admin.key}-${ids[0]}`, model: pinned })).status).toBe(200)
      expect(app.upstream.total).toBe(1)
    })
  })
})
