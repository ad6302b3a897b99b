import { createServer, type ServerOptions } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { ConnectionOptions } from '#db/connection.ts'
import { endUntakenAnswers } from '#features/request-bodies/untaken-answers.ts'
import { asksForRealtime, serveUpgrades } from '#relay/index.ts'
import { createApp } from './app.ts'
import { createConsoleFiles } from './console-files.ts'
import { createDrain } from './drain.ts'
import type { Environment } from '#core/environment.ts'
import { collectStartGarbage, collectWhenIdle } from './garbage.ts'
import { listen } from './listen.ts'
import { createServices } from './services.ts'
import { answerUnread } from './unread-requests.ts'
import { warmUp } from './warm-up.ts'

/** What the first process gives to those that serve. */
export type Given = { connection: ConnectionOptions; secretKey: string; log: Logger }

/** How long a call that was asked to end may still take: its charge has to be booked, and its caller answered. */
const closeTimeoutMs = 12_000

/** Ends what serves in good order. Nobody in front has to notice it first where the stop is `unannounced`. */
export type Stop = (how?: { unannounced?: boolean }) => Promise<void>

/** How connections are treated, in milliseconds. */
export const serverOptions: ServerOptions = {
  headersTimeout: 30_000,
  // Bodies may take as long as they like while they get on: whoever reads one watches its pace.
  requestTimeout: 0,
  connectionsCheckingInterval: 5000,
  keepAliveTimeout: 75_000,
  // Without it a request that merely offers another protocol would get no answer at all.
  shouldUpgradeCallback: asksForRealtime,
}

/** Serves in this process. Resolves once it does, with what ends it. */
export async function serve(environment: Environment, given: Given): Promise<Stop> {
  const { log } = given
  const { services, drain, stop, close } = await createServices({ environment, ...given })
  const server = createServer(serverOptions)
  const app = createApp(services, createConsoleFiles(services.options))
  const draining = createDrain(server)
  server.on('request', app)
  serveUpgrades(server, app)
  answerUnread(server)
  endUntakenAnswers(server)
  if (environment.ROLE !== 'console' && environment.WARM_UP === 'on') {
    // A start without it is a slower one, no failed one.
    await warmUp(services).then(
      (calls) => log.debug({ calls }, 'warmed up'),
      (error: unknown) => log.warn({ err: error }, 'the first calls will be slower'),
    )
  }
  collectStartGarbage(log)
  collectWhenIdle(log)
  await listen(server, environment)
  log.debug({ port: environment.PORT }, 'listening')
  if (environment.ROLE !== 'relay') services.jobs.start()
  return async ({ unannounced = false } = {}) => {
    drain()
    const handedOver = services.jobs.stop()
    // Whoever sends calls here has not noticed yet; they are served.
    const windowMs = unannounced ? 0 : environment.DRAIN_SECONDS * 1000
    const closed = draining.run(windowMs)
    const longestMs = windowMs + environment.STOP_SECONDS * 1000
    const inTime = await Promise.race([closed.then(() => true), delay(longestMs, false)])
    stop()
    if (!inTime) {
      log.warn({ calls: services.underWay.size }, 'calls that did not end by themselves are ended')
      for (const call of services.underWay) call.abort()
      await Promise.race([closed, untilEmpty(services.underWay, closeTimeoutMs)])
      server.closeAllConnections()
      await closed
    }
    await handedOver
    await close()
  }
}

async function untilEmpty(set: { readonly size: number }, longestMs: number): Promise<void> {
  const end = performance.now() + longestMs
  while (set.size > 0 && performance.now() < end) await delay(20)
}
