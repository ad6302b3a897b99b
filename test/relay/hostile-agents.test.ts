import { beforeEach, describe, expect, test } from 'vitest'
import type { TestToken } from '#test/support/factories.ts'
import { type Agent, claudeCode, codex, opencode, type Turn } from './agent-clients.ts'
import { geminiCli } from './gemini-cli-client.ts'
import { callerDialects, consumed, openHolds, say } from './caller-dialects.ts'
import { richToken, startScriptedRelay } from './relay-world.ts'
import { serve } from './serve.ts'
import { isTaken } from '#test/support/long.ts'

const { app, token: mine } = await startScriptedRelay({ options: { RetryTimes: '0' } })
const theirs = await richToken(app)
beforeEach(() => app.upstream.clear())

// Only at the vendor's own address some models are known to want the other call.
const openAi = 'https://api.openai.com'
const { transport } = app.services
app.services.transport = {
  ...transport,
  send: (request) => transport.send({ ...request, url: request.url.replace(openAi, app.upstream.url) }),
}

const agents = { 'Claude Code': claudeCode, Codex: codex, opencode, 'Gemini CLI': geminiCli } as const
type Name = keyof typeof agents
const names = Object.keys(agents) as Name[]

/** A model of ours that one channel after another serves, each under its vendor's name for it. */
const makers = [
  { type: 14, upstream: 'claude-sonnet-4-5' },
  { type: 1, upstream: 'gpt-5-codex', baseUrl: openAi },
  { type: 24, upstream: 'gemini-3-pro' },
  { type: 43, upstream: 'deepseek-reasoner' },
]
async function serveInTurn() {
  const routes = makers.map(({ type, baseUrl }) => ({ type, status: 2, ...(baseUrl ? { baseUrl } : {}) }))
  const { model, ids } = await serve(app, ...routes)
  for (const [index, id] of ids.entries())
    await app.pool.query('update channels set model_mapping = $1 where id = $2', [
      JSON.stringify({ [model]: makers[index]?.upstream }),
      id,
    ])
  const use = async (index: number) => {
    for (const [at, id] of ids.entries()) {
      await app.pool.query('update channels set status = $1 where id = $2', [at === index ? 1 : 2, id])
      await app.services.channels.reload(id)
    }
  }
  return { model, use }
}

const broken = (text: string) =>
  text.replaceAll(/gatewaySeal1[\w+/=-]+/g, (seal) => {
    const at = Math.floor(seal.length / 2)
    return seal.slice(0, at) + (seal[at] === 'A' ? 'B' : 'A') + seal.slice(at + 1)
  })

describe('a session whose channel changes from vendor to vendor and back', () => {
  const orders = [
    [0, 1, 0, 2, 0, 3, 1, 2, 1],
    [1, 0, 1, 2, 1, 3, 0, 2, 0],
    [2, 0, 2, 1, 2, 3, 0, 1, 2],
  ]
  const cells = names.flatMap((name, at) =>
    orders.flatMap((order, which) =>
      [false, true].filter((_, place) => isTaken(3, at, which, place)).map((tampered) => ({ name, order, tampered })),
    ),
  )
  test.each(cells)(
    'is served throughout: $name, $order, its proofs tampered with: $tampered',
    async ({ name, order, tampered }) => {
      const user = await app.make.user({ quota: 1_000_000_000 })
      const token = await app.make.token(user)
      const { model, use } = await serveInTurn()
      const agent = agents[name](`switch-${name}-${order.join('')}-${tampered}`)
      const { length: before } = await consumed(app)
      const turn = async (given: Parameters<Agent['ask']>[1]): Promise<Turn> => {
        const text = JSON.stringify(agent.ask(model, given))
        const reply = await app.relay(token, agent.path(model), tampered ? broken(text) : text, {
          headers: agent.headers,
        })
        const answer = await reply.text()
        expect(reply.status, answer).toBe(200)
        expect(JSON.stringify(app.upstream.requests.at(-1)?.body)).not.toContain('gatewaySeal')
        return agent.read(answer)
      }
      let last: Turn = { text: '', calls: [] }
      for (const [step, maker] of order.entries()) {
        await use(maker)
        last = await turn({
          text: `please use Read [[thinking=4,usage=${1000 + step}:${10 + step}:0:0:4,usageat=finish]]`,
        })
        expect(last.calls.map((call) => call.name)).toEqual(['Read'])
        // In the middle of a loop, too.
        if (step % 2 === 1) await use(order[step - 1] as number)
        last = await turn({ results: last.calls.map((call) => ({ call, output: 'done' })) })
        expect(last.text).toContain('done')
      }
      const rows = (await consumed(app)).slice(before)
      expect(rows).toHaveLength(order.length * 2)
      for (const [index, row] of rows.entries())
        expect([row.prompt_tokens, row.completion_tokens]).toEqual([1000 + (index >> 1), 10 + (index >> 1)])
      const { rows: balances } = await app.pool.query('select quota from users where id = $1', [user.id])
      expect(1_000_000_000 - Number(balances[0].quota)).toBe(rows.reduce((sum, { quota }) => sum + quota, 0))
    },
  )
})

