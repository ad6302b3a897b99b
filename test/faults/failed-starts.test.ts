import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { freePort, launchProduct, startProduct } from '../support/processes.ts'
import { createWorld } from './world.ts'

const world = await createWorld()
const folder = mkdtempSync(join(tmpdir(), 'starts-'))
afterAll(async () => {
  await world[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

/** What a start that fails says, after what npm would have said. */
async function failedStart(environment: Record<string, string>): Promise<{ code: number | null; output: string }> {
  await using launched = await launchProduct({ environment, entry: 'scripts/start.ts' })
  const { code } = await launched.exited
  return { code, output: launched.output().replace('building the console …\n', '').trim() }
}

describe('a start that cannot succeed says why in one sentence and ends', () => {
  test('when the port is taken', async () => {
    const occupant = createServer().listen(0, '127.0.0.1')
    await once(occupant, 'listening')
    const address = occupant.address()
    const port = typeof address === 'object' && address ? address.port : 0
    try {
      for (const WORKERS of ['1', '2']) {
        expect(await failedStart({ ...world.environment, WORKERS, PORT: String(port) })).toEqual({
          code: 1,
          output: `The start failed. Port ${port} is taken by another program: stop that one, or set PORT.`,
        })
      }
    } finally {
      occupant.close()
    }
  })

  test('when there is no database at DATABASE_URL, without showing its password', async () => {
    const port = await freePort()
    const { code, output } = await failedStart({
      ...world.environment,
      DATABASE_URL: `postgres://me:hidden@127.0.0.1:${port}/x`,
    })
    expect(code).toBe(1)
    expect(output).toMatch(
      /^The start failed\. The database "x" at 127\.0\.0\.1:\d+ cannot be used \(.*ECONNREFUSED.*\)/,
    )
    expect(output).not.toContain('hidden')
    expect(output.split('\n')).toHaveLength(1)
  })

  test('when the database refuses the login', async () => {
    const { code, output } = await failedStart({
      ...world.environment,
      DATABASE_URL: world.environment.DATABASE_URL.replace('//postgres', '//nobody'),
    })
    expect({ code, lines: output.split('\n').length }).toEqual({ code: 1, lines: 1 })
    expect(output).toContain('role "nobody" does not exist')
  })

  test('when DATA_DIR cannot be written to', async () => {
    const file = join(folder, 'file')
    writeFileSync(file, '')
    const withDatabase: Record<string, string> = { DATABASE_URL: world.environment.DATABASE_URL }
    for (const given of [{}, withDatabase]) {
      const { code, output } = await failedStart({ ...given, DATA_DIR: join(file, 'data') })
      expect(code).toBe(1)
      expect(output).toBe(
        `The start failed. DATA_DIR ${join(file, 'data')} cannot be written to (ENOTDIR): make it writable, or set DATA_DIR.`,
      )
    }
  })

  test('when SECRET_KEY is not the one the data was written with', async () => {
    const first = await startProduct({ environment: { ...world.environment, WORKERS: '1' } })
    await first.stop()
    const { code, output } = await failedStart({ ...world.environment, SECRET_KEY: 'another key altogether' })
    expect(code).toBe(1)
    expect(output).toMatch(/^The start failed\. SECRET_KEY is not the key this data was written with\./)
  })

  test('when a setting is wrong', async () => {
    const { code, output } = await failedStart({ ...world.environment, WORKERS: 'many' })
    expect(code).toBe(1)
    expect(output).toContain('WORKERS must be a whole number')
  })
})

test('two first starts at once on one folder share the database and the secret key', async () => {
  const environment = { DATA_DIR: join(folder, 'shared'), WORKERS: '1' }
  const products = await Promise.all([startProduct({ environment }), startProduct({ environment })])
  try {
    expect(await Promise.all(products.map((product) => product.health()))).toEqual([200, 200])
    expect(readFileSync(join(folder, 'shared/secret-key'), 'utf8').trim()).toMatch(/^[\w-]{43}$/)
    expect(readdirSync(join(folder, 'shared')).filter((name) => name.startsWith('secret-key'))).toEqual(['secret-key'])
    expect(existsSync(join(folder, 'shared/postgres/PG_VERSION'))).toBe(true)
  } finally {
    await Promise.all(products.map((product) => product.killAll()))
  }
})

test('a start encrypts the passwords of proxies that an older version stored in clear', async () => {
  const { id } = await world.make.channel()
  const setting = JSON.stringify({ proxy: 'http://bob:PlantedProxyPassword@127.0.0.1:9' })
  await world.pool.query('update channels set setting = $2 where id = $1', [id, setting])
  await using product = await startProduct({ environment: { ...world.environment, WORKERS: '1' } })
  await expect.poll(async () => (await fetch(`${product.url}/readyz`)).status).toBe(200)
  const { rows } = await world.pool.query('select setting, proxy_encrypted from channels where id = $1', [id])
  expect(rows).toEqual([
    { setting: '{"proxy":"http://bob:***@127.0.0.1:9"}', proxy_encrypted: expect.stringMatching(/^v1\./) },
  ])
})
