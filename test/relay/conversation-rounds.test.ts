import { expect, test } from 'vitest'
import { startScriptedRelay } from './relay-world.ts'
import { serve } from './serve.ts'
import { newId, read, turnOf, written } from './stored-turns.ts'

const { app, scripted, token } = await startScriptedRelay()

test.each([
  ['searches', { type: 'web_search_call', id: 'ws', action: { type: 'open_page' } }],
  ['searches of files', { type: 'file_search_call', id: 'fs' }],
  ['calls of a server', { type: 'mcp_call', id: 'mcp', name: 'a', arguments: '{}', output: 'b' }],
  ['but not one without tools of the vendor', undefined],
])('an answer whose rounds are reported as their sum counts as no more than its model reads: %s', async (_, item) => {
  const id = newId()
  const usage = { input_tokens: 5 * read, output_tokens: written }
  const calls = item ? [{ ...item, id: `${item.id}_${id}` }] : []
  const { unstreamed } = turnOf({ id, usage, calls })
  const { model } = await serve(app, { baseUrl: scripted.play(() => unstreamed) })
  const figure = async () =>
    (await app.pool.query('select conversation_tokens from upstream_objects where id = $1', [id])).rows
  const most = [{ conversation_tokens: item ? 200_000 : 5 * read + written }]
  expect((await app.relay(token, '/v1/responses', { model, input: 'hi' })).status).toBe(200)
  await expect.poll(figure).toEqual(most)
  // Nor where the answer is read again.
  await app.pool.query('update upstream_objects set conversation_tokens = null where id = $1', [id])
  const headers = { authorization: `Bearer sk-${token.key}` }
  expect((await fetch(`${app.url}/v1/responses/${id}`, { headers })).status).toBe(200)
  await expect.poll(figure).toEqual(most)
})
