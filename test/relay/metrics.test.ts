import { afterAll, expect, test } from 'vitest'
import { startApp } from '../support/app.ts'

const key = 'a key for those who watch'

const app = await startApp({ environment: { METRICS_KEY: key } })
afterAll(() => app[Symbol.asyncDispose]())

const read = async (headers: Record<string, string> = { authorization: `Bearer ${key}` }) => {
  const answer = await fetch(`${app.url}/metrics`, { headers })
  return { status: answer.status, text: await answer.text() }
}

/** The value of a line, by its name and labels as they are written. */
const valueOf = (text: string, line: string): number =>
  Number(
    text
      .split('\n')
      .find((each) => each.startsWith(`${line} `))
      ?.split(' ')
      .at(-1) ?? Number.NaN,
  )

test('calls are counted by dialect and status, with their tokens, quota, latency and failures, by model and channel', async () => {
  const channel = await app.make.channel({ models: 'gpt-4o-mini' })
  await app.services.channels.reload(channel.id)
  const user = await app.make.user({ quota: 1_000_000 })
  const { key: token } = await app.make.token(user)
  app.services.metrics.registry.resetMetrics()
  const call = (model: string) =>
    fetch(`${app.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'hi' }] }),
    })
  const answer = await call('gpt-4o-mini')
  const { usage } = (await answer.json()) as { usage: { prompt_tokens: number; completion_tokens: number } }
  await (await call('nobody-has-it')).text()
  const { rows } = await app.pool.query('select quota from logs where model_name = $1 and type = 2', ['gpt-4o-mini'])
  // A connection may end a moment after its last byte.
  await expect.poll(async () => valueOf((await read()).text, 'gateway_calls_under_way')).toBe(0)
  const { status, text } = await read()
  const labels = `model="gpt-4o-mini",channel="${channel.id}"`
  expect(status).toBe(200)
  expect(valueOf(text, 'gateway_requests_total{dialect="openai-chat",status="200"}')).toBe(1)
  expect(valueOf(text, 'gateway_requests_total{dialect="openai-chat",status="503"}')).toBe(1)
  expect(valueOf(text, `gateway_calls_total{${labels}}`)).toBe(1)
  expect(valueOf(text, `gateway_quota_total{${labels}}`)).toBe(Number(rows[0]?.quota))
  expect(valueOf(text, `gateway_tokens_total{${labels},kind="prompt"}`)).toBe(usage.prompt_tokens)
  expect(valueOf(text, `gateway_tokens_total{${labels},kind="completion"}`)).toBe(usage.completion_tokens)
  expect(valueOf(text, 'gateway_call_seconds_count{model="gpt-4o-mini"}')).toBe(1)
  expect(valueOf(text, 'gateway_channels{status="enabled"}')).toBeGreaterThan(0)
  expect(valueOf(text, 'gateway_ledger_queue')).toBe(0)
  expect(text).toContain('nodejs_eventloop_lag_p99_seconds')
})

test('a flood of model names does not become a flood of series', async () => {
  const row = { failed: 'call' as const, channelId: 1 }
  for (let index = 0; index < 2000; index += 1) app.services.metrics.failed({ ...row, modelName: `made-up-${index}` })
  const { text } = await read()
  expect(text.split('\n').filter((line) => line.includes('made-up-')).length).toBeLessThan(600)
  expect(valueOf(text, 'gateway_failures_total{model="other",channel="1",kind="call"}')).toBeGreaterThan(1000)
})

test('nobody without the key reads them, and nothing of a caller stands in them', async () => {
  for (const headers of [{}, { authorization: 'Bearer another key of some length' }, { authorization: key }])
    expect(await read(headers as Record<string, string>)).toMatchObject({ status: 401 })
  const { text } = await read()
  const { rows } = await app.pool.query('select username from users')
  for (const { username } of rows) expect(text).not.toContain(username)
})

test('without a key this machine alone reads them, and nobody through a proxy', async () => {
  await using open = await startApp()
  expect((await fetch(`${open.url}/metrics`)).status).toBe(200)
  const proxied = await fetch(`${open.url}/metrics`, { headers: { 'x-forwarded-for': '203.0.113.7' } })
  expect(proxied.status).toBe(403)
})
