import { expect, test } from 'vitest'
import { json, type Play } from '#test/support/scripted-upstream.ts'
import { startScriptedRelay } from '../relay/relay-world.ts'
import { channelsOf, serve, setOptions } from '../relay/serve.ts'
import { consumed } from '../relay/caller-dialects.ts'

const { app, scripted, token } = await startScriptedRelay()

let made = 0
/** An upstream that answers its first call, and fails from then on. */
function failing(status: number) {
  made += 1
  const item = `msg_repeated_${made}`
  const content = [{ type: 'output_text', text: 'yes' }]
  const answer = json({
    id: `resp_repeated_${made}`,
    object: 'response',
    status: 'completed',
    output: [{ type: 'message', id: item, role: 'assistant', content }],
    usage: { input_tokens: 3, output_tokens: 1, total_tokens: 4 },
  })
  let calls = 0
  const play = (): Play => ((calls += 1) === 1 ? answer : { ...json({ error: { message: 'no' } }), status })
  const again = [
    { type: 'message', id: item, role: 'assistant', content },
    { role: 'user', content: 'go on' },
  ]
  return { baseUrl: scripted.play(play), again, calls: () => calls }
}

const ask = (model: string, input: unknown) => app.relay(token, '/v1/responses', { model, input })

test.each([401, 500])(
  'a call that repeats items goes on elsewhere when the place that made them answers %i',
  async (status) => {
    await setOptions(app, { RetryTimes: '1' })
    const maker = failing(status)
    const other = scripted.play(json({ id: 'resp_of_another', object: 'response', status: 'completed', output: [] }))
    const { model, ids } = await serve(app, { baseUrl: maker.baseUrl, priority: 2 }, { baseUrl: other, priority: 1 })
    expect((await ask(model, 'hi')).status).toBe(200)
    expect((await ask(model, maker.again)).status).toBe(200)
    expect(channelsOf((await consumed(app)).at(-1))).toEqual(ids)
  },
)

test('where there is no other place, one that has refused the call is not asked again', async () => {
  await setOptions(app, { RetryTimes: '3' })
  const maker = failing(403)
  const { model } = await serve(app, { baseUrl: maker.baseUrl })
  expect((await ask(model, 'hi')).status).toBe(200)
  expect((await ask(model, maker.again)).status).toBe(403)
  expect(maker.calls()).toBe(2)
})
