import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'pg'
import { type ConnectionOptions, toUrl } from './connection.ts'
import { type Address, claimFolder, passwordFile, portAddress, socketAddress } from './embedded/address.ts'
import { chooseIdentity, giveTo } from './embedded/identity.ts'
import { initialise } from './embedded/initialise.ts'
import { findPrograms } from './embedded/programs.ts'
import { prepareRole } from './embedded/role.ts'
import { type Failed, launch, type Server } from './embedded/server.ts'

export type EmbeddedOptions = {
  /** The database lives in the folder `postgres` in it. */
  dataDir: string
  log?: (line: string) => void
  /** That it has ended by itself, and why it could not be started again. */
  alarm?: (line: string) => void
  /** For tests only: a power cut may cost the data. */
  testing?: boolean
  /** A port of this machine instead of a unix socket. */
  overPort?: boolean
}

export type Embedded = {
  /** For the product, whose role owns its database and nothing else. */
  connection: ConnectionOptions
  /** For whoever makes databases: the superuser. */
  admin: ConnectionOptions
  url: string
  /** True where another process had started the database and will stop it. */
  attached: boolean
  stop: () => Promise<void>
}

const settings = ['shared_buffers=256MB', 'max_wal_size=2GB', 'max_connections=200', 'jit=off', 'wal_compression=on']
const everywhere = [...settings, 'random_page_cost=1.1', 'timezone=UTC', 'log_timezone=UTC']
// Copies of a database, which tests make by the hundred, are left to the file system where that is possible.
const copying = process.platform === 'linux' ? ['file_copy_method=clone'] : []
const unsafe = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off']
// Several products with all their workers are tested beside each other.
const testingOnly = [...unsafe, 'max_wal_size=512MB', 'max_connections=400', ...copying]

const timeoutMs = 30_000
const retryDelayMs = 100

/** Whether a server answers: `busy` is one that is starting or stopping. */
async function probe(connection: ConnectionOptions): Promise<'running' | 'busy' | 'absent'> {
  const client = new Client({ ...connection, connectionTimeoutMillis: 5000 })
  client.on('error', () => {})
  try {
    await client.connect()
    return 'running'
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'EACCES') {
      throw new Error(`The database in ${connection.host} belongs to another user: start as that user.`, {
        cause: error,
      })
    }
    // Too many connections is an answer too.
    return code === '53300' ? 'running' : code === '57P03' ? 'busy' : 'absent'
  } finally {
    await client.end().catch(() => {})
  }
}

/** In a restarted container the number of the dead server may be another program's by now, which PostgreSQL takes for itself. */
function removeForeignLock(data: string): void {
  const lock = join(data, 'postmaster.pid')
  const pid = existsSync(lock) ? readFileSync(lock, 'utf8').split('\n')[0] : undefined
  const name = `/proc/${pid}/comm`
  if (!pid || !existsSync(name) || readFileSync(name, 'utf8').trim() === 'postgres') return
  for (const file of [lock, join(data, '.s.PGSQL.5432.lock')]) rmSync(file, { force: true })
}

const isTaken = ({ output }: Failed) => /lock file|shared memory block/.test(output)

/** Starts a server, or finds the one that another process started meanwhile. */
async function startOrAttach(
  address: Address,
  data: string,
  start: () => Promise<Server | Failed>,
): Promise<Server | undefined> {
  let end: number | undefined
  for (;;) {
    const connection = address.connection()
    const state = connection ? await probe(connection) : 'absent'
    if (state === 'running') return undefined
    const result = state === 'absent' ? await start() : { output: 'the database is starting or stopping' }
    if ('stop' in result) return result
    // What others have to start is waited for from now on: on a slow machine, making the folder may take as long by itself.
    end ??= Date.now() + timeoutMs
    if ((state === 'absent' && !isTaken(result)) || Date.now() > end) {
      throw new Error(`The database in ${data} does not start:\n${result.output}`)
    }
    removeForeignLock(data)
    await delay(retryDelayMs)
  }
}

/** Starts a server again that ended by itself, until it is asked to stop. */
function keepUp(
  first: Server,
  start: () => Promise<Server | Failed>,
  alarm: (line: string) => void,
): () => Promise<void> {
  let server: Server | undefined = first
  let stopping = false
  const watch = async () => {
    while (!stopping) {
      await server?.exited
      if (stopping) return
      alarm('the database ended unasked and is started again')
      const result = await start().catch((error: unknown) => ({ output: String(error) }))
      server = 'stop' in result ? result : undefined
      if ('output' in result) alarm(result.output)
      if (!server) await delay(1000, undefined, { ref: false })
    }
    await server?.stop()
  }
  const watching = watch()
  return async () => {
    stopping = true
    await server?.stop()
    await watching
  }
}

/** Starts the PostgreSQL that comes along, or attaches to the one that already runs on this folder. */
export async function startEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  const { dataDir, log = () => {}, alarm = log, testing = false, overPort = process.platform === 'win32' } = options
  mkdirSync(dataDir, { recursive: true })
  const data = join(realpathSync(dataDir), 'postgres')
  const address = overPort ? portAddress(data) : socketAddress(data)

  const start = async () => {
    const identity = chooseIdentity(data)
    const programs = await findPrograms(identity)
    if (!existsSync(join(data, 'PG_VERSION'))) {
      await initialise({ data, initdb: programs.initdb, identity, password: overPort, testing })
    }
    // Folders of older versions belong to root.
    if (identity && statSync(data).uid !== identity.uid) giveTo(data, identity)
    const folders = address.folder && address.folder !== data ? [address.folder] : []
    for (const folder of folders) claimFolder(folder, identity)
    const values = [...everywhere, ...(testing ? testingOnly : [])].flatMap((value) => ['-c', value])
    const flags = async (nameOf: (path: string) => string) => [...(await address.flags(nameOf)), ...values]
    return launch({ data, programs, identity, folders, flags, log })
  }

  const server = await startOrAttach(address, data, start)
  const admin = address.connection()
  if (!admin) throw new Error(`The database in ${data} has no address`)
  const stop = server ? keepUp(server, start, alarm) : async () => {}
  const connection = await prepareRole(admin, passwordFile(data, 'application')).catch(async (error: unknown) => {
    await stop()
    throw error
  })
  return { connection, admin, url: toUrl(connection), attached: !server, stop }
}
