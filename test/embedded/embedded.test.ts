import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { Client } from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import type { ConnectionOptions } from '#db/connection.ts'
import { chooseIdentity } from '#db/embedded/identity.ts'
import { findPrograms, usableBy } from '#db/embedded/programs.ts'
import { type Embedded, startEmbedded } from '#db/embedded.ts'
import { migrate } from '#db/orm.ts'
import { sendSignal } from '../support/processes.ts'

const isRoot = process.getuid?.() === 0
const ownerScript = fileURLToPath(new URL('owner.ts', import.meta.url))

let base = ''
let folder = ''
let started: { stop: () => Promise<void> }[] = []

const makeFolder = () => mkdtempSync(join(tmpdir(), 'embedded-'))

beforeAll(async () => {
  base = makeFolder()
  const { stop } = await startEmbedded({ dataDir: base, testing: true })
  await stop()
})

afterAll(() => rmSync(base, { recursive: true }))

beforeEach(() => {
  folder = makeFolder()
  started = []
})

afterEach(async () => {
  for (const { stop } of started) await stop()
  rmSync(folder, { recursive: true, force: true })
})

const start = async (dataDir = folder, overPort = false): Promise<Embedded> => {
  const embedded = await startEmbedded({ dataDir, overPort, testing: true })
  started.push(embedded)
  return embedded
}

type Owner = { attached: boolean; connection: ConnectionOptions; end: (signal: NodeJS.Signals) => Promise<void> }

/** Another process that starts the database in our folder. */
async function startOwner(): Promise<Owner> {
  const child = spawn(process.execPath, [ownerScript, folder], { stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal)
    await exited
  }
  started.push({ stop: () => end('SIGTERM') })
  const line = await Promise.race([once(createInterface(child.stdout), 'line'), exited.then(() => undefined)])
  if (!line) throw new Error('the owner ended before the database was there')
  return { ...JSON.parse(String(line[0])), end }
}

/** A database that ran and was stopped before; copied, for making one takes most of a second. */
const copyBase = () => {
  cpSync(base, folder, { recursive: true })
  chmodSync(join(folder, 'postgres'), 0o700)
}

async function ask(connection: ConnectionOptions, query: string): Promise<unknown> {
  const client = new Client(connection)
  client.on('error', () => {})
  await client.connect()
  try {
    const { rows } = await client.query<Record<string, unknown>>(query)
    return rows.map((row) => Object.values(row)[0])
  } finally {
    await client.end()
  }
}

const answers = (connection: ConnectionOptions) =>
  ask(connection, 'select 1').then(
    () => true,
    () => false,
  )

/** The real, effective, saved and file-system user of a process, by the system's own table. */
const usersOf = (pid: number): string[] => {
  const users = /^Uid:\s+(.+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]?.split(/\s+/) ?? []
  expect(users).toHaveLength(4)
  return users
}

const serverPid = () => Number(readFileSync(join(folder, 'postgres/postmaster.pid'), 'utf8').split('\n')[0])

