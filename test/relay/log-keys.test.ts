import { afterAll, describe, expect, test } from 'vitest'
import { startApp } from '#test/support/app.ts'
import { receiptViolations } from '#test/support/receipts.ts'
import { startScriptedUpstream } from '#test/support/scripted-upstream.ts'
import { setOptions, withOptions } from './serve.ts'
import { closeWithoutViolations, consumed } from './caller-dialects.ts'

/** All at model ratio 2 and completion ratio 3; the group costs 0.5, and 0.8 for its own users. */
const app = await startApp()
const upstream = await startScriptedUpstream()
const token = await app.make.token(await app.make.user({ quota: 100_000_000 }))
const models = ['plain', 'gpt-4o-search-preview', 'gpt-4.1-tools', 'sound', 'gpt-image-1']
const each = (value: number) => JSON.stringify(Object.fromEntries(models.map((model) => [model, value])))
await setOptions(app, {
  GroupRatio: '{"default":0.5}',
  GroupGroupRatio: '{"default":{"default":0.8}}',
  ModelRatio: each(2),
  CompletionRatio: each(3),
  ModelPrice: '{}',
})
afterAll(async () => {
  await closeWithoutViolations(app)
  await upstream[Symbol.asyncDispose]()
})

const json = { 'content-type': 'application/json' }

async function serve(models: string, answer: unknown): Promise<void> {
  const { id } = await app.make.channel({
    models,
    baseUrl: upstream.play({ headers: json, steps: [JSON.stringify(answer)] }),
  })
  await app.services.channels.reload(id)
}

const chatAnswer = (usage: unknown) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
  usage,
})

async function rowAfter(path: string, body: unknown) {
  const reply = await app.relay(token, path, body)
  expect(reply.status, await reply.text()).toBe(200)
  const row = (await consumed(app)).at(-1)
  if (!row) throw new Error('nothing was logged')
  return row
}

const messages = [{ role: 'user', content: 'hello' }]

