import { describe, expect, test } from 'vitest'
import { serve, withOptions } from '../relay/serve.ts'
import { startScriptedUpstream } from './scripted-upstream.ts'
import { append, commit, completed, speech, startTranscriptions, transcriber, update } from './transcriptions.ts'
import { chargesOf, errorOf, payerWith, untilFree } from './world.ts'

type Event = Record<string, unknown>

const { app, transcribe } = await startTranscriptions()

const rich = 10_000_000
const soon = { timeout: 60_000 }

/** What the upstream answers to an event of its caller's, and the types of those that it has got. */
let react: (event: Event) => readonly Event[] = () => []
let received: unknown[] = []

const { baseUrl } = await startScriptedUpstream((socket) => {
  socket.on('message', (data: Buffer) => {
    const event = JSON.parse(data.toString()) as Event
    received.push(event['type'])
    for (const answer of react(event)) socket.send(JSON.stringify(answer))
  })
})

const committed = (item: string): Event => ({ type: 'input_audio_buffer.committed', item_id: item })
const text = (item: string, seconds: number): Event => ({
  type: completed,
  item_id: item,
  content_index: 0,
  transcript: 'words',
  usage: { type: 'duration', seconds },
})
const timesReceived = (type: string): number => received.filter((one) => one === type).length
async function gets(type: string, count: number): Promise<void> {
  await expect.poll(() => timesReceived(type), soon).toBe(count)
}

async function start(answer: typeof react, quota = rich) {
  react = answer
  received = []
  const { model } = await serve(app, { baseUrl })
  const payer = await payerWith(app, quota)
  const session = await transcribe({ key: payer.key })
  const finish = async () => {
    session.socket.close()
    await session.closed
    await untilFree(app, payer.userId)
    expect(await app.violations()).toEqual([])
    const rows = await chargesOf(app, payer.userId)
    expect(await app.balanceOf(payer.userId)).toBe(rows.reduce((left, row) => left - row.quota, quota))
    return rows
  }
  return { model, payer, session, finish }
}

const lengthsOf = (rows: readonly { prompt_tokens: number }[]) => rows.map((row) => row.prompt_tokens)
/** As recordings are: a thousand a minute. */
const tokensOf = (seconds: number): number => Math.round((seconds * 1000) / 60)

describe('whoever hangs up pays', () => {
  test('also what was sent after a commit that its upstream has not taken yet', async () => {
    const { model, session, finish } = await start(() => [])
    session.say(update(model))
    append(session, speech(2))
    commit(session)
    append(session, speech(3))
    await gets('input_audio_buffer.append', 2)
    expect(lengthsOf(await finish())).toEqual([tokensOf(2), tokensOf(3)])
  })

  test('no pause, whatever else is under way', async () => {
    let sent = 0
    const { model, session, finish } = await start(({ type }) => {
      if (type === 'session.update') return [{ type: 'session.updated', session: { turn_detection: {} } }]
      if (type !== 'input_audio_buffer.append') return []
      sent += 1
      if (sent > 1) return [{ type: 'heard' }]
      return [
        { type: 'input_audio_buffer.speech_started', audio_start_ms: 0, item_id: 'a' },
        { type: 'input_audio_buffer.speech_stopped', audio_end_ms: 2000, item_id: 'a' },
        committed('a'),
      ]
    })
    session.say(update(model, { turn_detection: { type: 'server_vad' } }))
    await session.next('session.updated')
    append(session, speech(2))
    await session.next('input_audio_buffer.committed')
    append(session, speech(100))
    await session.next('heard')
    expect(lengthsOf(await finish())).toEqual([tokensOf(2)])
  })

  test('no sound again whose text was reported, where a commit of his was refused', async () => {
    let commits = 0
    const { model, session, finish } = await start(({ type, event_id: name }) => {
      if (type !== 'input_audio_buffer.commit') return []
      commits += 1
      const refused = { type: 'error', error: { code: 'too_short', event_id: name } }
      return commits === 1 ? [refused] : [committed('a'), text('a', 3)]
    })
    session.say(update(model))
    append(session, speech(1))
    session.say({ type: 'input_audio_buffer.commit', event_id: 'mine' })
    append(session, speech(2))
    commit(session)
    await session.next(completed)
    expect(lengthsOf(await finish())).toEqual([tokensOf(3)])
  })

  test('sound at the rate that holds, where its upstream refuses another', async () => {
    const { model, session, finish } = await start(({ type, event_id: name }) =>
      name === 'slower'
        ? [{ type: 'error', error: { code: 'invalid_value', event_id: name } }]
        : type === 'input_audio_buffer.append'
          ? [{ type: 'heard' }]
          : [],
    )
    session.say(update(model))
    session.say({ ...update(model, { format: { type: 'audio/pcm', rate: 8000 } }), event_id: 'slower' })
    await session.next('error')
    append(session, speech(3))
    await session.next('heard')
    expect(lengthsOf(await finish())).toEqual([tokensOf(3)])
  })
})

