import { describe, expect, test } from 'vitest'
import type { TestToken } from '#test/support/factories.ts'
import type { Step } from '#test/support/scripted-upstream.ts'
import { callerDialects, consumed, eventually, openHolds, say, type CallerDialect } from './caller-dialects.ts'
import { richToken, startScriptedRelay } from './relay-world.ts'
import { serve, setOptions } from './serve.ts'
import { event, newId, turnOf, wordsOf, written } from './stored-turns.ts'

// What an upstream reads for a call beside what was brought along: 1 a token, read or written.
const prices = { SelfUseModeEnabled: 'false', GroupRatio: '{"default":1}', PreConsumedQuota: '100' }
const { app, scripted } = await startScriptedRelay({ options: prices })

const [, responses, messages] = callerDialects as [CallerDialect, CallerDialect, CallerDialect]
const tools = [{ type: 'mcp', server_label: 'a', server_url: 'https://a.test', require_approval: 'never' }]
const window = 200_000

async function servedBy(play: Parameters<typeof scripted.play>[0], input: { type?: number } = {}): Promise<string> {
  const { model } = await serve(app, { ...input, baseUrl: scripted.play(play) })
  await setOptions(app, { ModelRatio: `{"${model}":1}`, CompletionRatio: `{"${model}":1}` })
  return model
}

const balanceOf = async ({ id }: TestToken): Promise<number> =>
  (
    await app.pool.query<{ quota: number }>(
      'select u.quota::int from tokens t join users u on u.id = t.user_id where t.id = $1',
      [id],
    )
  ).rows[0]?.quota ?? Number.NaN

describe.each([
  ['streamed', true],
  ['unstreamed', false],
])('calls at once whose tools read what nobody has counted, %s,', (_, stream) => {
  async function rush(quota: number, read: number) {
    const turn = turnOf({ id: newId(), usage: { input_tokens: read, output_tokens: written } })
    const model = await servedBy(stream ? turn.stream : turn.unstreamed)
    const token = await app.make.token(await app.make.user({ quota }))
    const asked = scripted.received.length
    const statuses = await Promise.all(
      Array.from({ length: 6 }, async () => {
        const body = { ...responses.body(model, 'hi', stream), max_output_tokens: 100, tools }
        const reply = await say(app, responses, { token, body })
        await reply.text()
        return reply.status
      }),
    )
    await expect.poll(() => openHolds(app)).toBe(0)
    const served = statuses.filter((status) => status === 200).length
    expect(scripted.received.length - asked).toBe(served)
    expect(statuses.filter((status) => status === 403)).toHaveLength(6 - served)
    return { served, left: await balanceOf(token) }
  }

  test('are served as far as the balance goes by the most that a model reads, and one beside', async () => {
    const { served, left } = await rush(3 * (window + 1000), window - 100)
    expect(served).toBe(4)
    expect(left).toBe(3 * (window + 1000) - 4 * (window - 100 + written))
  })

  test('go one after the other where the balance is small: one alone may cost more than there is', async () => {
    const { served, left } = await rush(25_000, 1_000_000)
    expect({ served, left }).toEqual({ served: 1, left: 25_000 - 1_000_000 - written })
  })
})

test('a call for which all that it may read is set aside in the end keeps no other from beginning with less', async () => {
  const end = Promise.withResolvers<undefined>()
  const { unstreamed } = turnOf({ id: newId(), usage: { input_tokens: 10, output_tokens: written } })
  let asked = 0
  const model = await servedBy(() =>
    (asked += 1) === 1 ? { ...unstreamed, steps: [end.promise, ...unstreamed.steps] } : unstreamed,
  )
  const user = await app.make.user({ quota: window + 30_000 })
  const token = await app.make.token(user)
  // So little was there when an earlier call began.
  app.services.holds.lastSeen.set(`${user.id}:${token.id}`, 25_000)
  const body = { ...responses.body(model, 'hi', false), max_output_tokens: 100, tools }
  const send = async () => (await say(app, responses, { token, body })).status
  const covered = send()
  await expect.poll(() => asked).toBe(1)
  const beside = send()
  await expect
    .poll(() => asked)
    .toBe(2)
    .finally(() => end.resolve(undefined))
  expect(await Promise.all([covered, beside])).toEqual([200, 200])
})

/** Reads all words and leaves. Resolves with the log row once `goOn` let the upstream end. */
async function leave(by: CallerDialect, body: object, goOn: () => void) {
  const before = (await consumed(app)).length
  const token = await richToken(app)
  const leaving = new AbortController()
  const reply = await say(app, by, { token, body, signal: leaving.signal })
  const reader = (reply.body as ReadableStream<Uint8Array>).getReader()
  let text = ''
  while (text.split(' word').length <= written) text += new TextDecoder().decode((await reader.read()).value)
  leaving.abort()
  await reader.closed.catch(() => {})
  goOn()
  const rows = await eventually(
    () => consumed(app),
    (all) => all.length > before,
  )
  return rows.at(-1)
}

test('a caller who leaves before the upstream has said how much it read pays for that', async () => {
  const end = Promise.withResolvers<undefined>()
  const { steps } = turnOf({ id: newId(), usage: { input_tokens: 100_000, output_tokens: written } }).stream
  const model = await servedBy({ steps: [...steps.slice(0, -1), end.promise, ...steps.slice(-1)] })
  const row = await leave(responses, { ...responses.body(model, 'hi', true), tools }, () => end.resolve(undefined))
  expect(row).toMatchObject({ prompt_tokens: 100_000, completion_tokens: written, quota: 100_000 + written })
})

test('the upstream is not read on once it has said so: only what was delivered is written', async () => {
  const delta = (text: string) => event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } })
  const message = { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null }
  const more: Step[] = Array.from({ length: 2000 }, () => [20, delta(' more')]).flat()
  const steps: Step[] = [
    event('message_start', { message: { ...message, usage: { input_tokens: 70_000, output_tokens: 1 } } }),
    event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    ...wordsOf(written).map(delta),
    ...more,
  ]
  const model = await servedBy({ steps }, { type: 14 })
  const document = { type: 'document', source: { type: 'url', url: 'https://a.test/b.pdf' } }
  const content = [document, { type: 'text', text: 'hi' }]
  const body = { ...messages.body(model, 'hi', true), messages: [{ role: 'user', content }] }
  const row = await leave(messages, body, () => {})
  expect(row).toMatchObject({ prompt_tokens: 70_000 })
  expect(row?.completion_tokens).toBeGreaterThanOrEqual(written)
  expect(row?.completion_tokens).toBeLessThan(1500)
  expect(row?.other).toMatchObject({ end: 'hung-up' })
})
