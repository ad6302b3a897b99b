import { mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import type { TestProject } from 'vitest/node'
import { type ConnectionOptions, fromUrl } from '#db/connection.ts'
import { startEmbedded } from '#db/embedded.ts'
import { migrate } from '#db/orm.ts'
import { buildServer } from '#scripts/server-build.ts'
import { prepareBrowser } from './chromium.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** A server on which databases may be made, and the name of the one to clone. */
    databaseServer: ConnectionOptions
    databaseTemplate: string
  }
}

type Server = { connection: ConnectionOptions; stop: () => Promise<void> }

const fastSettings = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'max_connections=400']

async function startContainer(): Promise<Server | undefined> {
  const { getContainerRuntimeClient } = await import('testcontainers')
  const engine = await getContainerRuntimeClient().catch(() => undefined)
  if (!engine) return undefined
  const { PostgreSqlContainer } = await import('@testcontainers/postgresql')
  const container = await new PostgreSqlContainer('postgres:18')
    .withCommand(['postgres', ...fastSettings.flatMap((setting) => ['-c', setting])])
    .start()
  return { connection: fromUrl(container.getConnectionUri()), stop: async () => void (await container.stop()) }
}

const gibibyte = 2 ** 30

/** In memory where there is plenty of it: a database for each test file means hundreds of thousands of small files. */
function temporaryFolder(): string {
  const memory = '/dev/shm'
  try {
    const { bavail, bsize } = statfsSync(memory)
    if (bavail * bsize > 4 * gibibyte && process.availableMemory() > 8 * gibibyte) return memory
  } catch {
    // This system has no such folder.
  }
  return tmpdir()
}

async function startTemporary(): Promise<Server> {
  const folder = mkdtempSync(join(temporaryFolder(), 'gateway-test-'))
  const { admin, stop } = await startEmbedded({ dataDir: folder, testing: true })
  return {
    connection: admin,
    stop: async () => {
      await stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function findServer(): Promise<Server> {
  const { TEST_DATABASE_URL: url, TEST_CONTAINERS: containers } = process.env
  if (url) return { connection: fromUrl(url), stop: async () => {} }
  return (containers === '1' ? await startContainer() : undefined) ?? (await startTemporary())
}

async function run(connection: ConnectionOptions, statement: string): Promise<void> {
  const client = new Client(connection)
  await client.connect()
  await client.query(statement).finally(() => client.end())
}

type Prepared = { connection: ConnectionOptions; template: string; end: () => Promise<void> }

async function prepare(): Promise<Prepared> {
  await prepareBrowser()
  // Workers inherit it, and so do the products that they start.
  process.env['SERVER_BUILD'] = buildServer() ?? ''
  const { connection, stop } = await findServer()
  // Several runs may share one server.
  const template = `template_${process.pid}_${Date.now()}`
  await run(connection, `create database ${template}`)
  await migrate({ ...connection, database: template })
  const end = async (): Promise<void> => {
    await run(connection, `drop database ${template} with (force)`)
    await stop()
  }
  return { connection, template, end }
}

/** Every project of tests loads this file for itself; they share one server, which ends with the last of them. */
const shared = globalThis as { preparedTests?: { users: number; prepared: Promise<Prepared> } }

/** Builds the schema once; every test file clones it. */
export default async function setUp(project: TestProject) {
  const mine = (shared.preparedTests ??= { users: 0, prepared: prepare() })
  mine.users += 1
  const { connection, template, end } = await mine.prepared
  project.provide('databaseServer', connection)
  project.provide('databaseTemplate', template)
  return async () => {
    mine.users -= 1
    if (mine.users > 0) return
    delete shared.preparedTests
    await end()
  }
}
