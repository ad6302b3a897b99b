import { afterAll, expect, test } from 'vitest'
import { createTransport } from '#relay/transport/send.ts'
import { startUpstream } from '#test/simulator/index.ts'

const upstream = await startUpstream()
const transport = createTransport()
afterAll(async () => {
  await transport.close()
  await upstream.close()
})

const send = (directives: string, stream = true) =>
  transport.send({
    method: 'POST',
    url: `${upstream.withDirectives(directives)}/v1/chat/completions`,
    headers: { authorization: 'Bearer sk-secret', 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', stream, messages: [{ role: 'user', content: 'one two three' }] }),
  })

test('an answer waits for a slow reader instead of filling the memory', async () => {
  const reply = await send('big=30000000,words=1')
  const before = process.memoryUsage().rss
  await new Promise((resolve) => setTimeout(resolve, 200))
  expect(process.memoryUsage().rss - before).toBeLessThan(20_000_000)
  expect((await reply.text()).length).toBeGreaterThan(30_000_000)
})

test('answers that grow a thousandfold when unpacked are stopped early', async () => {
  for (const stream of [true, false]) {
    const reply = await send('bomb=2000', stream)
    const before = process.memoryUsage().rss
    await expect(reply.text(1e12)).rejects.toMatchObject({ kind: 'too-large' })
    expect(process.memoryUsage().rss - before).toBeLessThan(150_000_000)
  }
  await expect.poll(() => upstream.open).toBe(0)
})
