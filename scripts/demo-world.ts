import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startEmbedded } from '#db/embedded.ts'
import { connect, migrate } from '#db/orm.ts'
import { demoPassword, type DemoWorld, seed } from '#test/seed/index.ts'
import { readEnvironment } from '#server/env.ts'
import { checkSecretKey, readSecretKey } from '#server/secret-key.ts'
import { startUpstream } from '#test/simulator/index.ts'

export type RunningWorld = {
  world: DemoWorld
  upstreamUrl: string
  /** What the product has to be started with. */
  environment: Record<string, string>
  close: () => Promise<void>
}

/** A folder of its own below the product's: what is seeded, passwords that everybody knows among it, never gets into an installation. */
export const dataFolderOf = (name: 'demo' | 'dev', given: NodeJS.ProcessEnv = process.env): string =>
  join(readEnvironment(given).DATA_DIR, name)

/** The port asked for, or any other where it is taken. */
const startProvider = (port: number) => startUpstream({ port }).catch(() => startUpstream({ port: 0 }))

/**
 * Simulated provider, database and demo data, ready for the product to be started on them. The data stays in its folder,
 * so what somebody changed is there the next time.
 */
export async function startDemoWorld(dataDir: string): Promise<RunningWorld> {
  const { PORT, SECRET_KEY, DATABASE_URL } = readEnvironment()
  if (DATABASE_URL) throw new Error('The demo has a database of its own: start it without DATABASE_URL.')
  const upstream = await startProvider(4010)
  const database = await startEmbedded({ dataDir })
  await migrate(database.connection)
  const secretKey = await readSecretKey(SECRET_KEY, dataDir)
  const checking = await connect(database.connection, 1)
  await checkSecretKey(checking.pool, secretKey).finally(() => checking.close())
  const world = await seed(database.connection, { secretKey, upstreamUrl: upstream.url })
  return {
    world,
    upstreamUrl: upstream.url,
    environment: {
      PORT: String(PORT),
      // Everybody knows the demo's passwords: nobody else is let in unless the operator says so.
      HOST: process.env['HOST'] || '127.0.0.1',
      DATABASE_URL: database.url,
      DATA_DIR: dataDir,
      SECRET_KEY: secretKey,
      // Drawings are fetched from the simulated provider, which is on this machine.
      OUTBOUND_ALLOW: process.env['OUTBOUND_ALLOW'] || '127.0.0.1/32',
      // No proxy stands in front that would have to notice a stop.
      DRAIN_SECONDS: '0',
    },
    close: async () => {
      await upstream.close()
      await database.stop()
    },
  }
}

/** Where it is, who to sign in as and a first call to make. */
export function describeWorld({ world, upstreamUrl, environment }: RunningWorld): string {
  const base = `http://localhost:${environment['PORT']}`
  const body = { model: 'gpt-4o-mini', stream: true, messages: [{ role: 'user', content: 'Hello' }] }
  return `
  Console:   ${base}
  Provider:  ${upstreamUrl} (simulated)

  Sign in:   ${world.logins.map(({ username, role }) => `${username} (${role})`).join(', ')}
  Password:  ${demoPassword}

  Try:       curl -N ${base}/v1/chat/completions -H 'authorization: Bearer ${world.key}' \\
               -H 'content-type: application/json' -d '${JSON.stringify(body)}'

`
}

/** `--port 3000` of the command line, over the environment's. */
export function readPort(usage: string): void {
  const { values } = parseArgs({
    options: { port: { type: 'string' }, help: { type: 'boolean', short: 'h', default: false } },
  })
  if (values.help) {
    process.stdout.write(usage)
    process.exit(0)
  }
  if (values.port !== undefined) process.env['PORT'] = values.port
}