describe('a model that writes before anything is handed in', () => {
  const writes = ({ type }: Event): Event[] =>
    type === 'input_audio_buffer.append'
      ? [{ type: 'conversation.item.input_audio_transcription.delta', item_id: 'a', content_index: 0, delta: 'words' }]
      : type === 'input_audio_buffer.commit'
        ? [committed('a'), text('a', 75)]
        : []
  const delta = 'conversation.item.input_audio_transcription.delta'

  test('is paid every half minute, and at the end what is left of its report', async () => {
    const { model, payer, session, finish } = await start(writes)
    session.say(update(model))
    for (const length of [40, 35]) {
      append(session, speech(length))
      await session.next(delta)
    }
    await expect.poll(async () => lengthsOf(await chargesOf(app, payer.userId)), soon).toEqual([500, 500])
    commit(session)
    await session.next(completed)
    expect(lengthsOf(await finish())).toEqual([500, 500, tokensOf(75) - 1000])
  })

  test('costs one call with a price for each', async () => {
    const { model, session, finish } = await start(writes)
    await withOptions(app, { ModelPrice: JSON.stringify({ [model]: 0.01 }) }, async () => {
      session.say(update(model))
      for (const length of [40, 35]) {
        append(session, speech(length))
        await session.next(delta)
      }
      commit(session)
      await session.next(completed)
      expect((await finish()).map(({ quota }) => quota)).toEqual([5000, 0, 0])
    })
  })

  test('writes no longer for a token that was disabled', async () => {
    const { model, payer, session } = await start(writes)
    session.say(update(model))
    append(session, speech(1))
    await session.next(delta)
    await app.pool.query('update tokens set status = 2 where id = $1', [payer.id])
    app.services.tokens.drop(payer.id)
    append(session, speech(40))
    expect(errorOf(await session.next('error'))).toBeDefined()
    await session.closed
  })
})

describe('with a price for each call', () => {
  const priced = (model: string, run: () => Promise<void>) =>
    withOptions(app, { ModelPrice: JSON.stringify({ [model]: 0.01 }) }, run)

  test('as many pieces are handed in at once as can be paid', async () => {
    const { model, session, payer } = await start(() => [], 11_000)
    await priced(model, async () => {
      session.say(update(model))
      for (let count = 0; count < 5; count += 1) {
        append(session, speech(1))
        commit(session)
      }
      expect(errorOf(await session.next('error'))).toMatchObject({ code: 'insufficient_user_quota' })
      await session.closed
      await untilFree(app, payer.userId)
      expect(timesReceived('input_audio_buffer.commit')).toBe(2)
      expect((await chargesOf(app, payer.userId)).map(({ quota }) => quota)).toEqual([5000, 5000])
      expect(await app.balanceOf(payer.userId)).toBe(1000)
    })
  })

  test('whoever hangs up pays each piece that he has handed in', async () => {
    const { model, session, finish } = await start(() => [])
    await priced(model, async () => {
      session.say(update(model))
      for (let count = 0; count < 3; count += 1) {
        append(session, speech(1))
        commit(session)
      }
      await gets('input_audio_buffer.commit', 3)
      expect((await finish()).map(({ quota }) => quota)).toEqual([5000, 5000, 5000])
    })
  })
})

test('no more than fifty pieces are under way at once, sound that was not handed in among them; the session goes on', async () => {
  const { model, session } = await start(() => [])
  session.say(update(model))
  for (let count = 0; count < 50; count += 1) {
    append(session, speech(0.01))
    session.say({ type: 'input_audio_buffer.commit', event_id: `commit-${count}` })
  }
  expect(errorOf(await session.next('error'))).toMatchObject({ code: 'too_many_responses', event_id: 'commit-49' })
  await gets('input_audio_buffer.append', 50)
  expect(timesReceived('input_audio_buffer.commit')).toBe(49)
  expect(session.socket.readyState).toBe(session.socket.OPEN)
  session.socket.close()
  await session.closed
})

describe('sound whose price is not listed costs what text does:', () => {
  test('of a listed model under a priced name of its own', async () => {
    const { model } = await serve(app, { upstreamModel: transcriber })
    const options = { redirect_billing_enabled: 'true', ModelRatio: JSON.stringify({ [model]: 1 }) }
    await withOptions(app, options, async () => {
      const payer = await payerWith(app, rich)
      const session = await transcribe({ key: payer.key })
      session.say(update(model))
      append(session, speech(2))
      commit(session)
      await session.next(completed)
      session.socket.close()
      await untilFree(app, payer.userId)
      // 20 tokens of sound and 40 of text.
      expect((await chargesOf(app, payer.userId)).map(({ quota }) => quota)).toEqual([60])
    })
  })

  test('of a whisper among the models that answer, by its length', async () => {
    const { model } = await serve(app, { does: 'nousage', upstreamModel: 'gpt-realtime-whisper' })
    await withOptions(app, { ModelRatio: JSON.stringify({ 'gpt-realtime-whisper': 1 }) }, async () => {
      const payer = await payerWith(app, rich)
      const session = await transcribe({ key: payer.key })
      session.say(update(model))
      append(session, speech(2))
      commit(session)
      await session.next(completed)
      session.socket.close()
      await untilFree(app, payer.userId)
      expect((await chargesOf(app, payer.userId)).map(({ quota }) => quota)).toEqual([tokensOf(2)])
    })
  })
})
