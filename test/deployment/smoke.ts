import { expect } from 'vitest'
import { until } from '../support/processes.ts'

/** Where an installation is reached, and what it calls. */
export type Installation = {
  /** Of the proxy in front, or of the process itself. */
  url: string
  upstreamUrl: string
  /** Wanted where a proxy stands between. */
  setupToken?: string | undefined
}

type Reply = { status: number; body: Record<string, unknown> }

const model = 'smoke-model'
const password = 'a long password of the smoke test'

async function send(url: string, init: RequestInit & { json?: unknown } = {}): Promise<Reply & { cookie: string }> {
  const { json, ...rest } = init
  const reply = await fetch(url, {
    ...rest,
    headers: { 'content-type': 'application/json', ...(rest.headers as Record<string, string>) },
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
  })
  const text = await reply.text()
  const cookie = reply.headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ')
  return { status: reply.status, cookie, body: text.startsWith('{') ? (JSON.parse(text) as Reply['body']) : { text } }
}

/** The three dialects, each as its own library sends it. */
const dialects: Readonly<Record<string, (key: string) => { path: string; init: RequestInit & { json: unknown } }>> = {
  openai: (key) => ({
    path: '/v1/chat/completions',
    init: {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      json: { model, messages: [{ role: 'user', content: 'Say something.' }] },
    },
  }),
  claude: (key) => ({
    path: '/v1/messages',
    init: {
      method: 'POST',
      headers: { 'x-api-key': key, 'anthropic-version': '2023-06-01' },
      json: { model, max_tokens: 100, messages: [{ role: 'user', content: 'Say something.' }] },
    },
  }),
  gemini: (key) => ({
    path: `/v1beta/models/${model}:generateContent`,
    init: {
      method: 'POST',
      headers: { 'x-goog-api-key': key },
      json: { contents: [{ role: 'user', parts: [{ text: 'Say something.' }] }] },
    },
  }),
}

/** One call, as many ask it while something else happens. */
export const callOnce = (url: string, key: string): Promise<Reply> => {
  const { path, init } = (dialects['openai'] as NonNullable<(typeof dialects)['openai']>)(key)
  return send(url + path, init)
}

/**
 * What whoever has just installed the product does: sets it up, signs in, adds a channel and a price, makes tokens, calls in three
 * dialects and finds rows and costs. One form for every shape of an installation.
 */
export async function smoke({ url, upstreamUrl, setupToken }: Installation) {
  const origin = { origin: url }
  const account = { username: 'smoke', password }
  const setUp = await send(`${url}/api/setup${setupToken ? `?token=${setupToken}` : ''}`, {
    method: 'POST',
    headers: origin,
    json: { ...account, confirmPassword: password },
  })
  expect(setUp.body).toMatchObject({ success: true })
  const signedIn = await send(`${url}/api/user/login`, { method: 'POST', headers: origin, json: account })
  expect(signedIn.body).toMatchObject({ success: true, data: { username: 'smoke', role: 100 } })
  const { id } = signedIn.body['data'] as { id: number }
  const headers = { ...origin, cookie: signedIn.cookie, 'x-user-id': String(id) }
  /** The `data` of a documented path that has to succeed. */
  const ask = async <Data>(method: string, path: string, json?: unknown): Promise<Data> => {
    const { status, body } = await send(url + path, { method, headers, json })
    expect({ status, body }).toMatchObject({ status: 200, body: { success: true } })
    return body['data'] as Data
  }
  await ask('PUT', '/api/option/', { key: 'ModelRatio', value: JSON.stringify({ [model]: 2 }) })
  await ask('POST', '/api/channel/', {
    name: 'simulated',
    type: 1,
    key: 'sk-simulated',
    models: model,
    base_url: upstreamUrl,
  })
  const newToken = async (name: string, more: object = {}): Promise<string> => {
    await ask('POST', '/api/token/', { name, expired_time: -1, unlimited_quota: true, ...more })
    const tokens = await ask<{ name: string; key: string }[]>('GET', '/api/token/?size=100')
    return `sk-${tokens.find((token) => token.name === name)?.key}`
  }
  const balance = async () => (await ask<{ quota: number }>('GET', '/api/user/self')).quota
  const before = await balance()

  const key = await newToken('open')
  for (const [dialect, call] of Object.entries(dialects)) {
    const { path, init } = call(key)
    // What was just made is known to every process within a second.
    let reply: Reply | undefined
    await until(async () => (reply = await send(url + path, init)).status === 200, {
      what: () => `${dialect} is not answered: ${JSON.stringify(reply)}`,
    })
  }
  type Row = { model_name: string; prompt_tokens: number; completion_tokens: number; quota: number; token_name: string }
  const rows = async () => (await ask<{ items: Row[] }>('GET', '/api/log/?type=2&page_size=100')).items
  await until(async () => (await rows()).length === 3, { what: 'the calls have no rows in the log' })
  for (const row of await rows()) {
    expect(row).toMatchObject({ model_name: model, token_name: 'open' })
    expect(row.prompt_tokens).toBeGreaterThan(0)
    expect(row.quota).toBe(2 * (row.prompt_tokens + row.completion_tokens))
  }
  const spent = (await rows()).reduce((sum, { quota }) => sum + quota, 0)
  await until(async () => before - (await balance()) === spent, { what: 'the balance is not what the rows say' })

  // A limit holds for all processes together, however many calls there are at once.
  const limited = await newToken('limited', {
    rate_limit_enabled: true,
    rate_limit_period: 3600,
    rate_limit_count: 7,
    rate_limit_success: 7,
  })
  const statuses = (await Promise.all(Array.from({ length: 30 }, () => callOnce(url, limited)))).map(
    ({ status }) => status,
  )
  expect(statuses.toSorted()).toEqual([...Array<number>(7).fill(200), ...Array<number>(23).fill(429)])
  return { key }
}
