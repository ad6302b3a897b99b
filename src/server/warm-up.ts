import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import type { Pool } from 'pg'
import { Pool as Connections } from 'undici'
import { InFlight } from '#core/in-flight.ts'
import { channelStatus, tokenStatus, userStatus } from '#core/statuses.ts'
import { createRetryBudget } from '#core/routing/retry-budget.ts'
import { splitKeys } from '#core/channel-types/split-keys.ts'
import { createLedger } from '#features/ledger/service.ts'
import { createOptionsStore } from '#features/options/store.ts'
import { createBodies } from '#features/request-bodies/service.ts'
import { createAnswerLengths } from '#relay/billing/answer-lengths.ts'
import type { RelayServices } from '#relay/index.ts'
import { createTokenCache } from '#relay/request/token-cache.ts'
import { createUserCache } from '#relay/request/user-cache.ts'
import type { Columns } from '#relay/routing/channel-row.ts'
import { createChannelTable } from '#relay/routing/channel-table.ts'
import { createCircuitBreaker } from '#relay/routing/circuit-breaker.ts'
import { createTransport } from '#relay/transport/send.ts'
import { withChatFirst } from './app.ts'

/** The first calls take ten times as long as a later one. These limits bound how long they may delay a start on any machine. */
const mostCalls = 300
const mostCpuMs = 600
const longestMs = 3000
const atOnce = 4

/**
 * Warms up the JIT compiler: sends chat calls through the real relay code to a fake upstream in this process, with stand-ins for
 * whatever a call would change. Nothing reaches the database, the log or the metrics.
 * @returns how many calls were answered
 * @throws when none was
 */
export async function warmUp(services: RelayServices): Promise<number> {
  const upstream = await listen(answerAsUpstream)
  const inner = await innerServices(services, originOf(upstream))
  const gateway = await listen(withChatFirst(inner, express()))
  const connections = new Connections(originOf(gateway), {
    connections: atOnce,
    // One that is late on a busy machine need not have the others thrown away.
    headersTimeout: 4 * longestMs,
    bodyTimeout: 4 * longestMs,
  })
  try {
    return await callAgain(connections)
  } finally {
    await connections.destroy()
    await inner.transport.close()
    for (const server of [gateway, upstream]) {
      server.closeAllConnections()
      server.close()
    }
  }
}

async function listen(listener: RequestListener): Promise<Server> {
  // Exclusive: a worker's port is else shared with the others, which would get its connections.
  const server = createServer(listener).listen({ port: 0, host: '127.0.0.1', exclusive: true })
  await once(server, 'listening')
  return server
}

const originOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`

const key = 'warmup'.repeat(8)
// One that has a price by default.
const model = 'gpt-4o-mini'

async function callAgain(connections: Connections): Promise<number> {
  const startedAt = performance.now()
  const before = process.cpuUsage()
  const isEnough = (): boolean => {
    const { user, system } = process.cpuUsage(before)
    return asked >= mostCalls || user + system > mostCpuMs * 1000 || performance.now() - startedAt > longestMs
  }
  let asked = 0
  let answered = 0
  const bodies = [false, true].map((stream) =>
    JSON.stringify({ model, stream, max_tokens: 256, messages: [{ role: 'user', content: 'Say hello.' }] }),
  )
  const headers = { authorization: `Bearer sk-${key}`, 'content-type': 'application/json' }
  const one = async (): Promise<void> => {
    while (!isEnough()) {
      const body = bodies[asked % bodies.length] ?? ''
      asked += 1
      const reply = await connections.request({ path: '/v1/chat/completions', method: 'POST', headers, body })
      await reply.body.dump()
      if (reply.statusCode === 200) answered += 1
    }
  }
  await Promise.all(Array.from({ length: atOnce }, one))
  if (answered === 0) throw new Error('the fake upstream was not reached')
  return answered
}

/** The services of this process, but whatever a call changes is a stand-in: default options, one channel, one user, a fake database. */
async function innerServices(services: RelayServices, upstream: string): Promise<RelayServices> {
  const { ambient, environment, secrets } = services
  const pool = poolOf(rowsOf(upstream, secrets.encrypt('sk-upstream')))
  const channels = createChannelTable({
    pool,
    secrets,
    splitKeys,
    onBadChannel: () => {},
    onIgnored: () => {},
  })
  await channels.reload(1)
  return {
    ...services,
    options: createOptionsStore({ load: async () => [] }),
    log: services.log.child({}, { level: 'silent' }),
    ledger: createLedger({ pool, nodeId: () => 0, refund: async () => {} }),
    bodies: createBodies(environment),
    transport: createTransport({ connections: atOnce }),
    upToDate: () => undefined,
    tokens: createTokenCache(pool),
    users: createUserCache(pool),
    channels,
    circuitBreaker: createCircuitBreaker(() => ambient.now().getTime()),
    retryBudget: createRetryBudget(() => performance.now()),
    failureLog: { add: () => {}, flushed: async () => {} },
    metrics: { ...services.metrics, charged: () => {}, failed: () => {}, answered: () => {} },
    tracing: null,
    holds: { lengths: createAnswerLengths(), open: new Map(), reading: new Map(), lastSeen: new Map() },
    keyCursor: new Map(),
    refusedProofs: new Map(),
    refusedForms: new WeakMap(),
    underWay: new InFlight(),
    stopping: () => false,
  }
}

type Statement = { name?: string; text: string; values?: unknown[] }
type Rows = (values: unknown[]) => Record<string, unknown>[]

/** A fake pool of connections, which knows these rows by the name of the statement. */
function poolOf(rows: Record<string, Rows>): Pool {
  const query = async (asked: Statement | string, values: unknown[] = []) => {
    const name = typeof asked === 'string' ? 'channels' : (asked.name ?? '')
    const answer = rows[name]
    if (!answer) throw new Error(`the fake database has no rows for the statement "${name}"`)
    return { rows: answer(typeof asked === 'string' ? values : (asked.values ?? [])) }
  }
  return { query } as unknown as Pool
}

const plenty = '1000000000000'

function rowsOf(upstream: string, keyEncrypted: string): Record<string, Rows> {
  const reserved = (ids: unknown) =>
    (ids as string[]).map((id) => ({
      hold_id: id,
      verdict: 'ok',
      user_quota: plenty,
      token_quota: plenty,
      payable: plenty,
    }))
  const settled = { hold_id: null, user_id: 1, quota: plenty, paid: '0' }
  return {
    relay_tokens: ([hashes]) => [{ ...tokenRow, asked_hash: (hashes as string[])[0] }],
    relay_users: () => [userRow],
    channels: () => [{ ...channelRow, base_url: upstream, key_encrypted: keyEncrypted }],
    ledger_reserve: ([, ids]) => reserved(ids),
    ledger_settle: () => [settled],
    ledger_step: ([, , , , ids]) => [settled, ...reserved(ids)],
  }
}

const tokenRow = {
  id: 1,
  user_id: 1,
  name: 'warm-up',
  key_mask: '',
  status: tokenStatus.enabled,
  unlimited_quota: false,
  expires_at: null,
  model_limits_enabled: false,
  model_limits: '',
  allow_ips: '',
  group: '',
  rate_limit_enabled: false,
  exhausted: false,
  works_until: null,
}

const userRow = {
  id: 1,
  username: 'warm-up',
  role: 1,
  status: userStatus.active,
  group: 'default',
  setting: null,
  deleted_at: null,
}

// Typed, so that a new column is missed by the compiler.
const channelRow: Omit<Columns, 'base_url' | 'key_encrypted'> = {
  id: 1,
  revision: 1,
  type: 1,
  name: 'warm-up',
  status: channelStatus.enabled,
  disabled_keys: [],
  openai_organization: '',
  max_input_tokens: 0,
  other: '',
  models: model,
  group: 'default',
  model_prefix: '',
  model_mapping: '',
  status_code_mapping: '',
  setting: '',
  proxy_encrypted: '',
  param_override: '',
  system_prompt: '',
  priority: 0,
  weight: 0,
  auto_ban: false,
  buying_prices: [],
  created_at: '2026-01-01T00:00:00Z',
}

const usage = { prompt_tokens: 10, completion_tokens: 4, total_tokens: 14 }
const about = { id: 'chatcmpl-1', created: 1_700_000_000, model }
const chunk = (delta: object, finish_reason: string | null = null) => ({
  ...about,
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta, finish_reason }],
})
const events = [
  chunk({ role: 'assistant', content: '' }),
  ...['Hello', ',', ' you', '.'].map((content) => chunk({ content })),
  chunk({}, 'stop'),
  { ...chunk({}), choices: [], usage },
].map((event) => `data: ${JSON.stringify(event)}\n\n`)
const unstreamed = JSON.stringify({
  ...about,
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello, you.' }, finish_reason: 'stop' }],
  usage,
})

const answerAsUpstream: RequestListener = (req, res) => {
  let body = ''
  req.on('data', (bytes: Buffer) => (body += bytes.toString()))
  req.on('end', () => {
    const isStream = body.includes('"stream":true')
    res.setHeader('content-type', isStream ? 'text/event-stream' : 'application/json')
    if (!isStream) return res.end(unstreamed)
    for (const event of events) res.write(event)
    return res.end('data: [DONE]\n\n')
  })
}
