import { beforeEach, expect, test } from 'vitest'
import { chargeReceipt } from '#core/pricing/charge.ts'
import type { Receipt } from '#core/pricing/receipt.ts'
import type { UpstreamReply } from '#relay/transport/send.ts'
import { type Agent, claudeCode, codex, type Given, opencode, png, type Turn } from './agent-clients.ts'
import { geminiCli } from './gemini-cli-client.ts'
import { consumed, openHolds } from './caller-dialects.ts'
import { startScriptedRelay } from './relay-world.ts'
import { serve, setOptions } from './serve.ts'
import { isTaken } from '#test/support/long.ts'

const { app } = await startScriptedRelay({ options: { RetryTimes: '0' } })
beforeEach(() => app.upstream.clear())

type Json = Record<string, unknown>
type Exchange = { sent: Buffer; status: number; received: Buffer }

/** What went to upstreams and what came back, byte for byte. */
const exchanges: Exchange[] = []
const { transport } = app.services
app.services.transport = {
  ...transport,
  send: async (request) => {
    const reply = await transport.send(request)
    const exchange: Exchange = {
      sent: Buffer.from(request.body ?? ''),
      status: reply.status,
      received: Buffer.alloc(0),
    }
    exchanges.push(exchange)
    const body = async function* (): UpstreamReply['body'] & AsyncGenerator<Uint8Array> {
      for await (const piece of reply.body) {
        exchange.received = Buffer.concat([exchange.received, piece])
        yield piece
      }
    }
    return { ...reply, body: body() }
  },
}

const agents: [string, (session: string) => Agent, number, readonly string[]][] = [
  ['Claude Code', claudeCode, 14, ['Read', 'Bash', 'mcp__docs__search']],
  ['Codex', codex, 1, ['Read', 'local_shell', 'mcp__docs/search']],
  ['opencode', opencode, 1, ['Read', 'Bash', 'docs_search']],
  ['Gemini CLI', geminiCli, 24, ['Read', 'Bash', 'docs_search']],
]
/** `silent`: after how many events the second of two calls has begun, behind four words of thought. */
const families = [
  { family: 'OpenAI', type: 1, silent: 9 },
  { family: 'Anthropic', type: 14, silent: 15 },
  { family: 'Gemini', type: 24, silent: 5 },
  { family: 'chat completions only', type: 8, silent: 9 },
] as const
// In the short form these are two upstreams of each agent; the odd places have each agent's own among them.
const pairs = agents.flatMap(([name, create, native, tools], agent) =>
  families
    .filter((_, place) => isTaken(2, agent, place, 1))
    .map(({ family, type, silent }) => {
      const isNative = type === native
      return {
        name,
        family,
        create,
        type,
        native: isNative,
        silent: isNative && name === 'Codex' ? 17 : silent,
        // The simulated vendor knows none of its own tools.
        tools: isNative ? tools.filter((tool) => tool !== 'local_shell') : tools,
      }
    }),
)
/** What the simulated model is asked to call, by the names that go upstream. */
const spoken = (tool: string): string => tool.replace('/', '__')

const objects = (text: string): Json[] =>
  text
    .split('\n')
    .flatMap((line) => (line.startsWith('data: {') ? [JSON.parse(line.slice('data: '.length)) as Json] : []))

type Counts = { prompt: number; cached: number; written: number; output: number }

/** What the vendor itself says that an answer took, read from its bytes. */
function reportedIn(bytes: Buffer): Counts {
  const figures = objects(bytes.toString())
    .map((event) => (event['usage'] ?? event['usageMetadata'] ?? (event['response'] as Json)?.['usage']) as Json | null)
    .findLast((usage) => usage !== null && usage !== undefined) as Record<string, number>
  const inner = (name: string) => (figures as unknown as Record<string, Record<string, number>>)[name] ?? {}
  if (figures['promptTokenCount'] !== undefined)
    return {
      prompt: figures['promptTokenCount'],
      cached: figures['cachedContentTokenCount'] ?? 0,
      written: 0,
      output: (figures['candidatesTokenCount'] ?? 0) + (figures['thoughtsTokenCount'] ?? 0),
    }
  if (figures['prompt_tokens'] !== undefined)
    return {
      prompt: figures['prompt_tokens'],
      cached: inner('prompt_tokens_details')['cached_tokens'] ?? 0,
      written: inner('prompt_tokens_details')['cache_write_tokens'] ?? 0,
      output: figures['completion_tokens'] ?? 0,
    }
  const [cached, written] = [figures['cache_read_input_tokens'] ?? 0, figures['cache_creation_input_tokens'] ?? 0]
  const isClaude = figures['cache_read_input_tokens'] !== undefined
  return {
    prompt: (figures['input_tokens'] ?? 0) + cached + written,
    cached: isClaude ? cached : (inner('input_tokens_details')['cached_tokens'] ?? 0),
    written: isClaude ? written : (inner('input_tokens_details')['cache_write_tokens'] ?? 0),
    output: figures['output_tokens'] ?? 0,
  }
}

