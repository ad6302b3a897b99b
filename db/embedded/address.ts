import { createHash } from 'node:crypto'
import { chmodSync, chownSync, lstatSync, mkdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ConnectionOptions } from '../connection.ts'
import type { Identity } from './identity.ts'

/** Where a database is found, and the flags that put it there. */
export type Address = {
  /** For its superuser. Undefined while no server has written down its port. */
  connection: () => ConnectionOptions | undefined
  /** The folder of the socket, where there is one. */
  folder?: string
  /** `nameOf` is what the server calls its folder. */
  flags: (nameOf: (folder: string) => string) => Promise<string[]>
}

export const superuser = { user: 'postgres', database: 'postgres' }

/** With a unix socket it only names the file; given, so that no PGPORT of the environment changes it. */
const socketPort = 5432

/** The system's limit is 107 bytes for the socket's whole path. */
const longestFolder = 85

const shortFolder = (data: string) =>
  join(tmpdir(), `postgres-${createHash('sha256').update(data).digest('hex').slice(0, 16)}`)

/** Makes the folder of the socket ready. In the shared temporary folder anyone may have been there before us. */
export function claimFolder(folder: string, owner: Identity): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const found = lstatSync(folder)
  const ours = [process.getuid?.(), owner?.uid]
  if (!found.isDirectory() || !ours.includes(found.uid)) {
    throw new Error(`${folder} is needed for the database's socket, but belongs to somebody else: remove it.`)
  }
  if (owner) chownSync(folder, owner.uid, owner.gid)
  chmodSync(folder, 0o700)
}

/** A unix socket in the data folder, which is closed to others: nobody else can connect, no port can collide. */
export function socketAddress(data: string): Address {
  const folder = Buffer.byteLength(data) <= longestFolder ? data : shortFolder(data)
  return {
    connection: () => ({ host: folder, port: socketPort, ...superuser }),
    folder,
    flags: async (nameOf) => {
      const directories = `unix_socket_directories="${nameOf(folder).replaceAll('"', '""')}"`
      return ['-c', 'listen_addresses=', '-c', directories, '-p', `${socketPort}`]
    },
  }
}

export const passwordFile = (data: string, user: 'superuser' | 'application' = 'superuser') =>
  join(data, `${user}.password`)

const readLines = (path: string): string[] => {
  try {
    return readFileSync(path, 'utf8').split('\n')
  } catch {
    return []
  }
}

const freePort = () =>
  new Promise<number>((resolve, reject) => {
    const server = createServer().once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })

/** For systems without unix sockets: a free port of this machine, and a password in the data folder. */
export function portAddress(data: string): Address {
  let chosen: number | undefined
  return {
    connection: () => {
      const port = Number(readLines(join(data, 'postmaster.pid'))[3])
      const password = readLines(passwordFile(data))[0]
      return port && password ? { host: '127.0.0.1', port, password, ...superuser } : undefined
    },
    flags: async () => {
      // Chosen once: after a restart the database is where its clients look for it.
      chosen ??= await freePort()
      return ['-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories=', '-p', `${chosen}`]
    },
  }
}
