import assert from 'node:assert/strict'
import type { ConnectionOptions } from '#db/connection.ts'
import type { Upstream } from '#test/simulator/index.ts'
import { type App, startApp } from '#test/support/app.ts'
import type { TestToken, TestUser } from '#test/support/factories.ts'
import { until } from '#test/support/processes.ts'
import { type MatrixUpstream, modelOf, upstreams } from './upstreams.ts'

/** What every answer costs: input at one unit a token, output at two. */
export const usage = { input: 1010, output: 200 }
const charge = 1410

/** Addresses that are the vendors' own whatever the channel says, led to the simulated provider. */
const vendorHosts = ['https://api.openai.com', 'https://aip.baidubce.com']

/** The whole product with a channel for each upstream, on a database of its own or the one given. */
export async function startWorld(on?: { connection: ConnectionOptions; upstream: Upstream }) {
  const app = await startApp(on ? { on } : {})
  leadToSimulation(app, app.upstream.url)
  for (const each of upstreams satisfies MatrixUpstream[]) await makeChannel(app, app.upstream.url, each)
  const names = upstreams.map(modelOf)
  const options = {
    RetryTimes: '0',
    // The price is that of the name which the caller uses, so that one figure holds for all vendors.
    redirect_billing_enabled: 'true',
    ModelRatio: JSON.stringify(Object.fromEntries(names.map((name) => [name, 1]))),
    CompletionRatio: JSON.stringify(Object.fromEntries(names.map((name) => [name, 2]))),
  }
  for (const [key, value] of Object.entries(options)) await app.make.option(key, value)
  await app.services.options.reload()
  await app.services.channels.reload()
  return app
}

function leadToSimulation({ services }: App, simulated: string): void {
  const { transport } = services
  services.transport = {
    ...transport,
    send: (request) => {
      const host = vendorHosts.find((each) => request.url.startsWith(`${each}/`))
      return transport.send(host ? { ...request, url: simulated + request.url.slice(host.length) } : request)
    },
  }
}

async function makeChannel(app: App, url: string, upstream: MatrixUpstream): Promise<void> {
  const { type, model, other, key, baseUrl } = upstream
  await app.make.channel({
    type,
    name: upstream.label,
    models: modelOf(upstream),
    modelMapping: JSON.stringify({ [modelOf(upstream)]: model }),
    baseUrl: baseUrl?.(url) ?? url,
    ...(key ? { key: key(url) } : {}),
    ...(other === undefined ? {} : { other }),
  })
}

export type Wallet = { user: TestUser; token: TestToken; seen: number }

/** A caller in whose ledger nobody else writes. */
export async function makeWallet(app: App): Promise<Wallet> {
  const user = await app.make.user({ quota: 1_000_000_000 })
  return { user, token: await app.make.token(user), seen: 0 }
}

/** What was asked of one upstream must be in the ledger once, at its price, and nothing may be held. */
export async function checkLedger(
  app: App,
  wallet: Wallet,
  { model, streams }: { model: string; streams: boolean[] },
): Promise<void> {
  const { rows } = await app.pool.query(
    `select model_name, quota::float8 as quota, prompt_tokens, completion_tokens, is_stream,
       coalesce(other->>'usage_source', case when other ? 'lean' then 'upstream' end) as source
     from logs where user_id = $1 and type = 2 order by created_at, id offset $2`,
    [wallet.user.id, wallet.seen],
  )
  wallet.seen += rows.length
  const expected = streams.map((is_stream) => ({
    model_name: model,
    quota: charge,
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    is_stream,
    source: 'upstream',
  }))
  assert.deepEqual(rows, expected, 'log rows')
  // A caller is answered, after a second, although the database has yet to answer.
  await untilNothingHeld(app, wallet)
}

async function heldOf(app: App, { user }: Wallet): Promise<number> {
  const { rows } = await app.pool.query<{ held: number }>(
    `select count(*)::int as held from holds where user_id = $1 and status = 'open'`,
    [user.id],
  )
  return rows[0]?.held ?? 0
}

export const untilNothingHeld = (app: App, wallet: Wallet): Promise<void> =>
  until(async () => (await heldOf(app, wallet)) === 0, { what: 'money is held' })

/** Rows of a cell that was not to pass are not the next one's. */
export async function forgetRows(app: App, wallet: Wallet): Promise<void> {
  const { rows } = await app.pool.query('select count(*)::int as seen from logs where user_id = $1 and type = 2', [
    wallet.user.id,
  ])
  wallet.seen = rows[0]?.seen ?? 0
}
