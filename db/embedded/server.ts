import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { Socket } from 'node:net'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { handOver } from './hand-over.ts'
import type { Identity } from './identity.ts'
import { commandOf, type Programs } from './programs.ts'

/** A server that is ours: it ends when we end. */
export type Server = { exited: Promise<unknown>; stop: () => Promise<void> }

/** The server ended before it was ready; `said` is its log. */
export type Failed = { output: string }

export type Launch = {
  data: string
  programs: Programs
  identity: Identity
  /** Folders beside the data that the server uses. */
  folders: string[]
  flags: (nameOf: (path: string) => string) => Promise<string[]>
  log: (line: string) => void
}

const stopSeconds = 20

/** Starts PostgreSQL and waits until it takes connections, however long a recovery takes. */
export async function launch({ data, programs, identity, folders, flags, log }: Launch): Promise<Server | Failed> {
  const handed = handOver([data, ...folders], identity)
  const [command, args] = commandOf(programs.postgres, ['-D', handed.nameOf(data), ...(await flags(handed.nameOf))])
  // Detached, so that Ctrl-C reaches only us and open calls can still be settled.
  const child = spawn(command, args, {
    ...identity,
    cwd: '/',
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe', ...handed.descriptors],
  })
  handed.close()
  const exited = once(child, 'close')
  const output: string[] = []
  const ready = new Promise<true>((resolve) => {
    createInterface(child.stderr as Readable).on('line', (line) => {
      log(line)
      if (output.length < 100) output.push(line)
      if (line.includes('ready to accept connections')) resolve(true)
    })
  })
  if ((await Promise.race([ready, exited])) !== true) return { output: output.join('\n') }

  // Whoever is done may end without stopping the database first; it ends with us.
  child.unref()
  if (child.stderr instanceof Socket) child.stderr.unref()
  // Where the system does not tell the server of our end, we do, as far as we can.
  const interrupt = () => {
    if (process.platform !== 'win32') child.kill('SIGINT')
    else spawnSync(programs.pg_ctl, ['stop', '-D', data, '-m', 'fast', '-W'], { stdio: 'ignore' })
  }
  process.once('exit', interrupt)
  void exited.then(() => process.off('exit', interrupt))
  const stop = async () => {
    interrupt()
    const timeout = setTimeout(() => child.kill('SIGQUIT'), stopSeconds * 1000)
    await exited
    clearTimeout(timeout)
  }
  return { exited, stop }
}