describe('the log row of a call', () => {
  test('of a chat model that searches by itself counts one search, which is charged', async () => {
    await serve('gpt-4o-search-preview', chatAnswer({ prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 }))
    const row = await rowAfter('/v1/chat/completions', { model: 'gpt-4o-search-preview', messages })
    // (100 + 10 × 4, as the model’s own rule has it) × 2 × 0.8, and 25 dollars a thousand: 0.025 × 500,000 × 0.8
    expect(row.quota).toBe(224 + 10_000)
    expect(row.other).toMatchObject({ web_search: true, web_search_call_count: 1, web_search_price: 25 })
    expect(row.content).toBe('模型倍率 2.00，补全倍率 4.00，分组倍率 0.80，Web Search 调用 1 次，每 1000 次 $25')
  })

  test('lists the tools that ran in a response, a container once however often it was used, and charges them', async () => {
    await serve('gpt-4.1-tools', {
      id: 'resp_1',
      object: 'response',
      created_at: 1,
      status: 'completed',
      model: 'gpt-4.1-tools',
      output: [
        { type: 'web_search_call', id: 'ws_1', status: 'completed' },
        { type: 'web_search_call', id: 'ws_2', status: 'completed' },
        { type: 'file_search_call', id: 'fs_1', status: 'completed', queries: [] },
        { type: 'code_interpreter_call', id: 'ci_1', status: 'completed', container_id: 'cntr_1', code: '1' },
        { type: 'code_interpreter_call', id: 'ci_2', status: 'completed', container_id: 'cntr_1', code: '2' },
        {
          type: 'message',
          id: 'msg_1',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: 'hello', annotations: [] }],
        },
      ],
      usage: { input_tokens: 100, output_tokens: 10, total_tokens: 110 },
    })
    const row = await rowAfter('/v1/responses', { model: 'gpt-4.1-tools', input: 'hello' })
    // (100 + 30) × 2 × 0.8; 2 × 0.025, 0.0025 and 0.03 dollars × 500,000 × 0.8
    expect(row.quota).toBe(208 + 20_000 + 1000 + 12_000)
    expect(row.other).toMatchObject({
      web_search: true,
      web_search_call_count: 2,
      web_search_price: 25,
      file_search: true,
      file_search_call_count: 1,
      file_search_price: 2.5,
      code_interpreter: true,
      code_interpreter_call_count: 1,
    })
  })

  test('with audio has its six figures, and the audio ratios in its text', async () => {
    await serve(
      'sound',
      chatAnswer({
        prompt_tokens: 100,
        completion_tokens: 50,
        total_tokens: 150,
        prompt_tokens_details: { audio_tokens: 60 },
        completion_tokens_details: { audio_tokens: 20 },
      }),
    )
    const row = await rowAfter('/v1/chat/completions', { model: 'sound', messages })
    // (40 + 30 × 3 + 60 × 20 + 20 × 20 × 2) × 2 × 0.8
    expect(row.quota).toBe(3408)
    expect(row.other).toMatchObject({
      audio: true,
      audio_input: 60,
      audio_output: 20,
      text_input: 40,
      text_output: 30,
      audio_ratio: 20,
      audio_completion_ratio: 2,
    })
    expect(row.content).toBe('模型倍率 2.00，补全倍率 3.00，音频倍率 20.00，音频补全倍率 2.00，分组倍率 0.80')
  })

  test('of an image made from images has their tokens', async () => {
    const details = { text_tokens: 20, image_tokens: 80 }
    await serve('gpt-image-1', {
      created: 1,
      data: [{ b64_json: 'aGVsbG8=' }],
      usage: { input_tokens: 100, output_tokens: 10, total_tokens: 110, input_tokens_details: details },
    })
    const row = await rowAfter('/v1/images/generations', { model: 'gpt-image-1', prompt: 'a cat' })
    expect(row.other).toMatchObject({ image: true, image_output: 80 })
    // (20 + 80 × image ratio 2 + 10 × 3) × 2 × 0.8
    expect(row.quota).toBe(336)
  })

  test('has the ratio of the caller’s own group where that is the one charged, and no key that does not apply', async () => {
    await serve('plain', chatAnswer({ prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 }))
    const row = await rowAfter('/v1/chat/completions', { model: 'plain', messages })
    expect(row.other).toMatchObject({ group_ratio: 0.8, user_group_ratio: 0.8 })
    const absent = [
      'web_search',
      'file_search',
      'audio',
      'image',
      'claude',
      'ws',
      'is_model_mapped',
      'reasoning_effort',
    ]
    for (const key of absent) expect(row.other).not.toHaveProperty(key)
    const thoughtful = { model: 'plain', messages, reasoning_effort: 'low' }
    expect((await rowAfter('/v1/chat/completions', thoughtful)).other).toMatchObject({ reasoning_effort: 'low' })
    await setOptions(app, { GroupGroupRatio: '{}' })
    const next = await rowAfter('/v1/chat/completions', { model: 'plain', messages })
    expect(next.other).toMatchObject({ group_ratio: 0.5 })
    expect(next.other).not.toHaveProperty('user_group_ratio')
  })

  test('says, where contents are logged, whether the system prompt is the caller’s own: users see no other', async () => {
    const user = await app.make.user({ quota: 100_000_000 })
    const key = await app.make.token(user)
    const reader = app.trpc(user).user.logs
    const admin = app.trpc(await app.make.user({ role: 10 })).admin.logs
    const asked = [{ role: 'system', content: 'of the caller' }, ...messages]
    const cases = [
      { name: 'own', route: {}, prompt: 'of the caller', own: true },
      { name: 'replaced', route: { systemPrompt: 'the secret' }, prompt: 'the secret', own: false },
      {
        name: 'led',
        route: { systemPrompt: 'the secret', setting: '{"system_prompt_override":true}' },
        prompt: 'the secret\nof the caller',
        own: false,
      },
      {
        name: 'passed',
        route: { systemPrompt: 'the secret', setting: '{"pass_through_body_enabled":true}' },
        prompt: 'of the caller',
        own: true,
      },
    ]
    const prices = JSON.stringify(Object.fromEntries(cases.map(({ name }) => [name, 2])))
    await withOptions(app, { LogChatContentEnabled: 'true', ModelRatio: prices }, async () => {
      for (const { name, route, prompt, own } of cases) {
        const channel = await app.make.channel({ ...route, models: name })
        await app.services.channels.reload(channel.id)
        const reply = await app.relay(key, '/v1/chat/completions', { model: name, messages: asked })
        expect(reply.status, await reply.text()).toBe(200)
        const [seen] = (await reader.list.query({ modelName: name })).items
        expect(seen?.other?.['system_prompt'], name).toBe(own ? prompt : undefined)
        expect(seen?.other, name).toMatchObject({ input_content: { content: 'hello' } })
        expect(JSON.stringify(seen), name).not.toContain('secret')
        const [full] = (await admin.list.query({ modelName: name })).items
        expect(full?.other, name).toMatchObject({ system_prompt: prompt, own_system_prompt: own })
      }
    })
    const [unlogged] = (await consumed(app)).slice(0, 1)
    expect(unlogged?.other).not.toHaveProperty('own_system_prompt')
  })

  test('of a model without a price is charged by the fallback, a single price or both ratios', async () => {
    await serve('unheard-of', chatAnswer({ prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 }))
    const charged = async (options: Record<string, string>) => {
      let quota = 0
      await withOptions(app, { fallback_pricing_enabled: 'true', GroupGroupRatio: '{}', ...options }, async () => {
        const row = await rowAfter('/v1/chat/completions', { model: 'unheard-of', messages })
        expect(row.other['receipt']).toMatchObject({ price: { source: 'fallback' } })
        ;({ quota } = row)
      })
      return quota
    }
    // 0.01 × 500,000 × 0.5
    expect(await charged({ fallback_single_price: '0.01' })).toBe(2500)
    // (100 + 10 × 4) × 3 × 0.5
    expect(await charged({ fallback_input_ratio: '3', fallback_completion_ratio: '4' })).toBe(210)
    await withOptions(app, { fallback_pricing_enabled: 'false', fallback_single_price: '0.01' }, async () => {
      expect((await app.relay(token, '/v1/chat/completions', { model: 'unheard-of', messages })).status).not.toBe(200)
    })
  })

  test('of a long prompt is charged by the step it is in; the receipts of all kinds above still give their charges when every price has changed', async () => {
    await setOptions(app, { LongContextRatio: '{"plain":[{"above":99,"input":2,"output":1.5}]}' })
    const row = await rowAfter('/v1/chat/completions', { model: 'plain', messages })
    // (100 × 2 + 10 × 3 × 1.5) × 2 × 0.5
    expect(row.quota).toBe(245)
    const rows = (await consumed(app)).map(({ other }) => other['receipt'] as { formula: string; tools?: unknown[] })
    expect(new Set(rows.map(({ formula }) => formula))).toEqual(new Set(['text', 'audio']))
    expect(rows.flatMap(({ tools = [] }) => tools)).toHaveLength(4)
    await setOptions(app, {
      GroupRatio: '{"default":7}',
      ModelRatio: '{"plain":99,"sound":99}',
      CompletionRatio: '{}',
      LongContextRatio: '{}',
      ModelPrice: '{"gpt-image-1":9,"gpt-4.1-tools":9}',
    })
    expect(await receiptViolations(app.pool)).toEqual([])
  })
})
