import { describe, expect, test } from 'vitest'
import { serve } from './serve.ts'
import { chat, consumed, say, type CallerDialect, callerDialects } from './caller-dialects.ts'
import { json } from '#test/support/scripted-upstream.ts'
import { startScriptedRelay } from './relay-world.ts'

const { app, token, scripted } = await startScriptedRelay()

type Way = { does: string; type?: number; stream?: boolean; by?: CallerDialect; text?: string }

/** One call on a channel of its own: its reply and its one log row. */
async function ask({ does, type = 1, stream = false, by = chat, text = 'hello' }: Way) {
  const { model } = await serve(app, { type, does })
  const before = (await consumed(app)).length
  const reply = await say(app, by, { token, model, stream, text })
  const body = await reply.text()
  expect(reply.status, body).toBe(200)
  const rows = (await consumed(app)).slice(before)
  expect(rows).toHaveLength(1)
  const [row] = rows
  if (!row) throw new Error('no row')
  return { body, row, other: row.other }
}

const rate = 37.5
// By the encoder: role, "hello" and the message make 5, the answer's beginning 3.
const promptCount = 8
// "You", " said", ":" and " hello".
const answerCount = 4

describe('figures that cannot be true', () => {
  const everywhere = [1, 14, 24]
  // Two of the vendors tell parts beside their total instead of in it, so that there a part can exceed nothing.
  test.each([
    { name: 'a negative prompt', usage: '-1000000:5', prompt: promptCount, completion: 5, types: everywhere },
    { name: 'an endless prompt', usage: '1e308:5', prompt: promptCount, completion: 5, types: everywhere },
    { name: 'a prompt in words', usage: '"12":5', prompt: promptCount, completion: 5, types: everywhere },
    { name: 'half a token', usage: '10.5:5', prompt: promptCount, completion: 5, types: everywhere },
    { name: 'a negative answer', usage: '10:-5', prompt: 10, completion: answerCount, types: everywhere },
    { name: 'an endless answer', usage: '10:1e300', prompt: 10, completion: answerCount, types: everywhere },
    { name: 'both', usage: '-1:-1', prompt: promptCount, completion: answerCount, types: everywhere },
    { name: 'more from the cache than there was', usage: '10:5:5000', prompt: 10, completion: 5, types: [1, 24] },
    { name: 'a negative cache', usage: '10:5:-5000', prompt: 10, completion: 5, types: [1, 24] },
    { name: 'more thought than said', usage: '10:5:0:0:5000', prompt: 10, completion: 5, types: [1, 14] },
  ])('$name: counted or cut, flagged, never a credit', async ({ usage, prompt, completion, types }) => {
    for (const type of types) {
      for (const stream of [false, true]) {
        const { row, other } = await ask({ does: `usage=${usage}`, type, stream })
        const label = `${type} ${stream}`
        expect(row, label).toMatchObject({ prompt_tokens: prompt, completion_tokens: completion })
        const exact = (prompt + completion) * rate
        // Claude's formula rounds down.
        expect(row.quota, label).toBe(type === 14 ? Math.floor(exact) : Math.round(exact))
        expect(other, label).toMatchObject({ usage_corrected: true })
      }
    }
  })

  test('null is no figure at all', async () => {
    const { row, other } = await ask({ does: 'usage=null:null' })
    expect(row.quota).toBe((promptCount + answerCount) * rate)
    expect(other).toMatchObject({ usage_source: 'estimated' })
    expect(other['usage_corrected']).toBeUndefined()
  })
})

