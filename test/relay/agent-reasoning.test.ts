import { beforeAll, describe, expect, test } from 'vitest'
import { type Agent, claudeCode, codex, opencode } from './agent-clients.ts'
import { geminiCli } from './gemini-cli-client.ts'
import { consumed } from './caller-dialects.ts'
import { allowUnpriced, serve, setOptions } from './serve.ts'
import { startBalancedApp } from './relay-world.ts'

const app = await startBalancedApp()
await allowUnpriced(app)
const mine = await app.make.token(await app.make.user({ quota: 1_000_000_000_000 }))

describe('reasoning through a loop of three calls', () => {
  // Only at the vendor's own address some models are known to want the other call.
  const openAi = 'https://api.openai.com'
  beforeAll(() => {
    const { transport } = app.services
    app.services.transport = {
      ...transport,
      send: (request) => transport.send({ ...request, url: request.url.replace(openAi, app.upstream.url) }),
    }
  })
  type Json = Record<string, unknown>
  const partsOf = (list: unknown, name: string): Json[] =>
    ((list ?? []) as Json[]).flatMap((each) => (each[name] ?? []) as Json[])
  /** Each vendor, strict about proofs that are not its own, and what it is shown of them in a request. */
  const makers = {
    Claude: {
      route: { type: 14, modelMapping: 'claude-sonnet-4-5' },
      proofs: (body: Json) =>
        partsOf(body['messages'], 'content')
          .filter((block) => block['type'] === 'thinking')
          .map((block) => block['signature']),
    },
    OpenAI: {
      route: { type: 1, modelMapping: 'gpt-5-codex', baseUrl: openAi },
      proofs: (body: Json) =>
        (body['input'] as Json[])
          .filter((item) => item['type'] === 'reasoning')
          .map((item) => item['encrypted_content']),
    },
    Gemini: {
      route: { type: 24, modelMapping: 'gemini-3-pro' },
      proofs: (body: Json) =>
        partsOf(body['contents'], 'parts')
          .flatMap((part) => part['thoughtSignature'] ?? [])
          .filter((text) => text !== 'skip_thought_signature_validator'),
    },
    'Gemini in the form of OpenAI': {
      route: {
        type: 8,
        modelMapping: 'gemini-3-pro-preview',
        baseUrl: `${app.upstream.url}/v1beta/openai/chat/completions`,
      },
      proofs: (body: Json) =>
        partsOf(body['messages'], 'tool_calls')
          .map((call) => (call['extra_content'] as { google: Json } | undefined)?.google['thought_signature'])
          .filter((text) => text !== 'skip_thought_signature_validator'),
    },
  }
  const agents = { 'Claude Code': claudeCode, Codex: codex, 'Gemini CLI': geminiCli } as const
  const own = { 'Claude Code': 'Claude', Codex: 'OpenAI', 'Gemini CLI': 'Gemini' } as const
  const directions = (Object.keys(agents) as (keyof typeof agents)[]).flatMap((name) =>
    (Object.keys(makers) as (keyof typeof makers)[])
      .filter((maker) => maker !== own[name])
      .flatMap((maker) => [true, false].map((streams) => ({ name, maker, streams }))),
  )
  const channelFor = (maker: keyof typeof makers, more: object = {}) => {
    return { ...makers[maker].route, ...more }
  }
  /** A model of ours that each of these channels serves under its vendor's own name. */
  const serveAs = async (...channels: ReturnType<typeof channelFor>[]) => {
    const { model, ids } = await serve(app, ...channels.map((route) => ({ ...route, modelMapping: '' })))
    for (const [index, id] of ids.entries()) {
      const mapping = JSON.stringify({ [model]: channels[index]?.modelMapping })
      await app.pool.query('update channels set model_mapping = $1 where id = $2', [mapping, id])
      await app.services.channels.reload(id)
    }
    return { model, ids }
  }
  const converse = async (agent: Agent, model: string) => {
    const turn = async (given: Parameters<Agent['ask']>[1]) => {
      const body = agent.ask(model, given)
      const reply = await app.relay(mine, agent.path(model), body, { headers: agent.headers })
      const text = await reply.text()
      expect(reply.status, text).toBe(200)
      return { ...agent.read(text), losses: reply.headers.get('x-translation-loss') ?? '' }
    }
    return turn
  }

  test.each(directions)(
    'survives from $name to $maker and back, streamed: $streams',
    async ({ name, maker, streams }) => {
      const setting = streams ? {} : { setting: JSON.stringify({ stream_support: 'NON_STREAM_ONLY' }) }
      const { model } = await serveAs(channelFor(maker, setting))
      const turn = await converse(agents[name](`loop-${name}-${maker}`), model)
      let last = await turn({ text: 'please use Read [[thinking=4]]' })
      for (let round = 1; round <= 3; round += 1) {
        expect(last.calls.map((call) => call.name)).toEqual(['Read'])
        const output = round < 3 ? 'done (go on)' : 'done'
        last = await turn({ results: last.calls.map((call) => ({ call, output })) })
        // That form has no effort for models that are not OpenAI's.
        expect(last.losses.replace('reasoning_effort', '')).not.toMatch(/reasoning|thoughtSignature/)
        const proofs = makers[maker].proofs(app.upstream.requests.at(-1)?.body as Json)
        expect(proofs).toHaveLength(round)
        for (const proof of proofs) expect(String(proof)).not.toMatch(/^gatewaySeal/)
      }
      expect(last.text).toContain('The tool says')
    },
  )

  test.each(Object.keys(agents) as (keyof typeof agents)[])(
    'sealed for another vendor is dropped and named where the call goes to its own: %s',
    async (name) => {
      const foreign = name === 'Claude Code' ? 'Gemini' : 'Claude'
      const { model, ids } = await serveAs(channelFor(foreign), channelFor(own[name], { status: 2 }))
      const turn = await converse(agents[name](`change-${name}`), model)
      const { calls } = await turn({ text: 'please use Read [[thinking=4]]' })
      await app.pool.query('update channels set status = 3 - status where id = any ($1)', [ids])
      for (const id of ids) await app.services.channels.reload(id)
      const { losses, text } = await turn({ results: calls.map((call) => ({ call, output: 'done' })) })
      expect(text).toContain('The tool says')
      expect(losses).toContain('reasoning.signature')
      expect(JSON.stringify(app.upstream.requests.at(-1)?.body)).not.toContain('gatewaySeal')
    },
  )
})

