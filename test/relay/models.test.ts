import { describe, expect, test } from 'vitest'
import { anthropicLibrary } from '#test/sdk/clients/anthropic.ts'
import { thrownBy } from '#test/sdk/clients/client.ts'
import { googleLibrary } from '#test/sdk/clients/google.ts'
import { openAiLibrary } from '#test/sdk/clients/openai.ts'
import { setOptions, withOptions } from './serve.ts'
import { consumed } from './caller-dialects.ts'
import { startBalancedApp } from './relay-world.ts'

const app = await startBalancedApp()
const user = await app.make.user()
const token = await app.make.token(user)
await app.make.channel({ models: 'gpt-4o,gpt-4o-mini,unpriced-model' })
await app.make.channel({ type: 14, models: 'claude-sonnet-4-20250514', modelPrefix: 'east/' })
await app.make.channel({ models: 'o3', group: 'vip' })
await app.make.channel({ models: 'gpt-4.1', status: 2 })
await app.services.channels.reload()
const mapping = { best: [{ model: 'gpt-4o', priorities: 1 }], nowhere: [{ model: 'gpt-9', priorities: 1 }] }
await setOptions(app, { global_model_mapping: JSON.stringify({ mapping }) })

const visible = ['best', 'claude-sonnet-4-20250514', 'east/claude-sonnet-4-20250514', 'gpt-4o', 'gpt-4o-mini']