describe('the embedded database', () => {
  test('starts from nothing, keeps its rows, and is closed to other users of the machine', async () => {
    const first = await start()
    expect(first.attached).toBe(false)
    await ask(first.connection, `create table kept as select '安' as name`)
    await first.stop()
    expect(await answers(first.connection)).toBe(false)

    const second = await start()
    expect(await ask(second.connection, 'select name from kept')).toEqual(['安'])
    expect(statSync(join(folder, 'postgres')).mode & 0o077).toBe(0)
  })

  test('orders text alike on every machine, and Chinese by pinyin where asked', async () => {
    copyBase()
    const { connection } = await start()
    const names = `unnest(array['王', '李', '安', 'b', 'B']) as name`
    expect(await ask(connection, `select name from ${names} order by name`)).toEqual(['B', 'b', '安', '李', '王'])
    expect(
      await ask(connection, `select name from ${names} where name > 'c' order by name collate "zh-x-icu"`),
    ).toEqual(['安', '李', '王'])
    expect(await ask(connection, 'show server_encoding')).toEqual(['UTF8'])
  })

  test('lets a second start attach, which does not stop it', async () => {
    copyBase()
    const first = await start()
    const owner = await startOwner()
    expect(owner).toMatchObject({ attached: true, connection: first.connection })
    await owner.end('SIGTERM')
    expect(await answers(first.connection)).toBe(true)
  })

  test('is made once when two start at once', async () => {
    const both = await Promise.all([startOwner(), startOwner()])
    expect(both.map(({ attached }) => attached).toSorted()).toEqual([false, true])
    expect(readdirSync(folder)).toEqual(['postgres'])
  })

  test('ends with its owner, and starts again at once', async () => {
    copyBase()
    const owner = await startOwner()
    await owner.end('SIGKILL')
    const next = await start()
    expect(next.attached).toBe(false)
    expect(await answers(next.connection)).toBe(true)
  })

  test('is started again when it dies', async () => {
    copyBase()
    const { connection } = await start()
    const dead = serverPid()
    sendSignal(dead, 'SIGKILL')
    await vi.waitFor(() => expect(serverPid()).not.toBe(dead), { timeout: 60_000, interval: 50 })
    await vi.waitFor(async () => expect(await answers(connection)).toBe(true), { timeout: 60_000, interval: 50 })
  })

  test('starts although its lock names a process that is another program by now, however late it meets that', async () => {
    copyBase()
    const data = join(folder, 'postgres')
    // The server minds a process of its own user alone.
    const other = spawn('sleep', ['infinity'], { ...chooseIdentity(data), cwd: '/', stdio: 'ignore' })
    writeFileSync(join(data, 'postmaster.pid'), `${other.pid}\n${data}\n1\n5432\n\n\n`)
    // A machine that is busy for a minute before: only what others have to start is waited for, no longer than half of one.
    let busyMs = 0
    const now = Date.now.bind(Date)
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => now() + busyMs)
    const log = (line: string) => void (line.includes('lock file') && (busyMs = 60_000))
    try {
      const embedded = await startEmbedded({ dataDir: folder, testing: true, log })
      started.push(embedded)
      expect(busyMs).toBe(60_000)
      expect(await answers(embedded.connection)).toBe(true)
    } finally {
      clock.mockRestore()
      other.kill()
    }
  })

  test('takes a path that is too long for a socket', async () => {
    const { connection } = await start(join(folder, 'long'.repeat(30)))
    expect(connection.host.length).toBeLessThan(86)
    expect(await answers(connection)).toBe(true)
    rmSync(connection.host, { recursive: true })
  })

  test('asks for a password where it listens on a port', async () => {
    const { connection } = await start(folder, true)
    expect(connection.host).toBe('127.0.0.1')
    expect(await answers(connection)).toBe(true)
    expect(await answers({ ...connection, password: 'guessed' })).toBe(false)
  })

  test.runIf(isRoot)('runs for root below a folder closed to others, and not even there as root', async () => {
    const closed = join(folder, 'closed')
    mkdirSync(closed, { mode: 0o700 })
    const { connection } = await start(join(closed, 'data'))
    expect(await answers(connection)).toBe(true)
    const pid = Number(readFileSync(join(closed, 'data/postgres/postmaster.pid'), 'utf8').split('\n')[0])
    expect(usersOf(pid)).not.toContain('0')
    expect(statSync(join(closed, 'data/postgres')).uid).toBe(Number(usersOf(pid)[0]))
  })

  test.runIf(isRoot)('uses a copy of its programs where they are below a folder closed to others', async () => {
    const closed = join(folder, 'closed')
    mkdirSync(closed, { mode: 0o700 })
    const found = await findPrograms(undefined)
    spawnSync('cp', ['-a', dirname(dirname(found.postgres)), join(closed, 'native')])
    const hidden = join(closed, 'native/bin')
    const programs = {
      initdb: join(hidden, 'initdb'),
      postgres: join(hidden, 'postgres'),
      pg_ctl: join(hidden, 'pg_ctl'),
    }
    const owner = { uid: 60_850, gid: 60_850 }
    const usable = usableBy(programs, owner)
    try {
      expect(usable.postgres).not.toBe(programs.postgres)
      expect(spawnSync(usable.postgres, ['--version'], { ...owner, cwd: '/' }).status).toBe(0)
      expect(usableBy(programs, owner)).toEqual(usable)
      expect(usableBy(programs, undefined)).toEqual(programs)
    } finally {
      rmSync(dirname(dirname(usable.postgres)), { recursive: true })
    }
  })

  test('has no process that is root, and lets the product neither read files nor run programs nor make roles', async () => {
    copyBase()
    const { connection, admin } = await start()
    if (process.platform === 'linux') expect(usersOf(serverPid())).not.toContain('0')
    const refused = [
      `select pg_read_file('/etc/passwd')`,
      `copy (select 1) to program 'id'`,
      `create temp table t (a text); copy t from program 'id'`,
      `create temp table t (a text); copy t from '/etc/passwd'`,
      `select lo_import('/etc/passwd')`,
      'create role another',
      'create database another',
      'alter system set jit = on',
      'set role postgres',
      `alter role gateway superuser`,
    ]
    for (const statement of refused)
      await expect(ask(connection, statement), statement).rejects.toThrow(/permission denied|must be superuser/i)
    expect(await ask(connection, 'select rolsuper from pg_roles where rolname = current_user')).toEqual([false])
    if (isRoot) await expect(ask(admin, `select pg_read_file('/etc/shadow')`)).rejects.toThrow('Permission denied')
  })

  test('takes over a folder of the time when the product was superuser, with everything in it', async () => {
    copyBase()
    const first = await start()
    await ask(first.admin, 'alter database postgres owner to postgres')
    await ask(first.admin, 'drop owned by gateway')
    await ask(first.admin, 'drop role gateway')
    await migrate(first.admin)
    await ask(first.admin, `insert into options (key, value) values ('Notice', 'kept')`)
    await first.stop()
    if (isRoot) spawnSync('chown', ['-R', '0:0', join(folder, 'postgres')])

    const { connection } = await start()
    // What an extension brings along is the server's.
    const own = (id: string) => `not exists (select 1 from pg_depend d where d.objid = ${id} and d.deptype = 'e')`
    const foreign = `select relname from pg_class c join pg_namespace n on n.oid = relnamespace
      where nspname = 'public' and relowner <> 'gateway'::regrole
      union all select proname from pg_proc p join pg_namespace n on n.oid = pronamespace
      where nspname = 'public' and proowner <> 'gateway'::regrole and ${own('p.oid')}
      union all select typname from pg_type t join pg_namespace n on n.oid = typnamespace
      where nspname = 'public' and typowner <> 'gateway'::regrole and ${own('t.oid')} and ${own('t.typelem')}`
    expect(await ask(connection, foreign)).toEqual([])
    expect(await ask(connection, `select value from options where key = 'Notice'`)).toEqual(['kept'])
    // What a later version does.
    await ask(connection, 'alter table logs add column later int')
    await ask(connection, 'select ensure_log_partitions()')
    await migrate(connection)
  })

  test('leaves no unfinished folder behind when it cannot be made', async () => {
    writeFileSync(join(folder, 'postgres'), 'not a folder')
    await expect(start()).rejects.toThrow()
    expect(readdirSync(folder)).toEqual(['postgres'])
  })
})
