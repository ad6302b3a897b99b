import cluster from 'node:cluster'
import type { Logger } from 'pino'
import { type ConnectionOptions, type ConnectionWaits, fromUrl, toUrl } from '#db/connection.ts'
import { type Embedded, startEmbedded } from '#db/embedded.ts'
import { isDatabaseUnavailable } from '#core/database-errors.ts'
import { connect, type Database, upgradeSchema } from '#db/orm.ts'
import { encryptProxyPasswords } from '#features/channels/stored-setting.ts'
import { countForWorkers } from '#features/limits/cluster-store.ts'
import { createSecrets } from '#features/secrets/service.ts'
import { ensureSetupToken, recordSetupIfRootExists } from '#features/site/setup-service.ts'
import type { Environment } from '#core/environment.ts'
import { readEnvironment } from './env.ts'
import { checkSecretKey, readSecretKey } from './secret-key.ts'
import { collectMetricsOfWorkers } from './metrics-route.ts'
import { checkPort } from './listen.ts'
import { createLog, systemAmbient, version } from './process.ts'
import type { Given, Stop } from './serve.ts'
import { collectStartGarbage } from './garbage.ts'
import { surviveStrayErrors } from './stray-errors.ts'
import { endingBy, endWith, startWorkers } from './workers.ts'

/** Starts the product: the database, then as many processes as are wanted. Every one of them gives the database these waits. */
export async function main(waits: ConnectionWaits = {}): Promise<void> {
  const environment = readEnvironment()
  const log = createLog(environment.LOG_LEVEL)
  process.on('unhandledRejection', (error) => log.error({ err: error }, 'a rejection that nobody handled'))
  if (cluster.isWorker) {
    await startWorker(environment, waits, log)
    return
  }
  const started = endStartOnSignal()
  await checkPort(environment)
  const embedded = environment.DATABASE_URL ? null : await startDatabase(environment, log)
  const connection = { ...(embedded?.connection ?? fromUrl(environment.DATABASE_URL ?? '')), ...waits }
  const database = await openDatabase(connection, log)
  const secretKey = await prepareData(environment, database)
  const stop = await startServing(environment, { connection, secretKey, log })
  surviveStrayErrors(log)
  started()
  endOnSignal(async (how) => {
    await stop(how)
    await embedded?.stop()
  })
  await announce(environment, database).finally(database.close)
}

async function startDatabase(environment: Environment, log: Logger): Promise<Embedded> {
  try {
    const embedded = await startEmbedded({
      dataDir: environment.DATA_DIR,
      log: (line) => log.debug({ line }, 'PostgreSQL'),
      alarm: (line) => log.error({ line }, 'PostgreSQL'),
    })
    if (embedded.attached)
      log.warn(
        { folder: environment.DATA_DIR },
        'another process has started the database of this folder and will stop it',
      )
    return embedded
  } catch (error) {
    throw asDataDirProblem(error, environment)
  }
}

/** With its schema brought up to date, and two connections for what the first process does with it. */
async function openDatabase(connection: ConnectionOptions, log: Logger): Promise<Database> {
  try {
    const database = await connect(connection, 2)
    await upgradeSchema(database, (message, facts) => log.info(facts, message))
    return database
  } catch (error) {
    throw asDatabaseProblem(error, connection)
  }
}

async function prepareData(environment: Environment, { pool }: Database): Promise<string> {
  const secretKey = await readSecretKey(environment.SECRET_KEY, environment.DATA_DIR).catch((error: unknown) => {
    throw asDataDirProblem(error, environment)
  })
  await checkSecretKey(pool, secretKey)
  await encryptProxyPasswords(pool, createSecrets(secretKey))
  return secretKey
}

function asDataDirProblem(error: unknown, { DATA_DIR }: Environment): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (!['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'ENOSPC', 'EEXIST', 'ENOENT'].includes(code)) return error
  return new Error(`DATA_DIR ${DATA_DIR} cannot be written to (${code}): make it writable, or set DATA_DIR.`, {
    cause: error,
  })
}

/** Never with the password, which an address may hold. */
function asDatabaseProblem(error: unknown, { host, port, database }: ConnectionOptions): unknown {
  if (!(error instanceof Error)) return error
  const { code } = error as { code?: string }
  const refused = code === '28P01' || code === '28000' || code === '3D000'
  if (!refused && !isDatabaseUnavailable(error) && code !== 'ENOTFOUND' && code !== 'EAI_AGAIN') return error
  const reason = error.message || code
  return new Error(
    `The database "${database}" at ${host}${port ? `:${port}` : ''} cannot be used (${reason}): check DATABASE_URL and that it runs.`,
    { cause: error },
  )
}

/** Loaded by those who serve: the first of several processes does not, and is there sooner and smaller without. */
async function serve(environment: Environment, given: Given): Promise<Stop> {
  const loaded = await import('./serve.ts')
  return loaded.serve(environment, given)
}

/** One process serves by itself; more share the port. */
async function startServing(environment: Environment, given: Given): Promise<Stop> {
  if (environment.WORKERS === 1) return serve(environment, given)
  countForWorkers()
  collectMetricsOfWorkers()
  collectStartGarbage(given.log)
  return startWorkers({
    count: environment.WORKERS,
    env: { DATABASE_URL: toUrl(given.connection), SECRET_KEY: given.secretKey },
    stopSeconds: environment.DRAIN_SECONDS + environment.STOP_SECONDS,
    log: given.log,
  })
}

async function startWorker(environment: Environment, waits: ConnectionWaits, log: Logger): Promise<void> {
  const { DATABASE_URL, SECRET_KEY } = environment
  if (!DATABASE_URL || !SECRET_KEY) throw new Error('a worker needs the address and the key its primary gives it')
  const connection = { ...fromUrl(DATABASE_URL), ...waits }
  endWith(await serve(environment, { connection, secretKey: SECRET_KEY, log }))
  surviveStrayErrors(log)
}

/** The first process of a container is ended by no signal that it does not handle, and an upgrade may wait for hours. Call it once it serves. */
function endStartOnSignal(): () => void {
  const end = (_name: string, number: number): never => process.exit(128 + number)
  const signals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const
  for (const signal of signals) process.on(signal, end)
  return () => signals.forEach((signal) => process.off(signal, end))
}

function endOnSignal(stop: Stop): void {
  const end = endingBy(stop)
  process.on('SIGTERM', () => end({ unannounced: false }))
  // Somebody at the keyboard wants it ended, or closed the terminal.
  for (const signal of ['SIGINT', 'SIGHUP']) process.on(signal, () => end({ unannounced: true }))
}

/** Says where the product is and, before it was set up, where that is done. */
async function announce({ PORT }: Environment, database: Database): Promise<void> {
  const { rows } = await database.pool.query<{ ms: string }>('select extract(epoch from now()) * 1000 as ms')
  const databaseNow = new Date(Number(rows[0]?.ms))
  const ambient = { ...systemAmbient, now: () => databaseNow }
  await recordSetupIfRootExists({ database, version, ambient })
  const token = await ensureSetupToken({ database, ambient })
  const base = `http://localhost:${PORT}`
  process.stdout.write(`\n  Console and API: ${base}\n`)
  if (token !== null) {
    process.stdout.write(`  Set it up here:  ${base}/setup\n`)
    process.stdout.write(`  From elsewhere:  http://<this machine>:${PORT}/setup?token=${token}\n`)
  }
  process.stdout.write('\n')
}
