import { expect } from 'vitest'
import { pixel } from '#test/simulator/media.ts'
import type { App } from '#test/support/app.ts'
import type { TestToken } from '#test/support/factories.ts'
import { type Route, serve } from './serve.ts'
import { callerDialects, chat, consumed, say } from './caller-dialects.ts'

type Json = Record<string, unknown>
type Message = { content: string | null; reasoning_content?: string; tool_calls?: ToolCall[] }
type ToolCall = { index?: number; id?: string; function: { name?: string; arguments: string } }
type Choice = { message: Message; delta: Partial<Message>; finish_reason: string | null }
type Chunk = { choices: Choice[]; usage?: Json | null }

export const image = `data:image/png;base64,${pixel.toString('base64')}`

export const weather = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'The weather of a city.',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
}

const chunksOf = (text: string): Chunk[] =>
  text
    .split('\n\n')
    .filter((event) => event.startsWith('data: {'))
    .map((event) => JSON.parse(event.slice('data: '.length)) as Chunk)

/** A stream put together again, by what the chunks of the chat dialect mean. */
function joined(text: string) {
  const chunks = chunksOf(text)
  const deltas = chunks.flatMap(({ choices }) => choices.map((choice) => choice.delta))
  const calls: { id: string; name: string; arguments: string }[] = []
  for (const call of deltas.flatMap((delta) => delta.tool_calls ?? [])) {
    const known = (calls[call.index ?? 0] ??= { id: '', name: '', arguments: '' })
    known.id ||= call.id ?? ''
    known.name ||= call.function.name ?? ''
    known.arguments += call.function.arguments ?? ''
  }
  return {
    text: deltas.map((delta) => delta.content ?? '').join(''),
    reasoning: deltas.map((delta) => delta.reasoning_content ?? '').join(''),
    calls,
    finish: chunks.flatMap(({ choices }) => choices.flatMap((choice) => choice.finish_reason ?? [])).join(),
    usage: chunks.findLast((chunk) => chunk.usage)?.usage,
    ended: text.endsWith('data: [DONE]\n\n'),
  }
}

function unstreamed(text: string) {
  const { choices, usage } = JSON.parse(text) as Chunk
  const message = choices[0]?.message
  return {
    text: message?.content ?? '',
    reasoning: message?.reasoning_content ?? '',
    calls: (message?.tool_calls ?? []).map(({ id = '', function: fn }) => ({
      id,
      name: fn.name ?? '',
      arguments: fn.arguments,
    })),
    finish: choices[0]?.finish_reason ?? '',
    usage,
    ended: true,
  }
}

/** A caller of the chat dialect in front of one channel of a vendor. */
export async function vendorWorld(app: App, token: TestToken, route: Route) {
  const { model } = await serve(app, route)
  const ask = async (messages: unknown[], given: { stream?: boolean; fields?: Json } = {}) => {
    const { stream = false, fields = {} } = given
    const asked = stream ? { stream, stream_options: { include_usage: true } } : {}
    const before = (await consumed(app)).length
    const reply = await say(app, chat, { token, body: { model, messages, ...asked, ...fields } })
    const text = await reply.text()
    expect(reply.status, text).toBe(200)
    const rows = (await consumed(app)).slice(before)
    expect(rows).toHaveLength(1)
    return { ...(stream ? joined(text) : unstreamed(text)), row: rows[0] }
  }
  const sent = () => app.upstream.requests.at(-1)
  return { model, ask, sent }
}

export const user = (content: unknown) => ({ role: 'user', content })

/** Whatever the dialect of its callers, streamed and complete. */
export async function servesEveryDialect(app: App, token: TestToken, route: Route): Promise<void> {
  for (const by of callerDialects)
    for (const stream of [false, true]) {
      const { model } = await serve(app, route)
      const text = await (await say(app, by, { token, model, stream })).text()
      expect(text).toContain('hello')
      if (stream) expect(text).toMatch(by.closing)
    }
}

/** Streams that go wrong end in an error, never like finished ones, and are charged once. */
export async function isNeverFinished(app: App, token: TestToken, routes: readonly Route[]): Promise<void> {
  for (const route of routes) {
    const { model } = await serve(app, route)
    const before = (await consumed(app)).length
    const text = await (await say(app, chat, { token, model, stream: true })).text()
    expect(text, JSON.stringify(route)).toContain('"error"')
    expect(text, JSON.stringify(route)).not.toContain('[DONE]')
    expect((await consumed(app)).length - before).toBe(1)
  }
}
