import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createTRPCClient, httpBatchLink } from '@trpc/client'
import superjson from 'superjson'
import { expandOther } from '#core/log-other.ts'
import { createConsoleFiles } from '#server/console-files.ts'
import { createApp } from '#server/app.ts'
import { readEnvironment } from '#server/env.ts'
import { endUntakenAnswers } from '#features/request-bodies/untaken-answers.ts'
import { createLog } from '#server/process.ts'
import { serverOptions } from '#server/serve.ts'
import { answerUnread } from '#server/unread-requests.ts'
import { createServices } from '#server/services.ts'
import type { Ambient } from '#core/ambient.ts'
import type { Job } from '#jobs/job.ts'
import type { RelayServices } from '#relay/request/call.ts'
import { serveUpgrades } from '#relay/index.ts'
import { startUpstream, type Upstream } from '#test/simulator/index.ts'
import type { AppRouter } from '#server/app-router.ts'
import type { ConnectionWaits } from '#db/connection.ts'
import { createDatabase } from './database.ts'
import { createFactories, type TestToken, type TestUser } from './factories.ts'
import { ledgerViolations } from './ledger-invariant.ts'
import { withStartLimit } from './start-limit.ts'

const secretKey = 'the key of the test installation'

/**
 * The whole product in this process, on a database of its own, against a simulated provider. Two apps on one database
 * (`on: other`) are two nodes.
 */
export const startApp = withStartLimit(async function startApp(
  input: {
    environment?: Record<string, string>
    ambient?: Ambient
    /** Other jobs than those of the product; none runs by itself before `services.jobs.start()`. */
    jobs?: readonly Job<RelayServices>[]
    jobsLookEveryMs?: number
    /** How long a writer waits for other nodes; long, so that only a real fault lets a test see an old state. */
    barrierMs?: number
    consoleConnections?: number
    /** How long its end waits for what is still to be booked. */
    drainMs?: number
    /** Whoever waits so for the database is refused when the product would; all others later: a busy machine refuses nobody. */
    refusesAsUsual?: readonly (keyof ConnectionWaits)[]
    on?: { connection: TestConnection; upstream: Upstream }
  } = {},
) {
  const database = input.on ? null : await createDatabase()
  const connection = input.on?.connection ?? (database as NonNullable<typeof database>).connection
  const upstream = input.on?.upstream ?? (await startUpstream())
  const environment = readEnvironment({
    LOG_LEVEL: 'silent',
    API_RATE_LIMIT: '0',
    CRITICAL_RATE_LIMIT: '0',
    OUTBOUND_ALLOW: '127.0.0.0/8',
    ...(process.env['LEDGER_LEASES'] ? { LEDGER_LEASES: process.env['LEDGER_LEASES'] } : {}),
    ...input.environment,
  })
  const log = createLog(environment.LOG_LEVEL)
  const { services, stop, close } = await createServices({
    environment,
    connection: { ...connection, ...Object.fromEntries(input.refusesAsUsual?.map((wait) => [wait, undefined]) ?? []) },
    secretKey,
    log,
    ...(input.ambient ? { ambient: input.ambient } : {}),
    ...(input.jobs ? { jobs: input.jobs } : {}),
    jobsLookEveryMs: input.jobsLookEveryMs,
    barrierMs: input.barrierMs ?? 20_000,
    // Tests know the exact figures.
    countWaits: { waitMs: 60_000, startMs: 120_000 },
    consoleConnections: input.consoleConnections,
    drainMs: input.drainMs,
  })
  const relayed = createApp(services, createConsoleFiles(services.options))
  const server = createServer(serverOptions, relayed)
  serveUpgrades(server, relayed)
  answerUnread(server)
  endUntakenAnswers(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { pool } = services.database
  const make = createFactories({ pool, secretKey, upstreamUrl: upstream.url })

  return {
    url,
    services,
    connection,
    upstream,
    pool,
    make,
    /** A signed-in browser's typed client; without a user an anonymous one. */
    trpc: (user?: TestUser) =>
      createTRPCClient<AppRouter>({
        links: [
          httpBatchLink({
            url: `${url}/trpc`,
            transformer: superjson,
            headers: user
              ? { cookie: `session=${user.sessionId}`, 'x-user-id': String(user.id), origin: url }
              : { origin: url },
          }),
        ],
      }),
    /** A script with a system access token; without a user an anonymous caller. */
    // oxlint-disable-next-line max-params -- It reads like the request it makes.
    rest: async (user: TestUser | null, method: string, path: string, body?: unknown) => {
      const reply = await fetch(url + path, {
        method,
        headers: {
          'content-type': 'application/json',
          ...(user ? { authorization: user.accessToken, 'new-api-user': String(user.id) } : {}),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      const text = await reply.text()
      return {
        status: reply.status,
        headers: reply.headers,
        text,
        json: text.startsWith('{') ? JSON.parse(text) : null,
      }
    },
    /** A program with an access token. */
    // oxlint-disable-next-line max-params -- It reads like the request it makes.
    relay: (token: TestToken | string, path: string, body: unknown, more: RelayCall = {}) =>
      fetch(url + path, {
        method: 'POST',
        ...more,
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer sk-${typeof token === 'string' ? token : token.key}`,
          ...more.headers,
        },
        body: typeof body === 'string' || body instanceof Uint8Array ? (body as BodyInit) : JSON.stringify(body),
      }),
    /** Log rows, oldest first. */
    logs: async () =>
      (await pool.query<LogRow>('select *, quota::float8 as quota from logs order by created_at, id')).rows.map(
        (row) => ({
          ...row,
          other: row.other && expandOther(row.other, row.model_name),
        }),
      ),
    /** What a user has left. */
    balanceOf: async (userId: number) =>
      Number((await pool.query('select quota from users where id = $1', [userId])).rows[0]?.quota),
    /** Waits until every node on this database knows what the factories wrote. */
    settled: () => services.barrier(),
    violations: () => ledgerViolations(pool),
    [Symbol.asyncDispose]: async () => {
      stop()
      for (const call of services.underWay) call.abort()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await close()
      if (!input.on) await upstream.close()
      await database?.[Symbol.asyncDispose]()
    },
  }
})

type RelayCall = { headers?: Record<string, string>; signal?: AbortSignal; method?: string }

type TestConnection = Awaited<ReturnType<typeof createDatabase>>['connection']

export type LogRow = {
  id: string
  type: number
  user_id: number
  token_id: number
  channel_id: number
  model_name: string
  quota: number
  prompt_tokens: number
  completion_tokens: number
  is_stream: boolean
  request_id: string
  content: string
  // The documented keys and our own, as JSON.
  other: Record<string, unknown>
}

export type App = Awaited<ReturnType<typeof startApp>>