describe('zero for an answer that says something', () => {
  /** The figure of the answer that its caller is shown last. */
  const shownIn = (body: string): number =>
    Number([...body.matchAll(/"(?:completion_tokens|output_tokens|candidatesTokenCount)": ?(-?\d+)/g)].at(-1)?.[1])
  const ownDialect: Record<number, string> = { 14: 'messages', 24: 'generateContent' }

  test.each(callerDialects)('is no count: the answer is counted, and shown so, in $dialect', async (by) => {
    for (const type of [1, 14, 24]) {
      for (const stream of [false, true]) {
        const { row, other, body } = await ask({ does: 'usage=10:0', type, stream, by })
        const label = `${type} ${stream}`
        expect(row, label).toMatchObject({ prompt_tokens: 10, completion_tokens: answerCount })
        expect(row.quota, label).toBe(14 * rate)
        expect(other, label).toMatchObject({ usage_source: 'estimated' })
        // What is translated shows what is charged.
        if (ownDialect[type] !== undefined && ownDialect[type] !== by.dialect && (by !== chat || !stream))
          expect(shownIn(body), label).toBe(answerCount)
      }
    }
  })

  test.each(callerDialects)('stays zero where nothing was delivered, in $dialect', async (by) => {
    for (const type of [1, 14, 24]) {
      for (const stream of [false, true]) {
        const { row, other } = await ask({ does: 'blank,usage=10:0', type, stream, by })
        expect(row, `${type} ${stream}`).toMatchObject({ prompt_tokens: 10, completion_tokens: 0, quota: 10 * rate })
        expect(other, `${type} ${stream}`).toMatchObject({ usage_source: 'upstream' })
      }
    }
  })

  test('counts calls of tools like words', async () => {
    const message = {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
    }
    const usage = { prompt_tokens: 10, completion_tokens: 0, total_tokens: 10 }
    const answer = { choices: [{ index: 0, message, finish_reason: 'tool_calls' }], model: 'm', usage }
    const { model } = await serve(app, { baseUrl: scripted.play(json(answer)) })
    await (await say(app, chat, { token, model })).text()
    // "f" and "{}" are two tokens, the call seven more.
    expect((await consumed(app)).at(-1)).toMatchObject({ model_name: model, completion_tokens: 9 })
  })
})

test('an unstreamed answer in another dialect shows the figures that it is charged by', async () => {
  const usages = [{ promptTokenCount: 50 }, { promptTokenCount: 50, candidatesTokenCount: -9 }]
  for (const usageMetadata of usages) {
    const answer = { candidates: [{ content: { parts: [{ text: 'You said: hello' }] }, finishReason: 'STOP' }] }
    const { model } = await serve(app, { type: 24, baseUrl: scripted.play(json({ ...answer, usageMetadata })) })
    const { usage } = (await (await say(app, chat, { token, model })).json()) as { usage: object }
    expect(usage).toMatchObject({ prompt_tokens: 50, completion_tokens: answerCount, total_tokens: 54 })
    expect((await consumed(app)).at(-1)).toMatchObject({ model_name: model, quota: 54 * rate })
  }
})

describe('figures of other operations that cannot be true', () => {
  const list = { object: 'list', data: [{ object: 'embedding', index: 0, embedding: [0.5] }], model: 'm' }
  const scores = { results: [{ index: 0, relevance_score: 0.5 }] }
  test.each([
    ['/v1/embeddings', { input: 'hello' }, list],
    ['/v1/rerank', { query: 'hello', documents: ['there'] }, scores],
  ])('at %s: the prompt is counted, flagged, never a credit', async (path, body, answer) => {
    const ask = async (usage: object) => {
      const { model } = await serve(app, { baseUrl: scripted.play(json({ ...answer, usage })) })
      const reply = await app.relay(token, path, { model, ...body })
      expect(reply.status, await reply.text()).toBe(200)
      return (await consumed(app)).at(-1)
    }
    const counted = (await ask({}))?.prompt_tokens ?? 0
    expect(counted).toBeGreaterThan(0)
    for (const prompt of [-1_000_000, 1e308, '12', 10.5]) {
      for (const completion of [0, 1]) {
        const row = await ask({ prompt_tokens: prompt, completion_tokens: completion, total_tokens: 5 })
        expect(row?.quota).toBe(Math.round((counted + completion) * rate))
        expect(row?.other).toMatchObject({ usage_source: 'estimated', usage_corrected: true })
      }
    }
  })
})

