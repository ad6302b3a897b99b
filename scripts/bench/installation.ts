import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Embedded, startEmbedded } from '#db/embedded.ts'
import { freePort } from '#test/support/processes.ts'
import { type Generator, type Program, startGenerator, startProgram } from './child.ts'
import { pin } from './machine.ts'
import type { Spread } from './noise.ts'
import { createWorld, type World } from './world.ts'

/** What a load is aimed at. `direct` is the simulated provider itself. */
export type TargetName = 'direct' | 'pass-through' | 'gateway'
export type Target = { name: TargetName; origin: string; pid: number }

export type Installation = {
  world: World
  generator: Generator
  upstream: Program
  databasePid: number
  gateway: (input?: GatewayInput) => Promise<Target & Program & { name: 'gateway' }>
  passThrough: (workers?: number) => Promise<Target & Program & { name: 'pass-through' }>
  direct: Target
  /** Answers that the gateway gave in the whole run, loads of which it refused some for want of time, and what went wrong at any target. */
  seen: { answers: number; refusals: string[]; failures: string[]; spreads: Spread[] }
  close: () => Promise<void>
}

export const secretKey = 'the key of the benchmark installation'
const data = fileURLToPath(new URL('../../data', import.meta.url))

/** As `scripts/run.mjs` starts it. */
export const asStarted = ['--v8-pool-size=0', '--max-semi-space-size=16', '--expose-gc']

type GatewayInput = { workers?: number; node?: string[] }

/** The product as `npm start` runs it, on a database of the benchmark. */
export async function startGateway(
  given: { database: Pick<Embedded, 'url'>; folder: string } & GatewayInput,
): Promise<Target & Program & { name: 'gateway' }> {
  const { workers = 1, node = [] } = given
  const port = await freePort()
  const env = {
    NODE_ENV: 'production',
    PORT: String(port),
    HOST: '127.0.0.1',
    DATABASE_URL: given.database.url,
    DATA_DIR: given.folder,
    SECRET_KEY: secretKey,
    WORKERS: String(workers),
    LOG_LEVEL: 'warn',
    DRAIN_SECONDS: '0',
    API_RATE_LIMIT: '0',
  }
  const program = await startProgram('programs/gateway.ts', {
    node: [...asStarted, ...node],
    env,
    ready: /Console and API/,
  })
  pin(program.pid, workers === 1 ? 'gateway' : 'anywhere')
  return { ...program, name: 'gateway', origin: `http://127.0.0.1:${port}` }
}

/** The simulated provider; its output is where it serves. */
export const startUpstream = (): Promise<Program> =>
  startProgram('../../test/simulator/main.ts', { args: ['--port', '0', '--no-record'], ready: /on (http:\S+)/ })

/** Everything a run needs beside what it measures, in a folder of its own: database, simulated provider, generator. */
export async function install(): Promise<Installation> {
  mkdirSync(data, { recursive: true })
  // Not in the system's temporary folder, which may be memory: commits have to reach a disk.
  const folder = mkdtempSync(join(data, 'bench-'))
  const database = await startEmbedded({ dataDir: folder })
  const databasePid = Number(readFileSync(join(folder, 'postgres/postmaster.pid'), 'utf8').split('\n')[0])
  const upstream = await startUpstream()
  const generator = startGenerator()
  for (const pid of [databasePid, upstream.pid, generator.pid]) pin(pid, 'rest')
  const world = await createWorld(database.connection, { secretKey, upstreamUrl: upstream.output })

  const gateway = (input?: GatewayInput) => startGateway({ database, folder, ...input })
  const passThrough = async (workers = 1) => {
    const args = [upstream.output, String(workers)]
    const env = { NODE_ENV: 'production' }
    const program = await startProgram('programs/pass-through.ts', { args, env, ready: /ready on (http:\S+)/ })
    pin(program.pid, workers === 1 ? 'gateway' : 'anywhere')
    return { ...program, name: 'pass-through' as const, origin: program.output }
  }
  const close = async (): Promise<void> => {
    await generator.stop()
    await upstream.stop()
    await world.pool.end()
    await database.stop()
    rmSync(folder, { recursive: true, force: true })
  }
  const direct: Target = { name: 'direct', origin: upstream.output, pid: upstream.pid }
  const seen = { answers: 0, refusals: [], failures: [], spreads: [] }
  return { world, generator, upstream, databasePid, gateway, passThrough, direct, seen, close }
}
