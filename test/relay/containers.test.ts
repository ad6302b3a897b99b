import { expect, test } from 'vitest'
import { callerDialects, consumed, say, type CallerDialect } from './caller-dialects.ts'
import { richToken, startScriptedRelay } from './relay-world.ts'
import { serve, setOptions } from './serve.ts'
import { newId, turnOf, written } from './stored-turns.ts'

// Code that the upstream runs: 1 a token, and a price for each container.
const prices = { SelfUseModeEnabled: 'false', GroupRatio: '{"default":1}', PreConsumedQuota: '100' }
const { app, scripted } = await startScriptedRelay({ options: prices })
const responses = callerDialects[1] as CallerDialect

/** A model each of whose turns runs code in this container, and reads so much. */
async function servedIn(container: string, tokens: number) {
  const run = { type: 'code_interpreter_call', id: `ci_${container}`, container_id: container, status: 'completed' }
  const usage = { input_tokens: tokens, output_tokens: written }
  const baseUrl = scripted.play(() => turnOf({ id: newId(), calls: [run], usage }).unstreamed)
  const { model } = await serve(app, { baseUrl })
  await setOptions(app, { ModelRatio: `{"${model}":1}`, CompletionRatio: `{"${model}":1}` })
  const token = await richToken(app)
  const ask = async (more: object) => {
    const reply = await say(app, responses, { token, body: { ...responses.body(model, 'hi', false), ...more } })
    expect(reply.status, await reply.text()).toBe(200)
    return (await consumed(app)).at(-1)
  }
  return { model, token, ask }
}

test('how prompts are counted is learnt from calls that go on in a container: it brings no words', async () => {
  const { model, token, ask } = await servedIn('cntr_learnt', 1200)
  await ask({})
  const tools = [{ type: 'code_interpreter', container: 'cntr_learnt' }]
  const row = await ask({ input: 'many words '.repeat(300), tools })
  expect(app.services.holds.lengths.expect(`${row?.user_id}:${token.id}`, model).promptRatio).toBeGreaterThan(1)
})

test('a container is charged however many tools a call adds', async () => {
  const { ask } = await servedIn('cntr_added', 10)
  const tools = Array.from({ length: 200_000 }, () => ({ type: 'code_interpreter' }))
  const row = await ask({
    input: [
      { type: 'additional_tools', tools },
      { role: 'user', content: 'hi' },
    ],
  })
  expect(Number(row?.quota)).toBeGreaterThanOrEqual(15_000)
})
