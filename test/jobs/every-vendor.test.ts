import { afterAll, expect, test } from 'vitest'
import { upstreams } from '#test/matrix/upstreams.ts'
import { startWorld } from '#test/matrix/world.ts'

const app = await startWorld()
afterAll(() => app[Symbol.asyncDispose]())
const root = await app.make.user({ role: 100 })
await app.make.option('AutomaticDisableChannelEnabled', 'true')
await app.make.option('ChannelDisableThreshold', '0')
await app.make.option('SelfUseModeEnabled', 'true')
await app.services.options.reload()

test('a test of all channels logs in, signs and reads as each vendor wants it, and switches none of them off', async () => {
  const { finished } = await app.services.jobs.run('channel-tests')
  const { report } = await finished
  const { rows } = await app.pool.query(
    'select c.name, p.message from channel_probes p join channels c on c.id = p.channel_id where not p.success',
  )
  expect(rows).toEqual([])
  expect(report.params).toEqual({ tested: upstreams.length, failed: 0, disabled: 0, enabled: 0 })
  const { rows: off } = await app.pool.query('select name from channels where status <> 1')
  expect(off).toEqual([])
})

test('an embedding is asked for in the vendor’s own words', async () => {
  const { channels } = app.trpc(root).admin
  const { url } = app.upstream
  const google = await app.make.channel({ type: 24, models: 'gemini-embedding-001', baseUrl: url })
  const ollama = await app.make.channel({ type: 4, models: 'nomic-embed-text', baseUrl: url })
  for (const { id } of [google, ollama]) {
    expect(await channels.probe.mutate({ id })).toMatchObject({ success: true, message: '' })
  }
  const asked = app.upstream.requests.slice(-2).map(({ path }) => path)
  expect(asked).toEqual(['/v1beta/models/gemini-embedding-001:embedContent', '/api/embed'])
})

test('what an upstream streams although nobody asked is read to its end', async () => {
  const { channels } = app.trpc(root).admin
  const { id } = await app.make.channel({ models: 'gpt-4o-mini', paramOverride: '{"stream":true}' })
  const { transport } = app.services
  const chunk = (delta: object, more: object) =>
    `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta, ...more }] })}\n\n`
  const events = [
    chunk({ content: 'Hi' }, { finish_reason: null }),
    chunk({}, { finish_reason: 'stop' }),
    'data: {"id":"c","choices":[],"usage":{"prompt_tokens":8,"completion_tokens":2,"total_tokens":10}}\n\n',
    'data: [DONE]\n\n',
  ]
  const answerWith = (text: string) => {
    app.services.transport = {
      ...transport,
      send: async (request) => {
        const reply = await transport.send(request)
        reply.cancel()
        return { ...reply, headers: { 'content-type': 'text/event-stream' }, bytes: async () => Buffer.from(text) }
      },
    }
  }
  answerWith(events.join(''))
  expect(await channels.probe.mutate({ id })).toMatchObject({ success: true })
  answerWith(events.slice(0, 1).join(''))
  expect(await channels.probe.mutate({ id })).toMatchObject({ success: false })
  app.services.transport = transport
})