describe('an upstream that reports no usage', () => {
  test.each(callerDialects)(
    'is charged by our own count, and the log says so, in $dialect',
    async (by: CallerDialect) => {
      for (const type of [1, 14, 24]) {
        for (const stream of [false, true]) {
          const { row, other } = await ask({ does: 'nousage', type, stream, by })
          expect(other).toMatchObject({ usage_source: 'estimated' })
          expect(row.completion_tokens).toBe(answerCount)
          expect(row.prompt_tokens).toBeGreaterThan(1)
          expect(row.prompt_tokens).toBeLessThan(20)
          const exact = (row.prompt_tokens + row.completion_tokens) * rate
          const roundsDown = type === 14 || by.dialect === 'messages'
          expect(row.quota).toBe(roundsDown ? Math.floor(exact) : Math.round(exact))
        }
      }
    },
  )

  test('leaves the caller with usage all the same: in a complete answer, and in a stream that asks for it', async () => {
    const { body } = await ask({ does: 'nousage' })
    const usage = { prompt_tokens: promptCount, completion_tokens: answerCount, total_tokens: 12 }
    expect(JSON.parse(body).usage).toMatchObject(usage)
    const { model } = await serve(app, { does: 'nousage' })
    const asking = { ...chat.body(model, 'hello', true), stream_options: { include_usage: true } }
    const text = await (await say(app, chat, { token, body: asking })).text()
    const lastChunk = /data: (\{[^\n]*"choices":\[\][^\n]*\})\n\ndata: \[DONE\]\n\n$/.exec(text)?.[1]
    expect(JSON.parse(lastChunk ?? '{}').usage).toMatchObject(usage)
  })

  test('and answers nothing is free; with usage it is charged', async () => {
    for (const stream of [false, true]) {
      const { row } = await ask({ does: 'blank,nousage', stream })
      expect(row).toMatchObject({ quota: 0, prompt_tokens: 0, completion_tokens: 0 })
      expect(row.content).toContain('（没有用量，上游可能超时）')
      const hidden = await ask({ does: 'blank,usage=10:30', stream })
      expect(hidden.row.quota).toBe(40 * rate)
    }
  })

  test.each([1, 14, 24])('but zeros, and answers nothing is free, from a channel of type %i', async (type) => {
    for (const by of callerDialects) {
      for (const stream of [false, true]) {
        const { row } = await ask({ does: 'blank,usage=0:0', type, stream, by })
        const label = `${by.dialect} ${stream}`
        expect(row, label).toMatchObject({ quota: 0, prompt_tokens: 0, completion_tokens: 0 })
        expect(row.content, label).toContain('（没有用量，上游可能超时）')
      }
    }
  })

  test('of the prompt is charged for the answer that it counted, though that is blank, and the prompt is counted', async () => {
    for (const by of callerDialects) {
      for (const stream of [false, true]) {
        const { row, other } = await ask({ does: 'blank,usage=null:30', stream, by })
        const label = `${by.dialect} ${stream}`
        expect(row.completion_tokens, label).toBe(30)
        if (by === chat) expect(row.prompt_tokens, label).toBe(promptCount)
        expect(row.prompt_tokens, label).toBeGreaterThan(1)
        const exact = (row.prompt_tokens + 30) * rate
        expect(row.quota, label).toBe(by.dialect === 'messages' ? Math.floor(exact) : Math.round(exact))
        expect(other, label).toMatchObject({ usage_source: 'estimated' })
      }
    }
  })
})

const blanks = ' \n'
test.each([
  {
    dialect: 'chat completions',
    type: 1,
    answer: { choices: [{ index: 0, message: { role: 'assistant', content: blanks }, finish_reason: 'stop' }] },
  },
  {
    dialect: 'responses',
    type: 1,
    answer: {
      id: 'resp_1',
      object: 'response',
      status: 'completed',
      output: [
        {
          type: 'message',
          id: 'msg_1',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: blanks, annotations: [] }],
        },
      ],
    },
  },
  {
    dialect: 'messages',
    type: 14,
    answer: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      content: [{ type: 'text', text: blanks }],
      stop_reason: 'end_turn',
    },
  },
  {
    dialect: 'generateContent',
    type: 24,
    answer: { candidates: [{ content: { parts: [{ text: blanks }] }, finishReason: 'STOP' }] },
  },
])(
  'a complete answer of blanks alone is free as a stream of them is, in $dialect',
  async ({ dialect, type, answer }) => {
    const by = callerDialects.find((known) => known.dialect === dialect)
    if (!by) throw new Error(`no dialect ${dialect}`)
    const { model } = await serve(app, { type, baseUrl: scripted.play(json({ model: 'm', ...answer })) })
    const reply = await say(app, by, { token, model, stream: false, text: 'hello' })
    expect(reply.status, await reply.text()).toBe(200)
    expect((await consumed(app)).at(-1)).toMatchObject({ model_name: model, quota: 0, prompt_tokens: 0 })
  },
)

test.each(['first', 'each', 'finish', 'last'])('usage is read where a stream reports it: %s', async (place) => {
  const { row, other } = await ask({ does: `usage=10:2,usageat=${place}`, stream: true })
  expect(row.quota).toBe(12 * rate)
  expect(other).toMatchObject({ usage_source: 'upstream' })
})
