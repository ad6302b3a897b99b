import { describe, expect, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import { eventually } from '../relay/caller-dialects.ts'
import { serve } from '../relay/serve.ts'
import {
  ask,
  chargesOf,
  converse,
  errorOf,
  model,
  oneHold,
  open,
  openHolds,
  payerWith,
  startRealtime,
  untilFree,
} from './world.ts'

const world = await startRealtime()
await world.app.make.option('SelfUseModeEnabled', 'true')
await world.app.services.options.reload()

const nobodyAsked = async (): Promise<number> => {
  const { upstream } = world.app
  return eventually(
    () => upstream.open,
    (open) => open === 0,
  )
}

describe('frames go through unchanged', () => {
  test('both ways, unknown ones included', async () => {
    const { app } = world
    const session = await world.openSession()
    await session.next('session.created')
    session.socket.send('{ "type" : "something.new",  "n": 1.50, "text": "é\\u0000\u{1F600}" }')
    expect(await session.next('error')).toMatchObject({ error: { code: 'invalid_value' } })
    expect(app.upstream.requests.at(-1)?.body).toEqual([{ type: 'something.new', n: 1.5, text: 'é\u0000\u{1F600}' }])
    ask(session, '[[malformed=2]] Hello')
    await session.next('response.done')
    expect(await session.next('unreadable')).toMatchObject({ text: '{"broken": tru' })
    session.socket.close()
  })

  test('in their order, also while a charge is booked', async () => {
    const session = await world.openSession()
    await converse(session, '[[words=200]] Hello')
    await session.next('rate_limits.updated')
    const ids = session.events.map((event) => String(event['event_id']))
    expect(ids).toEqual(ids.toSorted())
    expect(session.events.map((event) => event.type).slice(-2)).toEqual(['response.done', 'rate_limits.updated'])
    session.socket.close()
  })

  test('as large as audio of many megabytes, and none larger', async () => {
    const { app } = world
    const session = await world.openSession()
    await session.next('session.created')
    session.say({ type: 'input_audio_buffer.append', audio: Buffer.alloc(15 * 1024 * 1024).toString('base64') })
    session.say({ type: 'input_audio_buffer.commit' })
    const committed = await session.next('conversation.item.added')
    expect(JSON.stringify(committed)).toContain(`${15 * 1024 * 1024} bytes of sound`)
    session.socket.send('x'.repeat(25 * 1024 * 1024))
    expect(await session.closed).toMatchObject({ code: 1009 })
    expect(await nobodyAsked()).toBe(0)
    await untilFree(app, world.user.id)
  })

  test('a caller who reads slowly slows the upstream down and loses nothing', async () => {
    const session = await world.openSession()
    await session.next('session.created')
    session.socket.pause()
    // Five megabytes of audio each.
    for (let round = 0; round < 2; round += 1) ask(session, '[[words=800,usage=1:1]] Hello')
    await new Promise((resolve) => setTimeout(resolve, 300))
    session.socket.resume()
    await session.next('response.done')
    await session.next('response.done')
    expect(session.events.filter((event) => event.type === 'response.output_audio.delta')).toHaveLength(1600)
    session.socket.close()
  })
})

describe('a caller who hangs up', () => {
  test('in the middle of a response ends it upstream at once and pays what was counted', async () => {
    const { app } = world
    const payer = await payerWith(app, 1_000_000)
    const session = await world.openSession({ key: payer.key })
    ask(session, '[[gap=50,words=400]] Hello')
    for (let part = 0; part < 5; part += 1) await session.next('response.output_audio_transcript.delta')
    session.socket.terminate()
    const callerAbortedAt = Date.now()
    const asked = await eventually(
      () => app.upstream.requests.at(-1),
      (request) => request?.endedAt !== undefined,
    )
    // By itself it would have gone on for twenty seconds.
    expect((asked?.endedAt ?? Infinity) - callerAbortedAt).toBeLessThan(15_000)
    expect(asked?.outcome).toBe('aborted')
    await untilFree(app, payer.userId)
    const [row, ...more] = await chargesOf(app, payer.userId)
    expect(more).toEqual([])
    const figure = (name: string): number => Number(row?.other[name])
    const [textInput, textOutput, audioOutput] = [figure('text_input'), figure('text_output'), figure('audio_output')]
    expect(textOutput).toBeGreaterThanOrEqual(5)
    expect(textOutput).toBeLessThan(100)
    expect(row?.quota).toBe(Math.round((textInput + textOutput * 4 + audioOutput * 16) * 2.5))
    expect(row?.other).toMatchObject({ end: 'hung-up', usage_source: 'estimated', ws: true })
    expect(await app.balanceOf(payer.userId)).toBe(1_000_000 - (row?.quota ?? 0))
  })

  test('while the upstream is dialled pays nothing', async () => {
    const { app } = world
    const { model: slow } = await serve(app, { does: 'delay=3000' })
    const payer = await payerWith(app, 1_000_000)
    const session = await open({ url: app.url, key: payer.key, model: slow })
    await expect.poll(() => openHolds(app, payer.userId)).toBe(1)
    session.socket.close()
    await untilFree(app, payer.userId)
    expect(await chargesOf(app, payer.userId)).toEqual([])
    expect(await app.balanceOf(payer.userId)).toBe(1_000_000)
  })

  test('has its goodbye handed on', async () => {
    const session = await world.openSession()
    await session.next('session.created')
    session.socket.close(3001, 'done here')
    expect(await session.closed).toMatchObject({ code: 3001 })
    expect(await nobodyAsked()).toBe(0)
  })
})

describe('an upstream that goes', () => {
  test('in the middle of a response ends the session with an error event, and what was delivered is charged', async () => {
    const { app } = world
    const payer = await payerWith(app, 1_000_000)
    const session = await world.openSession({ key: payer.key })
    ask(session, '[[cut=20,words=40]] Hello')
    expect(errorOf(await session.next('error'))).toMatchObject({ type: 'gateway_error', code: 'stream_response_error' })
    expect(await session.closed).toMatchObject({ code: 1011 })
    await untilFree(app, payer.userId)
    const [row, ...more] = await chargesOf(app, payer.userId)
    expect(more).toEqual([])
    expect(row?.other).toMatchObject({ end: 'failed', usage_source: 'estimated' })
    expect(row?.completion_tokens).toBeGreaterThan(0)
    expect(row?.quota).toBeGreaterThan(0)
  })

  test('gives up a caller that takes nothing of what it has left, and what was delivered is charged', async () => {
    const { app } = world
    const payer = await payerWith(app, 1_000_000)
    const sent = new Set<WebSocket>()
    const sending = vi.spyOn(WebSocket.prototype, 'send')
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    try {
      const session = await world.openSession({ key: payer.key })
      await session.next('session.created')
      session.socket.pause()
      const charges = async () => (await chargesOf(app, payer.userId)).length
      const isStuck = () => [...sent].some(({ bufferedAmount }) => bufferedAmount > 1024 * 1024)
      // Of answers of four hundred kilobytes, until the connection takes no more: less than what is read ahead of it.
      for (let answers = 1; !isStuck(); answers += 1) {
        ask(session, '[[words=60,usage=1:1]] Hello')
        await expect
          .poll(async () => {
            for (const socket of sending.mock.contexts) sent.add(socket as WebSocket)
            return isStuck() || (await charges()) === answers
          })
          .toBe(true)
      }
      ask(session, '[[fin=1]] Hello')
      expect(await nobodyAsked()).toBe(0)
      expect(await openHolds(app, payer.userId)).toBe(1)
      // It had a minute.
      vi.advanceTimersByTime(90_000)
      await untilFree(app, payer.userId)
      session.socket.resume()
      expect(await session.closed).toMatchObject({ code: 1006 })
    } finally {
      vi.useRealTimers()
      sending.mockRestore()
    }
  })

  test.each([
    ['politely', 'fin=4', { code: 1000, reason: '' }],
    ['with a code and a reason', 'fin=4,closecode=3000,message=time%20is%20up', { code: 3000, reason: 'time is up' }],
    ['for a policy', 'fin=4,closecode=1008,message=no', { code: 1008, reason: 'no' }],
  ])('%s has its close handed on', async (_, directives, close) => {
    const session = await world.openSession()
    ask(session, `[[${directives}]] Hello`)
    expect(await session.closed).toEqual(close)
    expect(session.events.some((event) => event.type === 'error')).toBe(false)
  })

  test('never reveals the channel’s key or address in its close', async () => {
    const { app } = world
    const session = await world.openSession()
    ask(session, `[[fin=1,closecode=3000,message=sk-upstream at ${app.upstream.url}]] Hello`)
    const { reason } = await session.closed
    expect(reason).not.toContain('sk-upstream')
    expect(reason).not.toContain(String(app.upstream.port))
  })

  test('falls silent for longer than its channel allows ends the session', async () => {
    const { app } = world
    const { model: silent } = await serve(app, { setting: '{"idle_timeout":0.4}' })
    const payer = await payerWith(app, 1_000_000)
    const session = await open({ url: app.url, key: payer.key, model: silent })
    expect(errorOf(await session.next('error'))).toMatchObject({ code: 'session_idle' })
    await session.closed
    await untilFree(app, payer.userId)
    expect(await chargesOf(app, payer.userId)).toEqual([])
  })
})

test('an upstream’s own error event is handed on, and the session goes on', async () => {
  const session = await world.openSession()
  ask(session, '[[errorevent=3,status=400,message=bad item]] Hello')
  expect(errorOf(await session.next('error'))).toMatchObject({ message: 'bad item' })
  await converse(session, 'Hello again')
  session.socket.close()
})

describe('a session goes on only as long as its caller may call', () => {
  const ended = async (change: (payer: { id: number; userId: number }) => Promise<unknown>) => {
    const { app } = world
    const payer = await payerWith(app, 1_000_000)
    const session = await world.openSession({ key: payer.key })
    await converse(session, '[[usage=40:60]] Hello')
    await change(payer)
    await app.settled()
    ask(session, '[[usage=40:60]] Hello')
    const error = errorOf(await session.next('error'))
    await session.closed
    await untilFree(app, payer.userId)
    expect(session.events.filter(({ type }) => type === 'response.created')).toHaveLength(1)
    // (40 + 60 × 4) × 2.5. What was said last has been handed on.
    const quotas = (await chargesOf(app, payer.userId)).map((row) => row.quota)
    expect(quotas.filter((quota) => quota !== 20)).toEqual([700])
    return error.message
  }
  const ban = async (userId: number) => {
    await world.app.pool.query('update users set status = 2 where id = $1', [userId])
    await world.app.settled()
  }

  test('a banned account', async () => {
    expect(await ended(({ userId }) => ban(userId))).toContain('账号已被封禁')
  })

  test('a response that is under way ends as it would, and is charged', async () => {
    const { app } = world
    const payer = await payerWith(app, 1_000_000)
    const session = await world.openSession({ key: payer.key })
    ask(session, '[[gate=begun,gateat=2,usage=40:60]] Hello')
    await session.next('response.created')
    await ban(payer.userId)
    app.upstream.openGate('begun')
    await session.next('response.done')
    expect(errorOf(await session.next('error')).message).toContain('账号已被封禁')
    await session.closed
    await untilFree(app, payer.userId)
    expect((await chargesOf(app, payer.userId)).map((row) => row.quota)).toEqual([700])
  })

  test('one that the upstream begins goes no further than its beginning', async () => {
    const { app } = world
    const payer = await payerWith(app, 1_000_000)
    const session = await world.openSession({ key: payer.key })
    ask(session, '[[gate=unbegun,usage=40:60]] Hello')
    // What was said before it has been handed on.
    session.say({ type: 'session.update', session: {} })
    await session.next('session.updated')
    await ban(payer.userId)
    app.upstream.openGate('unbegun')
    expect(errorOf(await session.next('error')).message).toContain('账号已被封禁')
    await session.closed
    await untilFree(app, payer.userId)
    expect(session.events.some(({ type }) => type === 'response.done' || type.endsWith('.delta'))).toBe(false)
  })

  test('nothing more is written down of what a banned account says', async () => {
    const { app } = world
    const payer = await payerWith(app, 1_000_000)
    const session = await world.openSession({ key: payer.key })
    session.say({ type: 'session.update', session: { input_audio_transcription: { model: 'whisper-1' } } })
    await session.next('session.updated')
    const speak = () => {
      session.say({ type: 'input_audio_buffer.append', audio: Buffer.alloc(96_000).toString('base64') })
      session.say({ type: 'input_audio_buffer.commit' })
    }
    speak()
    await session.next('conversation.item.input_audio_transcription.completed')
    await ban(payer.userId)
    speak()
    expect(errorOf(await session.next('error')).message).toContain('账号已被封禁')
    await session.closed
    await untilFree(app, payer.userId)
    expect(session.events.filter(({ type }) => type.endsWith('transcription.completed'))).toHaveLength(1)
  })

  test('a disabled token', async () => {
    const { pool } = world.app
    expect(await ended(({ id }) => pool.query('update tokens set status = 2 where id = $1', [id]))).toContain(
      '令牌不可用',
    )
  })

  test('a token whose models have changed', async () => {
    const { pool } = world.app
    const narrow = ({ id }: { id: number }) =>
      pool.query("update tokens set model_limits_enabled = true, model_limits = 'gpt-4o' where id = $1", [id])
    expect(await ended(narrow)).toContain(model)
  })

  test('a channel that was switched off', async () => {
    const { app, token } = world
    const { model: name, ids } = await serve(app, {})
    const session = await open({ url: app.url, key: token.key, model: name })
    await session.next('session.created')
    await app.pool.query('update channels set status = 2 where id = $1', ids)
    await app.services.channels.reload(ids[0])
    ask(session, '[[usage=40:60]] Hello')
    expect(errorOf(await session.next('error')).message).toContain('渠道已停用')
    await session.closed
  })
})

test('a hold of a session is as large as 500 tokens of text', async () => {
  const { app } = world
  const payer = await payerWith(app, 1_000_000)
  const session = await world.openSession({ key: payer.key })
  await session.next('session.created')
  expect(await app.balanceOf(payer.userId)).toBe(1_000_000 - oneHold)
  session.socket.close()
  await untilFree(app, payer.userId)
})
