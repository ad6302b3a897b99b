import { expect, test } from 'vitest'
import { pollBatches } from '#features/message-batches/service.ts'
import { json } from '#test/support/scripted-upstream.ts'
import { consumed } from '#test/relay/caller-dialects.ts'
import { startScriptedRelay } from '#test/relay/relay-world.ts'
import { serve } from '#test/relay/serve.ts'

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
