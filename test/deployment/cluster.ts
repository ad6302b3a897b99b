import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort, type Product, secretKey, startProduct, until } from '../support/processes.ts'

/** A process that says something of its own once it serves. */
async function startProcess(command: string, args: string[], serves: RegExp): Promise<() => Promise<void>> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const ended = once(child, 'close').catch((error: unknown) => (output += String(error)))
  await until(() => serves.test(output), { what: () => `${command} does not start: ${output}`, unless: ended })
  return async () => {
    child.kill('SIGKILL')
    await ended
  }
}

/** The shape of docker-compose.yml as processes of this machine; whoever calls brings the database. */
export async function startCluster(databaseUrl: string) {
  const folder = mkdtempSync(join(tmpdir(), 'cluster-'))
  const redisPort = await freePort()
  const stops = [
    await startProcess(
      'redis-server',
      ['--port', String(redisPort), '--bind', '127.0.0.1', '--dir', folder, '--save', '', '--appendonly', 'no'],
      /Ready to accept connections/,
    ),
  ]
  const start = (ROLE: 'console' | 'relay'): Promise<Product> =>
    startProduct({
      isPatient: true,
      environment: {
        ROLE,
        DATABASE_URL: databaseUrl,
        REDIS_URL: `redis://127.0.0.1:${redisPort}`,
        SECRET_KEY: secretKey,
        TRUST_PROXY: '1',
        WORKERS: '1',
      },
    })
  const port = await freePort()
  const node = fileURLToPath(new URL('../../node_modules/.bin/node', import.meta.url))
  const nodes: Product[] = []
  try {
    // The first brings the database to its form.
    nodes.push(await start('console'))
    nodes.push(...(await Promise.all([start('relay'), start('relay')])))
    const balancer = fileURLToPath(new URL('balancer.ts', import.meta.url))
    stops.push(await startProcess(node, [balancer, String(port), ...nodes.map(({ url }) => url)], /listening/))
  } catch (error) {
    await Promise.all([...nodes.map(({ killAll }) => killAll()), ...stops.map((stop) => stop())])
    throw error
  }
  const [consoleNode, ...relays] = nodes as [Product, Product, Product]
  return {
    url: `http://127.0.0.1:${port}`,
    relays,
    setupToken: /setup\?token=(\S+)/.exec(consoleNode.output())?.[1],
    [Symbol.asyncDispose]: async () => {
      await Promise.all([...nodes.map(({ killAll }) => killAll()), ...stops.map((stop) => stop())])
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
