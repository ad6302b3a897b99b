import { createServer } from 'node:http'
import { expect, test } from 'vitest'
import { pollBatches } from '#features/message-batches/service.ts'
import { listenLocally } from '#test/support/local-server.ts'
import { json } from '#test/support/scripted-upstream.ts'
import { consumed } from '#test/relay/caller-dialects.ts'
import { startScriptedRelay } from '#test/relay/relay-world.ts'
import { serve, setOptions, withOptions } from '#test/relay/serve.ts'

const { app, scripted, token } = await startScriptedRelay()

test('a batch sets aside all that its searches may cost, which no batch makes cheaper', async () => {
  const usage = { input_tokens: 3, output_tokens: 1, server_tool_use: { web_search_requests: 10 } }
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], usage }
  const batch = (status: string) => ({ id: 'msgbatch_1', type: 'message_batch', processing_status: status })
  const baseUrl = scripted.play((path) => {
    if (path.endsWith('/results'))
      return { steps: [JSON.stringify({ custom_id: 'a', result: { type: 'succeeded', message } })] }
    return json(
      path.endsWith('/batches') ? batch('in_progress') : { ...batch('ended'), request_counts: { succeeded: 1 } },
    )
  })
  const { model } = await serve(app, { type: 14, baseUrl })
  const tools = [{ type: 'web_search_20250305', name: 'web_search', max_uses: 10 }]
  const params = { model, max_tokens: 100, messages: [{ role: 'user', content: 'hi' }], tools }
  const made = await app.relay(token, '/v1/messages/batches', { requests: [{ custom_id: 'a', params }] })
  expect(made.status).toBe(200)
  const { rows } = await app.pool.query("select amount from holds where status = 'open'")
  await pollBatches(app.services)
  const quota = Number((await consumed(app)).at(-1)?.quota)
  // 10 × 0.01 dollars, and a few tokens.
  expect(quota).toBeGreaterThan(50_000)
  expect(rows.map(({ amount }) => Number(amount) >= quota)).toEqual([true])
})

const address = 'https://a.test/b.pdf'
test.each([
  [
    'a document by address',
    { messages: [{ role: 'user', content: [{ type: 'document', source: { type: 'url', url: address } }] }] },
  ],
  ['a tool that fetches', { tools: [{ type: 'web_fetch_20250910', name: 'web_fetch' }] }],
  ['a server of tools', { mcp_servers: [{ type: 'url', name: 'a', url: address }] }],
])('a batch sets aside the most that the model reads for each request with %s, or is refused', async (_name, more) => {
  const batch = { id: `msgbatch_${crypto.randomUUID()}`, type: 'message_batch', processing_status: 'in_progress' }
  const { model } = await serve(app, { type: 14, baseUrl: scripted.play(() => json(batch)) })
  await setOptions(app, { ModelRatio: `{"${model}":1}`, CompletionRatio: `{"${model}":1}` })
  const seen = { model, max_tokens: 100, messages: [{ role: 'user', content: 'hi' }] }
  const requests = [seen, { ...seen, ...more }, { ...seen, ...more }].map((params, index) => ({
    custom_id: `r${index}`,
    params,
  }))
  // Half of 2 × 200,100 tokens, and of a few more.
  const most = 200_200
  const ask = async (quota: number) => {
    const user = await app.make.user({ quota })
    const { status } = await app.relay(await app.make.token(user), '/v1/messages/batches', { requests })
    const { rows } = await app.pool.query(
      "select coalesce(sum(amount), 0)::int as held from holds where user_id = $1 and status = 'open'",
      [user.id],
    )
    return { status, held: Number(rows[0].held) }
  }
  const made = await ask(most)
  expect(made.status).toBe(200)
  expect(made.held).toBeGreaterThan(most - 100)
  const asked = scripted.received.length
  expect(await ask(most - 100)).toEqual({ status: 403, held: 0 })
  expect(scripted.received.length).toBe(asked)
})

test('results are read no further for whoever has left, where answers are finished all the same', async () => {
  const line = JSON.stringify({ custom_id: 'a', result: { type: 'canceled' } })
  const batch = { id: 'msgbatch_left', type: 'message_batch', processing_status: 'ended' }
  const { promise: left, resolve } = Promise.withResolvers<void>()
  let reads = 0
  await using upstream = await listenLocally(
    createServer((request, response) => {
      if (!request.url?.endsWith('/results')) return response.end(JSON.stringify(batch))
      reads += 1
      // To charge it, and for its caller.
      if (reads === 1) return response.end(line)
      const goOn = (): void => {
        while (response.write(`${line}\n`));
        response.once('drain', goOn)
      }
      goOn()
      return response.once('close', resolve)
    }),
  )
  await withOptions(app, { 'global.finish_after_hangup_enabled': 'true' }, async () => {
    const { model } = await serve(app, { type: 14, baseUrl: upstream.url })
    const params = { model, max_tokens: 100, messages: [{ role: 'user', content: 'hi' }] }
    await app.relay(token, '/v1/messages/batches', { requests: [{ custom_id: 'a', params }] })
    const leaving = new AbortController()
    const reply = await fetch(`${app.url}/v1/messages/batches/${batch.id}/results`, {
      headers: { 'x-api-key': `sk-${token.key}` },
      signal: leaving.signal,
    })
    expect(reply.status).toBe(200)
    leaving.abort()
    await left
  })
  expect(reads).toBe(2)
})
