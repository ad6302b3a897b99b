import Anthropic from '@anthropic-ai/sdk'
import type OpenAI from 'openai'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { forgetExpiredConversations } from '#features/stored-responses/conversations.ts'
import { thrownBy } from './clients/client.ts'
import { googleLibrary } from './clients/google.ts'
import { openAiClient, openAiLibrary } from './clients/openai.ts'
import { channelKinds, startWorld } from './world.ts'

const world = await startWorld(openAiClient)
afterAll(() => world.close())
const openai = openAiLibrary(world.app.url, world.token.key)
const google = googleLibrary(world.app.url, world.token.key)
beforeEach(() => world.newCharges())

const lastText = (): string => JSON.stringify(world.lastBody())

test('tokens are counted for every dialect on every kind of channel, and counting is neither charged nor logged', async () => {
  const anthropic = new Anthropic({ baseURL: world.app.url, apiKey: `sk-${world.token.key}`, maxRetries: 0 })
  for (const { model } of channelKinds) {
    const messages = [{ role: 'user' as const, content: 'How many tokens are these words?' }]
    const counted = await anthropic.messages.countTokens({ model, messages })
    expect(counted.input_tokens, model).toBeGreaterThan(3)
    const total = await google.models.countTokens({ model, contents: 'How many tokens are these words?' })
    expect(total.totalTokens, model).toBeGreaterThan(3)
    const input = 'How many tokens are these words?'
    const counting = await openai.responses.inputTokens.count({ model, input, tools: [] })
    expect(counting.object).toBe('response.input_tokens')
    expect(counting.input_tokens, model).toBeGreaterThan(3)
  }
  const asked = world.app.upstream.requests.map(({ path }) => path)
  expect(asked).toContain('/v1/responses/input_tokens')
  expect(await world.app.logs()).toEqual([])
})