describe('the vendor’s cache, for callers whose dialect has no word for it', () => {
  const ratios = { input: 2, output: 5, read: 0.1, write: 1.25 }
  const serveClaude = async (setting: object = {}) => {
    const served = await serve(app, { type: 14, setting: JSON.stringify(setting) })
    const figures = {
      ModelRatio: ratios.input,
      CompletionRatio: ratios.output,
      CacheRatio: ratios.read,
      CreateCacheRatio: ratios.write,
    }
    await setOptions(
      app,
      Object.fromEntries(
        Object.entries(figures).map(([name, figure]) => [name, JSON.stringify({ [served.model]: figure })]),
      ),
    )
    return served
  }
  /** Ten turns whose every question is long, and what they cost. */
  const session = async (
    agent: Agent,
    { setting, headers }: { setting?: object; headers?: Record<string, string> } = {},
  ) => {
    const { model } = await serveClaude(setting)
    const user = await app.make.user({ quota: 1_000_000_000 })
    const token = await app.make.token(user)
    const before = (await consumed(app)).length
    for (let turn = 0; turn < 10; turn += 1) {
      const body = agent.ask(model, { text: `question ${turn} ${'of many words '.repeat(600)}[[words=20]]` })
      const reply = await app.relay(token, agent.path(model), body, { headers: { ...agent.headers, ...headers } })
      const text = await reply.text()
      expect(reply.status, text).toBe(200)
      agent.read(text)
    }
    const rows = (await consumed(app)).slice(before)
    expect(rows).toHaveLength(10)
    const figures = rows.map(({ prompt_tokens: prompt, completion_tokens: output, quota, other }) => ({
      prompt,
      output,
      quota,
      read: Number(other['cache_tokens'] ?? 0),
      written: Number(other['cache_creation_tokens'] ?? 0),
    }))
    for (const { prompt, output, quota, read, written } of figures) {
      const plain = prompt - read - written
      expect(quota).toBe(
        Math.floor(
          (plain + read * ratios.read + written * ratios.write + output * ratios.output) * ratios.input + 1e-9,
        ),
      )
    }
    const sum = (name: 'prompt' | 'read' | 'quota') => figures.reduce((total, row) => total + row[name], 0)
    expect(1_000_000_000 - (await app.balanceOf(user.id))).toBe(sum('quota'))
    return { share: sum('read') / sum('prompt'), cost: sum('quota') }
  }

  test.each([
    ['Codex', codex],
    ['opencode', opencode],
    ['Gemini CLI', geminiCli],
  ] as const)(
    'ten turns of %s are read from it for the most part, and cost less than without',
    async (_name, create) => {
      const cached = await session(create('cached'))
      expect(cached.share).toBeGreaterThan(0.7)
      const plain = await session(create('plain'), { headers: { 'x-prompt-caching': 'off' } })
      expect(plain.share).toBe(0)
      expect(cached.cost).toBeLessThan(plain.cost * 0.6)
    },
  )

  test('a channel leaves it alone where it is set to, and so does every call that nobody will go on from', async () => {
    expect((await session(codex('off'), { setting: { prompt_caching: false } })).share).toBe(0)
    const { model } = await serveClaude()
    const body = { model, messages: [{ role: 'user', content: 'many words '.repeat(5000) }] }
    expect((await app.relay(mine, '/v1/chat/completions', body)).status).toBe(200)
    expect(JSON.stringify(app.upstream.requests.at(-1)?.body)).not.toContain('cache_control')
  })
})
