import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { startEmbedded } from '#db/embedded.ts'
import { startUpstream } from '#test/simulator/index.ts'
import { long } from '../support/long.ts'
import { freePort, secretKey, until } from '../support/processes.ts'
import { startCluster } from './cluster.ts'
import { buildImage, contextOf, readCopy, readStages, startImage } from './dockerfile.ts'
import { callOnce, smoke } from './smoke.ts'

const project = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')
const read = (name: string) => readFileSync(join(project, name), 'utf8')

type Compose = {
  services: Record<string, { depends_on?: object; environment?: Record<string, unknown>; healthcheck?: object }>
  configs: Record<string, { file: string }>
}
const compose = parse(read('docker-compose.yml'), { merge: true }) as Compose

test('docker-compose.yml fits the schema of the Compose specification, and a wrong word in it would not', () => {
  // Their own drafts call the same part of a schema by two names, and zod reads the newer.
  const written = read('test/deployment/compose-spec/compose-spec.json').replaceAll('"definitions"', '"$defs"')
  const schema = z.fromJSONSchema(JSON.parse(written.replaceAll('#/definitions/', '#/$defs/')))
  expect(schema.safeParse(compose).error?.issues ?? []).toEqual([])
  const wrong = structuredClone(compose)
  Object.assign(wrong.services['relay-1'] ?? {}, { enviroment: {} })
  expect(schema.safeParse(wrong).success).toBe(false)
  const wrongType = structuredClone(compose)
  Object.assign(wrongType.services['redis'] ?? {}, { restart: 7 })
  expect(schema.safeParse(wrongType).success).toBe(false)
})

test('the services and files that docker-compose.yml names are there', () => {
  const names = Object.keys(compose.services)
  for (const { depends_on: before = {} } of Object.values(compose.services)) {
    for (const name of Object.keys(before)) {
      expect(names).toContain(name)
      // Each waits for the other's health.
      expect(compose.services[name]?.healthcheck ?? 'of the image').toBeTruthy()
    }
  }
  for (const { file } of Object.values(compose.configs)) expect(existsSync(join(project, file))).toBe(true)
})

test('every file that the Dockerfile copies is there and left by .dockerignore', () => {
  const inContext = contextOf(project)
  const stages = readStages(read('Dockerfile'))
  const names = stages.map(({ name }) => name)
  for (const { steps } of stages) {
    for (const { instruction, text } of steps) {
      if (instruction !== 'COPY') continue
      const { from, sources } = readCopy(text)
      if (from !== undefined) expect(names).toContain(from)
      else
        for (const source of sources)
          expect([source, existsSync(join(project, source)), inContext(join(project, source))]).toEqual([
            source,
            true,
            true,
          ])
    }
  }
  expect(
    ['test', 'node_modules/express', '.git/HEAD', 'data/postgres', 'a.log'].filter((path) =>
      inContext(join(project, path)),
    ),
  ).toEqual([])
})

test('the image starts what npm start does, with the same flags of Node', () => {
  const [command = ''] = readStages(read('Dockerfile')).flatMap(({ steps }) =>
    steps.flatMap(({ instruction, text }) => (instruction === 'CMD' ? [text] : [])),
  )
  const flags = JSON.parse((/^const flags = (.*)$/m.exec(read('scripts/run.mjs'))?.[1] ?? '').replaceAll("'", '"'))
  expect(JSON.parse(command)).toEqual(['node', ...flags, 'scripts/start.ts'])
})

test('the image runs as a number of a user, whom Kubernetes can tell from root', () => {
  const users = readStages(read('Dockerfile'))
    .at(-1)
    ?.steps.flatMap(({ instruction, text }) => (instruction === 'USER' ? [text] : []))
  expect(users).toEqual([expect.stringMatching(/^[1-9]\d*(:[1-9]\d*)?$/)])
})

/** A PostgreSQL of its own, reached as a server is. */
async function startDatabase() {
  const folder = mkdtempSync(join(tmpdir(), 'deployment-'))
  chmodSync(folder, 0o755)
  const database = await startEmbedded({ dataDir: folder, testing: true, overPort: true })
  return {
    url: database.url,
    [Symbol.asyncDispose]: async () => {
      await database.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

test.runIf(long)(
  'two relays, a console, PostgreSQL, Redis and a balancer pass the smoke test, and one killed node fails no call that had not begun',
  async () => {
    await using database = await startDatabase()
    await using upstream = await startUpstream({ record: false })
    await using cluster = await startCluster(database.url)
    const { url, setupToken, relays } = cluster
    const { key } = await smoke({ url, upstreamUrl: upstream.url, setupToken })
    // The limit was counted by Redis, not by each node alone.
    for (const relay of relays) expect(relay.output()).not.toContain('not counted for all nodes')

    let killedAt = Infinity
    let stopping = false
    const calls: { began: number; status: number }[] = []
    const callers = Array.from({ length: 8 }, async () => {
      while (!stopping) {
        const began = performance.now()
        const { status } = await callOnce(url, key)
        calls.push({ began, status })
      }
    })
    await until(() => calls.length > 50, { what: 'nothing is answered' })
    const killing = performance.now()
    await relays[0]?.killAll()
    killedAt = performance.now()
    const before = calls.length
    await until(() => calls.length > before + 100, { what: 'nothing is answered after a node died' })
    stopping = true
    await Promise.all(callers)
    expect(calls.filter(({ began, status }) => began > killedAt && status !== 200)).toEqual([])
    // Only what was under way may have ended with it, and what came while it was ending and its port still open.
    expect(calls.filter(({ began, status }) => began < killing && status !== 200).length).toBeLessThanOrEqual(8)
  },
)

test.runIf(long)(
  'the image of the Dockerfile, built step by step, starts as nobody in particular, says that it is healthy and passes the smoke test',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'image-'))
    chmodSync(folder, 0o755)
    try {
      await using database = await startDatabase()
      await using upstream = await startUpstream({ record: false })
      const path = join(project, 'node_modules/.bin')
      const image = buildImage({ project, into: folder, path, log: (line) => process.stdout.write(`${line}\n`) })
      const port = String(await freePort())
      const running = startImage(image, path, {
        PORT: port,
        DATABASE_URL: database.url,
        SECRET_KEY: secretKey,
        WORKERS: '1',
        OUTBOUND_ALLOW: '127.0.0.0/8',
        API_RATE_LIMIT: '0',
        DRAIN_SECONDS: '0',
      })
      try {
        await until(() => running.isHealthy(), {
          what: () => `it is not healthy:\n${running.output()}`,
          unless: running.exited,
          everyMs: 500,
        })
        const url = `http://127.0.0.1:${port}`
        expect(await (await fetch(url)).text()).toContain('<div id="root">')
        await smoke({ url, upstreamUrl: upstream.url })
        expect(await running.stop()).toBe(0)
      } finally {
        await running.stop()
      }
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  },
)