describe.each(channelKinds)(
  'the conversations of the openai library against $name',
  ({ type, model, usage, charge }) => {
    test('are compacted by their model, charged once, and gone on from what is left of them', async () => {
      const tools = [
        { type: 'function' as const, name: 'look', parameters: { type: 'object', properties: {} }, strict: false },
      ]
      const input: OpenAI.Responses.ResponseInputItem[] = [
        { role: 'user', content: 'the bird is a plover' },
        { type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{}' },
        { type: 'function_call_output', call_id: 'call_1', output: 'it flew away' },
        { role: 'user', content: `where is it? [[usage=${usage}]]` },
      ]
      // As Codex asks, whose body has more than the library types.
      const body = { model, input, instructions: 'You are brief.', tools, parallel_tool_calls: false }
      const compacted = await openai.responses.compact(body)
      expect(compacted.object).toBe('response.compaction')
      expect(compacted.output.map(({ type }) => type)).toEqual(['message', 'message', 'compaction'])
      expect(JSON.stringify(compacted.output)).toContain('the bird is a plover')
      expect(lastText()).toContain('it flew away')
      if (type === 1) expect(world.app.upstream.requests.at(-1)?.path).toBe('/v1/responses/compact')
      else expect(lastText()).toContain('Summarise the conversation')
      expect(await world.newCharges()).toEqual([charge])
      const goOn = [
        ...(compacted.output as OpenAI.Responses.ResponseInputItem[]),
        { role: 'user' as const, content: 'go on' },
      ]
      const next = await openai.responses.create({ model, input: goOn, tools })
      expect(next.output_text).toMatch(/go on$/)
      if (type !== 1) expect(lastText()).toContain('was replaced by a summary')
    })

    test('are kept by the gateway: turns are added to them, whoever answers, and read, listed and removed', async () => {
      const made = await openai.conversations.create({
        items: [{ role: 'user', content: 'the word is plover' }],
        metadata: { topic: 'birds' },
      })
      expect(made).toMatchObject({ object: 'conversation', metadata: { topic: 'birds' } })
      const conversation = made.id
      const first = await openai.responses.create({ model, conversation, input: `first [[usage=${usage}]]` })
      expect(first.conversation).toEqual({ id: conversation })
      expect(lastText()).toContain('the word is plover')
      const events: OpenAI.Responses.ResponseStreamEvent[] = []
      const stream = await openai.responses.create({
        model,
        conversation: { id: conversation },
        input: 'second',
        stream: true,
      })
      for await (const event of stream) events.push(event)
      expect(lastText()).toMatch(/the word is plover.*first.*You said.*second/s)
      const closing = events.at(-1)
      expect(closing?.type === 'response.completed' && closing.response.conversation).toEqual({ id: conversation })
      expect((await world.newCharges())[0]).toBe(charge)

      const stored = []
      for await (const item of openai.conversations.items.list(conversation, { order: 'asc', limit: 2 }))
        stored.push(item)
      expect(stored.map((item) => item.type === 'message' && item.role)).toEqual([
        'user',
        'user',
        'assistant',
        'user',
        'assistant',
      ])
      const [oldest] = stored
      const path = { conversation_id: conversation }
      expect(await openai.conversations.items.retrieve(oldest?.id ?? '', path)).toEqual(oldest)
      expect(await openai.conversations.items.delete(oldest?.id ?? '', path)).toMatchObject({ id: conversation })
      const added = await openai.conversations.items.create(conversation, {
        items: [{ role: 'user', content: 'by hand' }],
      })
      expect(added.data).toHaveLength(1)
      expect((await openai.conversations.items.list(conversation)).data.map(({ id }) => id)).toEqual(
        [...stored.slice(1), ...added.data].toReversed().map(({ id }) => id),
      )
      await openai.responses.create({ model, conversation, input: 'third', store: false })
      expect(lastText()).toMatch(/first.*by hand.*third/s)
      expect(lastText()).not.toContain('"the word is plover"')
      expect((await openai.conversations.update(conversation, { metadata: { topic: 'waders' } })).metadata).toEqual({
        topic: 'waders',
      })
      expect(await openai.conversations.delete(conversation)).toMatchObject({ id: conversation, deleted: true })
      for (const refused of [
        () => openai.conversations.retrieve(conversation),
        () => openai.conversations.items.list(conversation).then(() => {}),
        () => openai.responses.create({ model, conversation, input: 'fourth' }),
      ])
        expect(await thrownBy(refused)).toMatchObject({ status: 404 })
    })
  },
)

test('a conversation is its maker’s alone, whole or not at all, and goes when nobody uses it', async () => {
  const { app } = world
  const other = await app.make.token(await app.make.user({ quota: 1_000_000_000 }))
  const theirs = openAiLibrary(app.url, other.key)
  const model = 'gpt-4o-mini'
  const { id } = await openai.conversations.create()
  const added = await openai.conversations.items.create(id, { items: [{ role: 'user', content: 'mine' }] })
  const item = added.data[0]?.id ?? ''
  const sizeOf = async () =>
    (await app.pool.query('select bytes from conversations where id = $1', [id])).rows[0]?.bytes
  const countOf = async () => (await app.pool.query('select count(*) from conversations')).rows[0]
  const count = await countOf()
  const large = { role: 'user' as const, content: 'x'.repeat(17 * 1024 * 1024) }
  expect(await thrownBy(() => openai.conversations.create({ items: [large] }))).toMatchObject({ status: 413 })
  expect(await countOf()).toEqual(count)
  const size = await sizeOf()
  await openai.conversations.update(id, { metadata: { k: '长'.repeat(512) } })
  expect(Number(await sizeOf())).toBeGreaterThan(Number(size))
  await openai.conversations.update(id, { metadata: {} })
  await openai.conversations.items.create(id, { items: [added.data[0] as OpenAI.Responses.ResponseInputItem] })
  expect(await sizeOf()).toBe(size)
  for (const refused of [
    () => theirs.conversations.retrieve(id),
    () => theirs.conversations.update(id, { metadata: {} }),
    () => theirs.conversations.delete(id),
    () => theirs.conversations.items.list(id).then(() => {}),
    () => theirs.conversations.items.create(id, { items: [{ role: 'user', content: 'theirs' }] }),
    () => theirs.conversations.items.retrieve(item, { conversation_id: id }),
    () => theirs.conversations.items.delete(item, { conversation_id: id }),
    () => theirs.responses.create({ model, conversation: id, input: 'hello' }),
    () => openai.conversations.retrieve('x'.repeat(3000)),
  ])
    expect(await thrownBy(refused)).toMatchObject({ status: 404 })
  expect((await fetch(`${app.url}/v1/conversations/${id}/items`)).status).toBe(401)
  const tooMany = Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`k${index}`, 'v']))
  for (const refused of [
    () => openai.conversations.create({ metadata: tooMany }),
    () => openai.conversations.create({ metadata: { k: 'v'.repeat(513) } }),
    () => openai.conversations.items.create(id, { items: [{ type: 'item_reference', id: item }] }),
    () => openai.conversations.items.create(id, { items: [{ role: 'nobody' as 'user', content: 'x' }] }),
    () => openai.responses.create({ model, conversation: id, previous_response_id: 'resp_x', input: 'hello' }),
  ])
    expect(await thrownBy(refused)).toMatchObject({ status: 400 })
  const turns = Array.from({ length: 10 }, (_, turn) =>
    openai.responses.create({ model, conversation: id, input: `turn ${turn}` }),
  )
  await Promise.all(turns)
  const roles: string[] = []
  for await (const stored of openai.conversations.items.list(id, { order: 'asc' }))
    roles.push(stored.type === 'message' ? stored.role : stored.type)
  // Turns at the same time follow each other, none within another.
  expect(roles).toEqual(['user', ...turns.flatMap(() => ['user', 'assistant'])])

  const failed = await thrownBy(() =>
    openai.responses.create({ model, conversation: id, input: 'lost [[status=400]]' }, { maxRetries: 0 }),
  )
  expect(failed).toMatchObject({ status: 400 })
  expect((await openai.conversations.items.list(id, { limit: 1 })).data[0]).toMatchObject({ role: 'assistant' })
  await app.pool.query("update conversations set used_at = now() - interval '31 days' where id = $1", [id])
  expect(await thrownBy(() => openai.conversations.retrieve(id))).toMatchObject({ status: 404 })
  expect(await forgetExpiredConversations(app.pool, 30, new AbortController().signal)).toBe(1 + roles.length)
})

