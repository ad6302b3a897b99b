import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort, until } from '../support/processes.ts'

export type ProxyKind = 'caddy' | 'nginx'

export const isInstalled = (kind: ProxyKind): boolean =>
  spawnSync(kind, [kind === 'caddy' ? 'version' : '-v'], { stdio: 'ignore' }).status === 0

/** Ports of this machine in place of the names of docker-compose.yml. */
export type Nodes = { relays: [number, number]; console: number }

const shipped = { caddy: 'Caddyfile', nginx: 'nginx.conf' }

function configurationOf(kind: ProxyKind, nodes: Nodes, port: number): string {
  const text = readFileSync(fileURLToPath(new URL(`../../${shipped[kind]}`, import.meta.url)), 'utf8')
    .replaceAll('relay-1:3000', `127.0.0.1:${nodes.relays[0]}`)
    .replaceAll('relay-2:3000', `127.0.0.1:${nodes.relays[1]}`)
    .replaceAll('console:3000', `127.0.0.1:${nodes.console}`)
  if (kind === 'caddy') return `{\n  admin off\n}\n${text.replace(/^:80 \{/m, `http://:${port} {`)}`
  const server = text.replace('listen 80;', `listen 127.0.0.1:${port};`)
  return `daemon off;\nmaster_process off;\nerror_log stderr;\npid nginx.pid;\nevents {}\nhttp {\naccess_log off;\n${server}\n}\n`
}

/** The real proxy with the configuration that the product ships, as a process of its own. */
export async function startProxy(kind: ProxyKind, nodes: Nodes) {
  const folder = mkdtempSync(join(tmpdir(), `${kind}-`))
  const port = await freePort()
  const path = join(folder, shipped[kind])
  writeFileSync(path, configurationOf(kind, nodes, port))
  const args =
    kind === 'caddy' ? ['run', '--adapter', 'caddyfile', '--config', path] : ['-p', folder, '-e', 'stderr', '-c', path]
  const child = spawn(kind, args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
  })
  let output = ''
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const ended = once(child, 'close')
  await until(() => accepts(port), { what: () => `${kind} does not start: ${output}`, unless: ended })
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    output: () => output,
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL')
      await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  const isOpen = await once(socket, 'connect').then(
    () => true,
    () => false,
  )
  socket.destroy()
  return isOpen
}
