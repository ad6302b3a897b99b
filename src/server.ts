import cluster from 'node:cluster'
import { createServer, type Server } from 'node:http'
import { RateLimiterClusterMaster } from 'rate-limiter-flexible'
import type { Logger } from 'pino'
import { type ConnectionOptions, fromUrl, toUrl } from '#db/connection.ts'
import { startEmbedded } from '#db/embedded.ts'
import { connect, migrate } from '#db/orm.ts'
import { ensureSetupToken, recordSetupIfRootExists } from '#features/site/setup-service.ts'
import { createApp } from './app.ts'
import { createConsoleFiles } from './console-files.ts'
import { type Environment, readEnvironment } from './env.ts'
import { checkSecretKey, readSecretKey } from './secret-key.ts'
import { createLog, createServices } from './services.ts'

/** How long streams may go on after the process was told to stop. */
const graceMs = 30_000

/** Starts the product: the database, then as many processes as are wanted. */
export async function main(): Promise<void> {
  const environment = readEnvironment()
  const log = createLog(environment.LOG_LEVEL)
  if (cluster.isWorker) {
    await startWorker(environment, log)
    return
  }
  const embedded = environment.DATABASE_URL
    ? null
    : await startEmbedded({
        dataDir: environment.DATA_DIR,
        log: (line) => log.debug({ line }, 'PostgreSQL'),
      })
  const connection = embedded?.connection ?? fromUrl(environment.DATABASE_URL ?? '')
  const secretKey = await prepareData(environment, connection)
  new RateLimiterClusterMaster()
  const stop = await startWorkers(environment, { connection, secretKey, log })
  await announce(environment, { connection, secretKey, log })
  let stopping = false
  const shutDown = async (): Promise<void> => {
    if (stopping) return
    stopping = true
    await stop()
    await embedded?.stop()
    process.exit(0)
  }
  process.on('SIGTERM', () => void shutDown())
  process.on('SIGINT', () => void shutDown())
}

async function prepareData(environment: Environment, connection: ConnectionOptions): Promise<string> {
  await migrate(connection)
  const secretKey = await readSecretKey(environment.SECRET_KEY, environment.DATA_DIR)
  const database = await connect(connection, 1)
  try {
    await checkSecretKey(database.pool, secretKey)
  } finally {
    await database.close()
  }
  return secretKey
}

type Given = { connection: ConnectionOptions; secretKey: string; log: Logger }

/** One process serves by itself; more share the port. A worker that dies is replaced. Resolves when all of them serve. */
async function startWorkers(environment: Environment, given: Given): Promise<() => Promise<void>> {
  const { log } = given
  if (environment.WORKERS === 1) return serve(environment, given)
  const env = { DATABASE_URL: toUrl(given.connection), SECRET_KEY: given.secretKey }
  let stopping = false
  const fork = (): Promise<void> => new Promise((resolve) => cluster.fork(env).once('listening', () => resolve()))
  cluster.on('exit', (worker, code, signal) => {
    if (stopping) return
    log.error({ worker: worker.id, code, signal }, 'a worker died and is replaced')
    setTimeout(() => void fork(), 200)
  })
  await Promise.all(Array.from({ length: environment.WORKERS }, fork))
  return async () => {
    stopping = true
    const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined)
    await Promise.all(
      workers.map(
        (worker) =>
          new Promise<void>((resolve) => {
            worker.once('exit', () => resolve())
            worker.process.kill('SIGTERM')
          }),
      ),
    )
  }
}

async function startWorker(environment: Environment, log: Logger): Promise<void> {
  const { DATABASE_URL, SECRET_KEY } = environment
  if (!DATABASE_URL || !SECRET_KEY) throw new Error('a worker needs the address and the key its primary gives it')
  const stop = await serve(environment, { connection: fromUrl(DATABASE_URL), secretKey: SECRET_KEY, log })
  const shutDown = (): void => void stop().then(() => process.exit(0))
  process.once('SIGTERM', shutDown)
  // Ctrl-C reaches the whole group of processes; the primary tells its workers when.
  process.on('SIGINT', () => {})
  process.on('disconnect', shutDown)
}

async function serve(environment: Environment, given: Given): Promise<() => Promise<void>> {
  const { log } = given
  process.on('unhandledRejection', (error) => log.error({ err: error }, 'a rejection that nobody handled'))
  const { services, stop, close } = await createServices({ environment, ...given })
  const server = createServer({ requestTimeout: 0, headersTimeout: 30_000, keepAliveTimeout: 75_000 })
  server.on('request', createApp(services, createConsoleFiles(services.options)))
  await listen(server, environment)
  return async () => {
    stop()
    await closeServer(server)
    await close()
  }
}

const listen = (server: Server, { PORT, HOST }: Environment): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(PORT, HOST, () => resolve())
  })

/** No new connections; answers under way may end by themselves until the grace is over. */
async function closeServer(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  server.closeIdleConnections()
  const idle = setInterval(() => server.closeIdleConnections(), 200)
  const forced = setTimeout(() => server.closeAllConnections(), graceMs)
  await closed
  clearInterval(idle)
  clearTimeout(forced)
}

/** Says where the product is and, before it was set up, where that is done. */
async function announce(environment: Environment, given: Given): Promise<void> {
  const { services, close } = await createServices({ environment, ...given })
  try {
    await recordSetupIfRootExists(services)
    const token = await ensureSetupToken(services)
    const base = `http://localhost:${environment.PORT}`
    process.stdout.write(`\n  Console and API: ${base}\n`)
    if (token !== null) {
      process.stdout.write(`  Set it up here:  ${base}/setup\n`)
      process.stdout.write(`  From elsewhere:  http://<this machine>:${environment.PORT}/setup?token=${token}\n`)
    }
    process.stdout.write('\n')
  } finally {
    await close()
  }
}