describe.each(channelKinds)('the interactions of Google’s library against $name', ({ model, usage, charge, type }) => {
  test('are kept and gone on from, with calls and their results, whole or streamed, each charged once', async () => {
    const first = await google.interactions.create({ model, input: `the word is plover [[usage=${usage}]]` })
    expect(first).toMatchObject({ status: 'completed', output_text: 'You said: the word is plover' })
    expect(await world.newCharges()).toEqual([charge])
    const look = { type: 'function' as const, name: 'look', description: 'looks', parameters: { type: 'object' } }
    const events = []
    const second = await google.interactions.create({
      model,
      previous_interaction_id: first.id,
      input: [{ type: 'user_input', content: [{ type: 'text', text: '[[tool=look]] [[thinking=3]] go on' }] }],
      tools: [look],
      generation_config: { thinking_level: 'low', thinking_summaries: 'auto' },
      stream: true,
    })
    for await (const event of second) events.push(event)
    expect(lastText()).toMatch(/the word is plover.*You said: the word is plover.*go on/s)
    expect(events[0]?.event_type).toBe('interaction.created')
    const closing = events.at(-1)
    if (closing?.event_type !== 'interaction.completed') throw new Error(`ended by ${closing?.event_type}`)
    const { id, steps = [], status } = closing.interaction
    expect(status).toBe('requires_action')
    const call = steps.find((step) => step.type === 'function_call')
    if (call?.type !== 'function_call') throw new Error('no call')
    const started = events.flatMap((event) => (event.event_type === 'step.start' ? [event.step.type] : []))
    expect(started).toEqual(steps.map((step) => step.type))
    const third = await google.interactions.create({
      model,
      previous_interaction_id: id,
      input: [{ type: 'function_result', call_id: call.id, name: 'look', result: 'it flew away' }],
      tools: [look],
    })
    expect(third.output_text).toContain('it flew away')
    const { total_input_tokens = 0, total_output_tokens = 0, total_thought_tokens = 0, ...used } = third.usage ?? {}
    expect(used.total_tokens).toBe(total_input_tokens + total_output_tokens + total_thought_tokens)
    expect(await world.newCharges()).toHaveLength(2)
    expect(await google.interactions.get(third.id)).toMatchObject({ id: third.id, previous_interaction_id: id })
    expect(type === 24 || lastText().includes('plover')).toBe(true)
    await google.interactions.delete(first.id)
    // What it went on from is part of it.
    for (const named of [first.id, id])
      expect((await failureOf({ model, previous_interaction_id: named, input: 'x' })).status).toBe(404)
  })
})

