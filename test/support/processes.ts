import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { delimiter, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Pool } from 'pg'

const root = fileURLToPath(new URL('../..', import.meta.url))
const node = join(root, 'node_modules/.bin/node')

/** The key of installations whose rows the factories write. */
export const secretKey = 'the key of the test installation'

type Ending = { code: number | null; signal: NodeJS.Signals | null }

type ProductInput = {
  environment?: Record<string, string>
  /** Waits for its database for as long as a busy machine may take: where every call has to be served. Only the bare product. */
  isPatient?: boolean
  /** The real entry, which also builds the console, instead of the bare product. */
  entry?: 'npm start' | 'scripts/start.ts' | 'scripts/demo.ts' | 'test/support/run-product.ts'
  /** Where a copy of the product's files stands, which may become another version. */
  folder?: string
}

export type Launched = {
  pid: number
  url: string
  /** Everything said so far, on both outputs. */
  output: () => string
  exited: Promise<Ending>
  /** Sends it to the whole group of processes, as a terminal does. */
  signalAll: (signal: NodeJS.Signals) => void
  /** Ends the whole group of processes at once, as a power cut would. */
  killAll: () => Promise<void>
  [Symbol.asyncDispose]: () => Promise<void>
}

/**
 * A port of this machine that nobody has now, and that nobody else who asks here is given while this process lives: a product takes it
 * seconds later, and leaves it between two starts. Below those that systems give away by themselves: one of those would be given to
 * somebody else meanwhile. Above the last that `fetch` refuses to ask, 10080.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_081, 32_000)
    const claim = await claimed(port)
    if (!claim) continue
    const server = createServer().listen(port, '127.0.0.1')
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    )
    if (isFree) {
      await new Promise((resolve) => server.close(resolve))
      return port
    }
    claim.close()
  }
}

/** Whoever has the number for datagrams, which no product takes, may take it for connections. Null where somebody else has it. */
async function claimed(port: number): Promise<Socket | null> {
  const socket = createSocket('udp4').unref()
  socket.bind({ port, address: '127.0.0.1', exclusive: true })
  return once(socket, 'listening').then(
    () => socket,
    () => {
      socket.close()
      return null
    },
  )
}

/** Starts the product as a process of its own and does not wait for it. */
export async function launchProduct({
  environment = {},
  isPatient = false,
  entry = 'test/support/run-product.ts',
  folder = root,
}: ProductInput): Promise<Launched> {
  const port = environment['PORT'] ?? String(await freePort())
  const { DATABASE_URL: _, VITEST: __, NODE_OPTIONS: ___, ...inherited } = process.env
  const [command, ...args] = entry === 'npm start' ? ['npm', 'start'] : [node, join(folder, entry)]
  const child = spawn(command, args, {
    cwd: folder,
    // A group of its own, so that all of it can be ended at once.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...inherited,
      PATH: `${join(root, 'node_modules/.bin')}${delimiter}${process.env['PATH'] ?? ''}`,
      HOST: '127.0.0.1',
      PORT: port,
      LOG_LEVEL: 'warn',
      API_RATE_LIMIT: '0',
      CRITICAL_RATE_LIMIT: '0',
      OUTBOUND_ALLOW: '127.0.0.0/8',
      // Nobody in front has to notice that it stops, unless a test says so.
      DRAIN_SECONDS: '0',
      // Hundreds of starts need not be fast at their first calls; those of the real entries are as they are.
      ...(entry === 'test/support/run-product.ts' ? { WARM_UP: 'off' } : {}),
      ...(isPatient ? { PATIENT: 'on' } : {}),
      // What was built is not of another folder's files.
      ...(folder === root ? {} : { SERVER_BUILD: '' }),
      ...environment,
    },
  })
  const pid = child.pid
  if (pid === undefined) throw new Error('the product could not be started')
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const exited = once(child, 'close').then(([code, signal]) => ({ code, signal }) as Ending)
  const signalAll = (signal: NodeJS.Signals): void => void process.kill(-pid, signal)
  const killAll = async (): Promise<void> => {
    try {
      signalAll('SIGKILL')
    } catch {
      // Nobody is left.
    }
    await exited
  }
  return {
    pid,
    url: `http://127.0.0.1:${port}`,
    output: () => output,
    exited,
    signalAll,
    killAll,
    [Symbol.asyncDispose]: killAll,
  }
}

