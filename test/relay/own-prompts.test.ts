import { expect, test } from 'vitest'
import { json } from '#test/support/scripted-upstream.ts'
import { chat, say, type CallerDialect, callerDialects } from './caller-dialects.ts'
import { startScriptedRelay } from './relay-world.ts'
import { serve } from './serve.ts'

const { app, scripted, token } = await startScriptedRelay()

const responses = callerDialects[1] as CallerDialect
const secret = 'the operator’s own words'

let made = 0
/** An upstream that keeps its answers and repeats in each of them how it was instructed. */
function repeating() {
  made += 1
  const id = `resp_prompted_${made}`
  const response = (body: string) => ({
    id,
    object: 'response',
    status: 'completed',
    instructions: (JSON.parse(body || '{}') as { instructions?: unknown }).instructions ?? secret,
    store: true,
    model: 'upstream',
    output: [{ type: 'message', id: `msg_${id}`, role: 'assistant', content: [{ type: 'output_text', text: 'yes' }] }],
    usage: { input_tokens: 3, output_tokens: 1, total_tokens: 4 },
  })
  const event = (type: string, fields: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`
  const play = () => {
    const body = String(scripted.received.at(-1)?.bytes)
    const answer = response(body)
    if (!body.includes('"stream":true')) return json(answer)
    return {
      steps: [
        event('response.created', { response: { ...answer, status: 'in_progress', output: [] } }),
        event('response.output_text.delta', { item_id: `msg_${id}`, output_index: 0, content_index: 0, delta: 'yes' }),
        event('response.completed', { response: answer }),
      ],
    }
  }
  return { id, baseUrl: scripted.play(play) }
}

const repeated = async (reply: Response): Promise<unknown[]> => {
  const text = await reply.text()
  expect(text).not.toContain(secret)
  return [...text.matchAll(/"instructions":("[^"]*"|null)/g)].map(([, value]) => JSON.parse(value as string) as unknown)
}

test.each([
  ['in place of the caller’s', { systemPrompt: secret }],
  ['in front of the caller’s', { systemPrompt: secret, setting: '{"system_prompt_override":true}' }],
  ['in its settings', { setting: JSON.stringify({ system_prompt: secret }) }],
  ['as an override', { paramOverride: JSON.stringify({ instructions: secret }) }],
])('a channel’s own prompt is repeated to no caller whose answer goes out as received: %s', async (_, channel) => {
  for (const own of ['be kind', undefined]) {
    const { id, baseUrl } = repeating()
    const { model } = await serve(app, { ...channel, baseUrl })
    const body = { model, input: 'hi', ...(own === undefined ? {} : { instructions: own }) }
    const shown = own ?? null
    expect(await repeated(await say(app, responses, { token, body }))).toEqual([shown])
    expect(String(scripted.received.at(-1)?.bytes)).toContain(secret)
    expect(await repeated(await say(app, responses, { token, body: { ...body, stream: true } }))).toEqual([
      shown,
      shown,
    ])
    const stored = await fetch(`${app.url}/v1/responses/${id}`, {
      headers: { authorization: `Bearer sk-${token.key}` },
    })
    expect(stored.status).toBe(200)
    expect(await repeated(stored)).toEqual([null])
  }
})

test('instructions that are the caller’s alone are repeated as the upstream repeats them', async () => {
  const { baseUrl } = repeating()
  const { model } = await serve(app, { baseUrl })
  const body = { model, input: 'hi', instructions: 'be kind' }
  expect(await repeated(await say(app, responses, { token, body }))).toEqual(['be kind'])
})

test.each([
  ['in place of the caller’s', '{}', secret],
  ['in front of the caller’s', '{"system_prompt_override":true}', `${secret}\n\nWhat is 2 + 2?`],
])(
  'a caller’s instructions alone are the question, and a channel’s own prompt is not: %s',
  async (_, setting, system) => {
    const baseUrl = scripted.play({ status: 400, steps: ['{}'] })
    const { model } = await serve(app, { type: 14, systemPrompt: secret, setting, baseUrl })
    const body = { model, messages: [{ role: 'system', content: 'What is 2 + 2?' }] }
    await (await say(app, chat, { token, body })).text()
    const sent = JSON.parse(String(scripted.received.at(-1)?.bytes)) as Record<string, unknown>
    const textOf = (content: unknown) =>
      typeof content === 'string' ? content : (content as { text: string }[]).map(({ text }) => text).join('\n\n')
    expect(textOf(sent['system'])).toBe(system)
    expect(
      (sent['messages'] as { role: string; content: unknown }[]).map((turn) => [turn.role, textOf(turn.content)]),
    ).toEqual([['user', 'What is 2 + 2?']])
  },
)