const failureOf = async (params: Record<string, unknown>, token = world.token.key) => {
  const headers = { 'x-goog-api-key': `sk-${token}`, 'content-type': 'application/json' }
  const url = `${world.app.url}/v1beta/interactions`
  const reply = await fetch(url, { method: 'POST', headers, body: JSON.stringify(params) })
  const { error } = (await reply.json()) as { error?: { status: string; message: string } }
  return { status: reply.status, error: error?.status, message: error?.message ?? '' }
}

test('an interaction is its maker’s alone, is kept unless its caller says no, and cannot be what it is not', async () => {
  const { app } = world
  const model = 'gpt-4o-mini'
  const other = await app.make.token(await app.make.user({ quota: 1_000_000_000 }))
  const theirs = googleLibrary(app.url, other.key)
  const headers = { Authorization: 'Bearer secret-of-a-server' }
  const made = await google.interactions.create({
    model,
    input: 'mine',
    tools: [{ type: 'mcp_server', name: 'docs', url: 'https://mcp.test/sse', headers }],
  })
  expect(JSON.stringify([made, await google.interactions.get(made.id)])).not.toContain('secret-of-a-server')
  const response = await openai.responses.create({ model, input: 'a response' })
  const dropped = await google.interactions.create({ model, input: 'gone', store: false })
  const reading = [
    () => theirs.interactions.get(made.id),
    () => theirs.interactions.delete(made.id),
    () => google.interactions.get(dropped.id),
    () => google.interactions.get(response.id),
    () => google.interactions.get('x'.repeat(3000)),
    () => openai.responses.retrieve(made.id),
    () => openai.responses.delete(made.id),
  ]
  for (const path of ['/v1/interactions/', '/v1beta/interactions/'])
    expect((await fetch(`${app.url}${path}${made.id}`)).status).toBe(401)
  for (const refused of reading) expect(await thrownBy(refused)).toMatchObject({ status: 404 })
  const continued = () => openai.responses.create({ model, input: 'x', previous_response_id: made.id })
  expect(await thrownBy(continued)).toMatchObject({ status: 400, code: 'previous_response_not_found' })
  const foreign = await failureOf({ model, input: 'x', previous_interaction_id: made.id }, other.key)
  expect(foreign).toMatchObject({ status: 404, error: 'NOT_FOUND' })
  for (const body of [
    { model },
    { input: 'x' },
    { model, input: [] },
    { model, input: 'x', background: true },
    { agent: 'deep-research', input: 'x' },
    { model, input: [{ type: 'function_result', result: 'x' }] },
    { model, input: [{ type: 'user_input', content: [{ type: 'smell' }] }] },
    { model, input: 'x', previous_interaction_id: 5 },
    { model, input: [{ type: 'user_input', content: [{ type: { toString: 1 } }] }] },
    { model, input: [{ type: { toString: 1 } }] },
    { model, input: 'x', generation_config: { temperature: 'warm' } },
  ])
    expect(await failureOf(body)).toMatchObject({ status: 400, error: 'INVALID_ARGUMENT' })
})