const libraries = [
  {
    name: 'openai',
    list: async (key: string) => {
      const ids: string[] = []
      for await (const model of openAiLibrary(app.url, key).models.list()) ids.push(model.id)
      return ids
    },
    retrieve: async (key: string, model: string) => (await openAiLibrary(app.url, key).models.retrieve(model)).id,
  },
  {
    name: '@anthropic-ai/sdk',
    list: async (key: string) => {
      const ids: string[] = []
      for await (const model of anthropicLibrary(app.url, key).models.list()) ids.push(model.id)
      return ids
    },
    retrieve: async (key: string, model: string) => (await anthropicLibrary(app.url, key).models.retrieve(model)).id,
  },
  {
    name: '@google/genai',
    list: async (key: string) => {
      const ids: string[] = []
      for await (const model of await googleLibrary(app.url, key).models.list()) ids.push(model.name ?? '')
      return ids.map((name) => name.replace(/^models\//, ''))
    },
    retrieve: async (key: string, model: string) => {
      const { name } = await googleLibrary(app.url, key).models.get({ model })
      return name?.replace(/^models\//, '')
    },
  },
]

test('a model that a channel sends on under a priced name is listed, as its calls are served', async () => {
  const modelMapping = JSON.stringify({ 'house-model': 'gpt-4o' })
  await app.make.channel({ models: 'house-model,house-other', group: 'renaming', modelMapping })
  await app.services.channels.reload()
  const own = await app.make.token(await app.make.user({ group: 'renaming' }))
  const listed = async () => {
    const reply = await fetch(`${app.url}/v1/models`, { headers: { authorization: `Bearer sk-${own.key}` } })
    return ((await reply.json()) as { data: { id: string }[] }).data.map(({ id }) => id)
  }
  expect(await listed()).toEqual(['house-model'])
  await withOptions(app, { redirect_billing_enabled: 'true' }, async () => expect(await listed()).toEqual([]))
})

describe('a virtual name is listed where its calls are served', () => {
  const listed = async () => {
    const reply = await fetch(`${app.url}/v1/models`, { headers: { authorization: `Bearer sk-${token.key}` } })
    const { data } = (await reply.json()) as { data: { id: string; root: string }[] }
    return data
  }
  const idsWith = async (names: Record<string, string[]>): Promise<string[]> => {
    const value = Object.fromEntries(
      Object.entries(names).map(([name, behind]) => [name, behind.map((model) => ({ model, priorities: 1 }))]),
    )
    let ids: string[] = []
    await withOptions(app, { global_model_mapping: JSON.stringify({ mapping: value }) }, async () => {
      ids = (await listed()).map(({ id }) => id)
    })
    return ids
  }
  const served = visible.filter((name) => name !== 'best')

  test('by a channel: another virtual name behind it is none, whichever comes first', async () => {
    expect(await idsWith({ first: ['gpt-4o'], second: ['first'] })).toEqual([...served, 'first'].toSorted())
    expect(await idsWith({ second: ['first'], first: ['gpt-4o'] })).toEqual([...served, 'first'].toSorted())
  })

  test('as is one that a model of its own has, whose calls it takes', async () => {
    expect(await idsWith({ 'gpt-4o': ['nobody-has-it'], other: ['gpt-4o'] })).toEqual([
      ...served.filter((name) => name !== 'gpt-4o'),
      'other',
    ])
  })

  test('by a name with a prefix, too, and by the model that is asked first', async () => {
    expect(await idsWith({ first: ['east/claude-sonnet-4-20250514'] })).toEqual([...served, 'first'].toSorted())
    const behind = [
      { model: 'gpt-4o', priorities: 1 },
      { model: 'gpt-4o-mini', priorities: 2 },
    ]
    await withOptions(app, { global_model_mapping: JSON.stringify({ mapping: { first: behind } }) }, async () => {
      expect(await listed()).toContainEqual(expect.objectContaining({ id: 'first', root: 'gpt-4o-mini' }))
    })
  })

  test('by its own price, where the operator bills by the callers’ names', async () => {
    await withOptions(app, { redirect_billing_enabled: 'true' }, async () => {
      expect((await listed()).map(({ id }) => id)).toEqual(served)
      const messages = [{ role: 'user', content: 'hi' }]
      expect((await app.relay(token, '/v1/chat/completions', { model: 'best', messages })).status).toBe(500)
      await withOptions(app, { ModelPrice: '{"best":0.01}' }, async () => {
        expect((await listed()).map(({ id }) => id)).toEqual(visible)
      })
    })
  })
})

test('every list says how much a model holds, by what its name stands for, and comes in pages for who asks', async () => {
  const read = async (path: string, headers: Record<string, string> = {}) => {
    const reply = await fetch(app.url + path, { headers: { authorization: `Bearer sk-${token.key}`, ...headers } })
    return (await reply.json()) as Record<string, never> & {
      data: Record<string, unknown>[]
      models: Record<string, unknown>[]
    }
  }
  const claudes = { 'anthropic-version': '2023-06-01', 'x-api-key': `sk-${token.key}` }
  const held = {
    'gpt-4o': 128_000,
    best: 128_000,
    'claude-sonnet-4-20250514': 200_000,
    'east/claude-sonnet-4-20250514': 200_000,
  }
  for (const [model, tokens] of Object.entries(held)) {
    const { data } = await read('/v1/models')
    expect(data.find(({ id }) => id === model)).toMatchObject({ context_window: tokens, context_length: tokens })
    const claude = await read('/v1/models', claudes)
    expect(claude.data.find(({ id }) => id === model)).toMatchObject({ max_input_tokens: tokens })
    const gemini = await read(`/v1beta/models?key=sk-${token.key}`)
    expect(gemini.models.find(({ name }) => name === `models/${model}`)).toMatchObject({ inputTokenLimit: tokens })
    expect(await read(`/v1/models/${model}`)).toMatchObject({ context_window: tokens })
  }
  expect(await read('/v1/models?limit=2')).toMatchObject({ has_more: true, first_id: 'best' })
  expect(await read('/v1/models?limit=9&after=gpt-4o')).toMatchObject({
    has_more: false,
    data: [{ id: 'gpt-4o-mini' }],
  })
  expect(await read('/v1/models?limit=1&before_id=gpt-4o', claudes)).toMatchObject({
    has_more: true,
    data: [{ id: 'east/claude-sonnet-4-20250514' }],
  })
  const anthropic: string[] = []
  for await (const model of anthropicLibrary(app.url, token.key).models.list({ limit: 2 })) anthropic.push(model.id)
  expect(anthropic.toSorted()).toEqual(visible)
  const google: string[] = []
  const pager = await googleLibrary(app.url, token.key).models.list({ config: { pageSize: 2 } })
  for await (const model of pager) google.push(String(model.name).replace('models/', ''))
  expect(google.toSorted()).toEqual(visible)
})

test('a model in Google’s list has every field that its own have, whatever is known of it', async () => {
  const limited = await app.make.token(user, { modelLimits: 'gpt-4o,of-the-house' })
  const reply = await fetch(`${app.url}/v1beta/models?key=sk-${limited.key}`)
  const supportedGenerationMethods = ['generateContent', 'streamGenerateContent', 'countTokens']
  const listed = (id: string, inputTokenLimit: number, outputTokenLimit: number) => ({
    name: `models/${id}`,
    version: '001',
    displayName: id,
    description: '',
    inputTokenLimit,
    outputTokenLimit,
    supportedGenerationMethods,
  })
  expect(await reply.json()).toEqual({ models: [listed('gpt-4o', 128_000, 16_384), listed('of-the-house', 0, 0)] })
})

describe.each(libraries)('the $name library', ({ list, retrieve }) => {
  test('lists what the group can use and pay for, prefixed and virtual names included', async () => {
    expect((await list(token.key)).toSorted()).toEqual(visible)
  })

  test('finds one of them, and no other', async () => {
    for (const model of ['gpt-4o', 'best', 'east/claude-sonnet-4-20250514']) {
      expect(await retrieve(token.key, model)).toBe(model)
    }
    for (const model of ['gpt-4.1', 'o3', 'nowhere', 'never-heard-of']) {
      const error = await thrownBy(() => retrieve(token.key, model))
      expect(error.status, model).toBe(404)
      expect(error.message).toContain(`The model '${model}' does not exist`)
    }
  })

  test('sees exactly the names a token is limited to', async () => {
    const limited = await app.make.token(user, { modelLimits: 'gpt-4o,anything-else' })
    expect((await list(limited.key)).toSorted()).toEqual(['anything-else', 'gpt-4o'])
    const none = await app.make.token(user, { modelLimits: '' })
    expect(await list(none.key)).toEqual([])
  })

  test('sees another group’s models with a token of that group', async () => {
    const other = await app.make.token(user, { group: 'vip' })
    expect(await list(other.key)).toEqual(['o3'])
  })

  test('is refused like a call: a wrong key, a foreign address, a forbidden group', async () => {
    expect((await thrownBy(() => list('x'.repeat(48)))).status).toBe(401)
    const elsewhere = await app.make.token(user, { allowIps: '10.0.0.1' })
    expect((await thrownBy(() => list(elsewhere.key))).status).toBe(403)
    const foreign = await app.make.token(user, { group: 'svip' })
    expect((await thrownBy(() => list(foreign.key))).status).toBe(403)
  })

  test('sees models without a price where they may be used all the same', async () => {
    await withOptions(app, { SelfUseModeEnabled: 'true' }, async () => {
      expect(await list(token.key)).toContain('unpriced-model')
    })
    await withOptions(app, { fallback_pricing_enabled: 'true', fallback_single_price: '0.01' }, async () => {
      expect(await list(token.key)).toContain('unpriced-model')
    })
  })
})

test('each style has exactly the documented fields', async () => {
  const get = async (path: string, headers: Record<string, string>) =>
    (await fetch(app.url + path, { headers })).json() as Promise<Record<string, unknown>>
  const bearer = { authorization: `Bearer sk-${token.key}` }
  const openai = await get('/v1/models', bearer)
  expect(openai).toMatchObject({ success: true, object: 'list' })
  expect((openai['data'] as unknown[])[3]).toEqual({
    id: 'gpt-4o',
    object: 'model',
    created: 1_626_777_600,
    owned_by: 'openai',
    permission: [expect.objectContaining({ id: 'modelperm-LwHkVFn8AcMItP432fKKDYKJ', organization: '*' })],
    root: 'gpt-4o',
    parent: null,
    context_window: 128_000,
    context_length: 128_000,
  })
  expect(openai['data']).toContainEqual(
    expect.objectContaining({ id: 'east/claude-sonnet-4-20250514', root: 'claude-sonnet-4-20250514' }),
  )
  const claude = await get('/v1/models', { 'x-api-key': token.key, 'anthropic-version': '2023-06-01' })
  expect(claude).toMatchObject({ first_id: visible[0], has_more: false, last_id: visible.at(-1) })
  expect((claude['data'] as unknown[])[0]).toEqual({
    type: 'model',
    id: 'best',
    display_name: 'best',
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    max_input_tokens: 128_000,
  })
  for (const [path, headers] of [
    ['/v1beta/models', { 'x-goog-api-key': token.key }],
    ['/hf/v1beta/models', { 'x-goog-api-key': token.key }],
    [`/hf/v1/models?key=${token.key}`, {}],
    [`/v1beta/models?key=${token.key}`, {}],
    [`/v1/models?key=${token.key}`, {}],
  ] as const) {
    const gemini = await get(path, headers)
    expect((gemini['models'] as unknown[])[0]).toMatchObject({ name: 'models/best', displayName: 'best' })
  }
  expect(await get('/v1beta/openai/models', bearer)).toMatchObject({ object: 'list' })
  expect(await get('/v1beta/openai/models/gpt-4o', bearer)).toMatchObject({ id: 'gpt-4o', object: 'model' })
  expect(await get('/hf/v1/models', bearer)).toMatchObject({ object: 'list' })
})

test('listing models costs nothing and calls no upstream', async () => {
  expect(await consumed(app)).toEqual([])
  expect(app.upstream.total).toBe(0)
})

test('a model nobody has is the caller’s mistake, by the original’s own words', async () => {
  const reply = await fetch(`${app.url}/v1/models/nowhere`, { headers: { authorization: `Bearer ${token.key}` } })
  expect(reply.status).toBe(404)
  expect(await reply.json()).toEqual({
    error: {
      message: expect.stringContaining("The model 'nowhere' does not exist") as unknown,
      type: 'invalid_request_error',
      param: 'model',
      code: 'model_not_found',
    },
  })
})