describe('proofs of reasoning that their vendor does not know', () => {
  test.each([
    { name: 'Claude Code' as const, type: 14, from: /"signature":"sim-/, to: '"signature":"Eox-' },
    { name: 'Gemini CLI' as const, type: 24, from: /"thoughtSignature":"c2lt/, to: '"thoughtSignature":"AAAA' },
    // What one account has sealed, another cannot read.
    { name: 'Codex' as const, type: 1, from: /$^/, to: '' },
  ])(
    'are left out of a call that was refused for them, which is charged once: $name',
    async ({ name, type, from, to }) => {
      const user = await app.make.user({ quota: 1_000_000_000 })
      const token = await app.make.token(user)
      const { model, ids } = await serve(
        app,
        { type, key: 'first-account' },
        { type, key: 'second-account', status: 2 },
      )
      const agent = agents[name](`refused-${name}`)
      const send = (given: Parameters<Agent['ask']>[1]) =>
        app.relay(token, agent.path(model), JSON.stringify(agent.ask(model, given)).replace(from, to), {
          headers: agent.headers,
        })
      const { calls } = agent.read(await (await send({ text: 'please use Read [[thinking=4,usage=1000:100]]' })).text())
      await app.pool.query('update channels set status = 3 - status where id = any ($1)', [ids])
      for (const id of ids) await app.services.channels.reload(id)
      const { length: before } = await consumed(app)
      app.upstream.requests.length = 0
      const reply = await send({ results: calls.map((call) => ({ call, output: 'done' })) })
      const text = await reply.text()
      expect(reply.status, text).toBe(200)
      expect(agent.read(text).text).toContain('done')
      expect(reply.headers.get('x-translation-loss')).toContain('reasoning.signature')
      expect(app.upstream.requests.map(({ status }) => status)).toEqual([400, 200])
      // A later turn leaves them out at once, and shows the proofs that this account has made since.
      const later = await send({ text: 'please use Read [[thinking=4,usage=1000:100]]' })
      const again = agent.read(await later.text())
      const last = await send({ results: again.calls.map((call) => ({ call, output: 'done' })) })
      expect(agent.read(await last.text()).text).toContain('done')
      expect(app.upstream.requests.map(({ status }) => status)).toEqual([400, 200, 200, 200])
      expect(JSON.stringify(app.upstream.requests.at(-1)?.body)).toMatch(
        /"signature":"sim-|"thoughtSignature":"c2lt|"encrypted_content":"/,
      )
      const rows = (await consumed(app)).slice(before)
      expect(rows.map((row) => [row.prompt_tokens, row.completion_tokens])).toEqual([
        [1000, 100],
        [1000, 100],
        [1000, 100],
      ])
    },
  )

  test.each([
    { name: 'without proofs', content: 'hello', requests: 1 },
    { name: 'with a proof', content: [{ type: 'thinking', thinking: 'hm', signature: 'c2ln' }], requests: 2 },
  ])('are looked at once: what is refused in these words $name is refused', async ({ content, requests }) => {
    const message = 'messages.1.content.0: Invalid `signature` in `thinking` block'
    const { model } = await serve(app, { type: 14, does: `status=400,message=${encodeURIComponent(message)}` })
    const messages = [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content },
      { role: 'user', content: 'go on' },
    ]
    const reply = await app.relay(mine, '/v1/messages', { model, max_tokens: 9, messages })
    expect(reply.status).toBe(400)
    expect(app.upstream.total).toBe(requests)
  })
})

describe('what belongs to another user', () => {
  test('cannot be named in any call that takes a name', async () => {
    const { model } = await serve(app, { type: 14 })
    const { model: native } = await serve(app, { type: 1 })
    const post = async (token: TestToken, path: string, body: object) => {
      const reply = await app.relay(token, path, body)
      return { status: reply.status, body: (await reply.json()) as { id: string; output: { id: string }[] } }
    }
    const ids: { response: string; item: string; conversation: string; interaction: string }[] = []
    for (const by of [model, native]) {
      const { body: response } = await post(mine, '/v1/responses', { model: by, input: 'a secret' })
      const { body: conversation } = await post(mine, '/v1/conversations', {
        items: [{ role: 'user', content: 'a secret' }],
      })
      const { body: interaction } = await post(mine, '/v1beta/interactions', { model: by, input: 'a secret' })
      ids.push({
        response: response.id,
        item: response.output[0]?.id ?? '',
        conversation: conversation.id,
        interaction: interaction.id,
      })
    }
    const before = app.upstream.requests.length
    for (const [index, { response, item, conversation, interaction }] of ids.entries()) {
      const by = index === 0 ? model : native
      for (const path of ['/v1/responses', '/v1/responses/compact', '/v1/responses/input_tokens'])
        for (const named of [
          { previous_response_id: response },
          { conversation },
          { conversation: { id: conversation } },
          { input: [{ type: 'item_reference', id: item }] },
          { input: [{ id: item }] },
        ]) {
          const { status, body } = await post(theirs, path, { model: by, input: 'hi', ...named })
          const refused = 'previous_response_id' in named ? 400 : 404
          expect([path, named, status, body]).toEqual([path, named, refused, expect.anything()])
        }
      expect(
        (await post(theirs, '/v1beta/interactions', { model: by, input: 'hi', previous_interaction_id: interaction }))
          .status,
      ).toBe(404)
      for (const path of [
        `/v1/responses/${response}`,
        `/v1/responses/${response}/input_items`,
        `/v1/conversations/${conversation}`,
        `/v1/conversations/${conversation}/items`,
        `/v1beta/interactions/${interaction}`,
      ])
        for (const method of ['GET', 'DELETE']) {
          const reply = await fetch(app.url + path, { method, headers: { authorization: `Bearer sk-${theirs.key}` } })
          expect([path, method, reply.status < 500 && reply.status >= 400]).toEqual([path, method, true])
        }
    }
    expect(app.upstream.requests.slice(before).map(({ path }) => path)).toEqual([])
  })
})

describe('callers who leave at any byte', () => {
  const families = [1, 14, 24, 43]
  test.each(callerDialects)('pay once for what they had, and hold nothing: $dialect', async (by) => {
    const user = await app.make.user({ quota: 1_000_000_000 })
    const token = await app.make.token(user)
    const { length: before } = await consumed(app)
    let asked = 0
    for (const type of families) {
      const { model } = await serve(app, { type, does: 'events=20,gap=3,thinking=3' })
      const leaveAfter = async (bytes: number) => {
        const leave = new AbortController()
        const reply = await say(app, by, { token, model, stream: true, signal: leave.signal })
        let seen = 0
        const reader = (reply.body as ReadableStream<Uint8Array>).getReader()
        while (seen < bytes) {
          const { value, done } = await reader.read()
          if (done) break
          seen += value.length
        }
        leave.abort()
      }
      const cuts = [0, 1, 2, 17, 90, 200, 333, 512, 700, 900, 1200, 1500, 2000, 2500, 3000, 4000, 5000, 1e9]
      asked += cuts.length
      await Promise.all(cuts.map(leaveAfter))
    }
    await expect.poll(() => openHolds(app)).toBe(0)
    const rows = (await consumed(app)).slice(before)
    expect(rows.length).toBe(asked)
    const { rows: balances } = await app.pool.query('select quota, used_quota from users where id = $1', [user.id])
    const sum = rows.reduce((total, { quota }) => total + quota, 0)
    expect([1_000_000_000 - Number(balances[0].quota), Number(balances[0].used_quota)]).toEqual([sum, sum])
  })
})