/** Ten times the quota of the ratios that every model here has: a read is a tenth, a write 1.25, an answer five times. */
const tenfold = ({ prompt, cached, written, output }: Counts): number =>
  (prompt - cached - written) * 20 + cached * 2 + written * 25 + output * 100

async function priced(type: number): Promise<string> {
  // The base of type 8 is the whole address of chat completions, so that it can speak nothing else.
  const baseUrl = `${app.upstream.withDirectives('usageat=finish')}/v1/chat/completions`
  const { model } = await serve(app, type === 8 ? { type, baseUrl } : { type })
  const ratios = { ModelRatio: 2, CompletionRatio: 5, CacheRatio: 0.1, CreateCacheRatio: 1.25 }
  for (const [option, ratio] of Object.entries(ratios))
    await setOptions(app, { [option]: JSON.stringify({ [model]: ratio }) })
  return model
}

test.each(pairs)(
  '$name goes through twelve turns on $family: every loop closes, each call costs what its upstream reported',
  async ({ name, create, type, native, silent, tools }) => {
    const user = await app.make.user({ quota: 1_000_000_000 })
    const token = await app.make.token(user)
    const model = await priced(type)
    const session = `twelve-${name}-${type}`
    const agent = create(session)
    const { length: before } = await consumed(app)
    exchanges.length = 0
    const first = app.upstream.total

    const post = (body: string, signal?: AbortSignal) =>
      app.relay(token, agent.path(model), body, { headers: agent.headers, ...(signal ? { signal } : {}) })
    /** A complete answer, in the caller's own dialect byte for byte as its upstream gave it. */
    const answered = async (body: string): Promise<string> => {
      const reply = await post(body)
      const text = await reply.text()
      expect(reply.status, text).toBe(200)
      if (native) expect(text).toBe(exchanges.at(-1)?.received.toString())
      return text
    }
    const sent: string[] = []
    const write = (body: Json): string => {
      sent.push(JSON.stringify(body))
      return sent.at(-1) as string
    }
    const turn = async (given: Given): Promise<Turn> => agent.read(await answered(write(agent.ask(model, given))))
    const upstreamBody = () => exchanges.at(-1)?.sent.toString() ?? ''
    let number = 0
    /** Orders for the simulated model, other figures in every turn. */
    const orders = (more = ''): string => {
      number += 1
      return `[[usage=${1000 + number}:${100 + number}:${10 * number}:${number}:3,thinking=4${more}]]`
    }
    const resultsOf = ({ calls }: Turn, more: { image?: boolean; words?: string } = {}) =>
      calls.map((call) => ({
        call,
        output: `the result of ${call.name}${more.words ?? ''}`,
        image: more.image === true,
      }))
    const closes = ({ calls, text }: Turn, names: readonly string[]) => {
      expect(calls).toEqual([])
      for (const each of names) expect(text).toContain(`the result of ${each}`)
    }
    const [one = '', two = '', three = two] = tools
    const called = ({ calls }: Turn) => calls.map((call) => call.name).toSorted()

    // 1, 2: one call, whose result has an image.
    let last = await turn({ text: `please use ${one} ${orders()}` })
    expect(called(last)).toEqual([one])
    last = await turn({ results: resultsOf(last, { image: true }) })
    closes(last, [one])
    expect(upstreamBody()).toContain(png)
    expect(last.text).toContain('Image image/png 70 bytes')

    // 3: two calls beside each other; the upstream is busy and is asked again.
    const parallel = write(
      agent.ask(model, { text: `now ${spoken(one)} and ${spoken(two)} ${orders(',status=429,fail=1')}` }),
    )
    const busy = await post(parallel)
    expect([busy.status, busy.headers.get('x-should-retry')]).toEqual([429, expect.not.stringMatching('false')])
    await busy.arrayBuffer()
    last = agent.read(await answered(parallel))
    expect(called(last)).toEqual([one, two].toSorted())
    // 4: their results, the last called first, want two more; 5: which are given.
    last = await turn({ results: resultsOf(last, { words: ' (go on)' }).toReversed() })
    expect(called(last)).toEqual([one, two].toSorted())
    last = await turn({ results: resultsOf(last, { image: true }) })
    closes(last, [one, two])

    // 6: an image of the user's; the upstream breaks down at first.
    const pictured = write(agent.ask(model, { text: `what is this? ${orders(',status=500,fail=1')}`, image: true }))
    expect((await post(pictured)).status).toBeGreaterThanOrEqual(500)
    last = agent.read(await answered(pictured))
    expect(last.text).toMatch(/Image image\/png 70 bytes.*You said: what is this\?/s)

    // The user stops the next answer in its second call, and says what to do instead.
    const leave = new AbortController()
    const stopping = write(
      agent.ask(model, { text: `try ${spoken(one)} and ${spoken(two)} ${orders(`,stall=${silent}`)}` }),
    )
    const left = await post(stopping, leave.signal)
    let seen = ''
    const decoder = new TextDecoder()
    const reader = (left.body as ReadableStream<Uint8Array>).getReader()
    const begun = new RegExp(`"name":"${one}"`)
    while (!begun.test(seen)) {
      const { value, done } = await reader.read()
      if (done) throw new Error(`ended before its first call: ${seen}`)
      seen += decoder.decode(value, { stream: true })
    }
    leave.abort()
    agent.interrupted(seen)
    await expect.poll(() => openHolds(app)).toBe(0)

    // 7, 8: another call. Where the stopped question stands unanswered it is read together with this one, its orders too.
    last = await turn({ text: `use ${spoken(three)} instead ${orders(',stall=9999')}` })
    expect(called(last)).toContain(three)
    last = await turn({ results: resultsOf(last) })
    closes(last, [three])
    if (name === 'Gemini CLI') expect(upstreamBody()).toContain('exitCode')

    // 9: an answer whose upstream breaks off, and that is asked for again.
    const broken = write(agent.ask(model, { text: `go on with many words ${orders(',cut=6,fail=1')}` }))
    await (await post(broken)).text().catch(() => 'cut')
    last = agent.read(await answered(broken))
    expect(last.text).toBe('You said: go on with many words')

    // 10: a summary, from which 11, refused by an overloaded upstream at first, and 12 go on.
    const summary = agent.compacted(await answered(write(agent.compact(model))))
    expect(summary).toContain('summary')
    const overloaded = write(
      agent.ask(model, { text: `the last step: ${spoken(one)} ${orders(',status=529,fail=1')}` }),
    )
    expect((await post(overloaded)).status).toBeGreaterThanOrEqual(500)
    last = agent.read(await answered(overloaded))
    expect(called(last)).toEqual([one])
    expect(upstreamBody()).not.toContain('many words')
    last = await turn({ results: resultsOf(last, { image: true }) })
    closes(last, [one])

    // The money: each answer as its upstream counted it, the others as far as they were delivered.
    expect(app.upstream.total - first).toBe(exchanges.length)
    if (native) expect(exchanges.map((exchange) => exchange.sent.toString())).toEqual(withRepeats(sent, exchanges))
    const rows = (await consumed(app)).slice(before)
    const complete = rows.filter(({ other: { end } }) => end === undefined)
    const answered200 = exchanges.filter(({ status, received }) => status === 200 && isComplete(received.toString()))
    expect(complete).toHaveLength(12)
    expect(rows.filter(({ other: { end } }) => end === 'hung-up')).toHaveLength(1)
    expect(answered200).toHaveLength(12)
    const isClaude = type === 14 || name === 'Claude Code'
    const roundedFor = (counts: Counts) =>
      isClaude ? Math.floor(tenfold(counts) / 10) : Math.round(tenfold(counts) / 10)
    complete.forEach((row, index) => {
      const counts = reportedIn(answered200[index]?.received ?? Buffer.alloc(0))
      expect([row.prompt_tokens, row.completion_tokens]).toEqual([counts.prompt, counts.output])
      expect(row.quota, JSON.stringify(counts)).toBe(roundedFor(counts))
    })
    const { rows: balances } = await app.pool.query('select quota, used_quota from users where id = $1', [user.id])
    const sum = rows.reduce((total, { quota }) => total + quota, 0)
    expect(Number(balances[0].used_quota)).toBe(sum)
    expect(1_000_000_000 - Number(balances[0].quota)).toBe(sum)
    for (const row of rows) {
      expect(row).toMatchObject({ channel_id: rows[0]?.channel_id, model_name: model })
      expect(chargeReceipt(row.other['receipt'] as Receipt).quota).toBe(row.quota)
    }
    if (name !== 'Gemini CLI')
      expect(await app.trpc(user).user.logs.sums.query({ by: 'session' })).toEqual([
        expect.objectContaining({ name: session, calls: rows.length, quota: sum }),
      ])
  },
)

const isComplete = (stream: string): boolean =>
  /\[DONE\]|"type":"message_stop"|"type":"response\.completed"|"finishReason"/.test(stream)

/** What was sent, each as often as its upstream was asked for it. */
function withRepeats(sent: string[], asked: Exchange[]): string[] {
  const failed = new Set(asked.filter(({ status, received }) => status !== 200 || !isComplete(received.toString())))
  let at = 0
  return asked.map((exchange, index) => {
    const text = sent[at] ?? ''
    const again = failed.has(exchange) && asked[index + 1]?.sent.toString() === text
    if (!again) at += 1
    return text
  })
}