export type Product = Launched & {
  /** Process numbers of the workers that live now; empty where one process does everything. */
  workers: () => number[]
  /** Asks to stop and waits for the end. */
  stop: () => Promise<Ending>
  health: () => Promise<number>
}

/** Starts the product and waits until all of its processes serve. */
export async function startProduct(input: ProductInput): Promise<Product> {
  const launched = await launchProduct(input)
  // A connection that comes while the last worker closes is taken by the first process and given to nobody until it ends (Node's
  // cluster module): not healthy either, as whoever asks from outside sees it.
  const health = (): Promise<number> =>
    fetch(`${launched.url}/healthz`, { signal: AbortSignal.timeout(10_000) }).then(
      (reply) => reply.body?.cancel().then(() => reply.status) ?? reply.status,
      () => 0,
    )
  await until(async () => launched.output().includes('Console and API') && (await health()) === 200, {
    unless: launched.exited,
    what: () => `the product does not start:\n${launched.output()}`,
  })
  return {
    ...launched,
    health,
    workers: () => childrenOf(launched.pid),
    stop: () => {
      sendSignal(launched.pid, 'SIGTERM')
      return launched.exited
    },
  }
}

/**
 * Sends a signal to one process. @throws for anything that is no number of one: `process.kill(0)` would end the whole test run, which
 * is of the caller's own group, and a negative number ends the group of another.
 */
export function sendSignal(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined || !(pid > 1)) throw new Error(`${String(pid)} is no process to send ${signal} to.`)
  process.kill(pid, signal)
}

/** The processes a process has started, by the system's own table; the embedded database and its guard left out. */
export function childrenOf(pid: number): number[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return []
    try {
      const command = commandOf(name, pid)
      return command.includes('node') && !command.includes('postgres') ? [Number(name)] : []
    } catch {
      // It ended while we looked.
      return []
    }
  })
}

/** The command line of a child; nothing of one that has ended or is another's. */
function commandOf(child: string, parent: number): string {
  for (;;) {
    const [, state, itsParent] = /\) (\S) (\d+)/.exec(readFileSync(`/proc/${child}/stat`, 'utf8')) ?? []
    if (Number(itsParent) !== parent || state === 'Z' || state === 'X') return ''
    const command = readFileSync(`/proc/${child}/cmdline`, 'utf8')
    // While a process loads its program it has none: whoever looked twice would miss one it had seen.
    if (command !== '') return command
  }
}

/** Waits for something to become true, on a slow machine too. */
export async function until(
  holds: () => boolean | Promise<boolean>,
  limits: { what: string | (() => string); unless?: Promise<unknown>; everyMs?: number; seconds?: number },
): Promise<void> {
  let ended = false
  void limits.unless?.then(() => (ended = true))
  const end = Date.now() + (limits.seconds ?? 120) * 1000
  while (!(await holds())) {
    if (ended || Date.now() > end) throw new Error(typeof limits.what === 'string' ? limits.what : limits.what())
    await pause(limits.everyMs ?? 50)
  }
}

/**
 * Waits until a statement in this database waits for a row that a transaction of the test's holds. The ledger waits for a second only,
 * and then looks again and again whether the row is free.
 */
export const untilSomebodyWaits = (pool: Pick<Pool, 'query'>): Promise<void> =>
  until(
    async () => {
      const { rowCount } = await pool.query(
        `select 1 from pg_stat_activity where datname = current_database() and (wait_event_type = 'Lock'
           or query like 'with free as materialized%' and query_start > clock_timestamp() - interval '1 second')`,
      )
      return rowCount !== 0
    },
    { what: 'nobody waits for a row', everyMs: 20 },
  )
