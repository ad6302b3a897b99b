import { expect, test } from 'vitest'
import { warmUp } from '#server/warm-up.ts'
import { startApp } from '#test/support/app.ts'
import { createDatabase } from '#test/support/database.ts'
import { startProduct } from '#test/support/processes.ts'

test('calls that warm a process up are answered and leave nothing behind: no row, no hold, no figure', async () => {
  const app = await startApp()
  // Jobs and this test use connections of their own meanwhile.
  const isOfCalls = (name: string) => name.startsWith('gateway_') && !name.startsWith('gateway_database_connections')
  const figures = async () =>
    (await app.services.metrics.registry.getMetricsAsJSON()).filter(({ name }) => isOfCalls(name))
  const rows = async () => {
    const { rows: found } = await app.pool.query(
      `select (select count(*) from logs) as logs, (select count(*) from holds) as holds, (select count(*) from leases) as leases,
         (select count(*) from usage_hourly) as hours, (select sum(quota) from users) as quota`,
    )
    return found
  }
  const before = [await rows(), await figures()]
  expect(await warmUp(app.services)).toBeGreaterThan(0)
  expect([await rows(), await figures()]).toEqual(before)
  expect(app.services.underWay.size).toBe(0)
  expect(app.services.ledger.openCalls()).toBe(0)
  expect(app.services.holds.open.size).toBe(0)
})

test('no calls warm a process up where WARM_UP is off, and in processes that serve the console alone', async () => {
  await using database = await createDatabase()
  const answers = async (environment: Record<string, string>): Promise<boolean> => {
    const given = { DATABASE_URL: database.url, WORKERS: '1', LOG_LEVEL: 'debug', WARM_UP: 'on', ...environment }
    await using product = await startProduct({ environment: given })
    await expect.poll(() => product.output()).toContain('listening')
    return product.output().includes('warmed up')
  }
  expect(await answers({})).toBe(true)
  expect(await answers({ WARM_UP: 'off' })).toBe(false)
  expect(await answers({ ROLE: 'console' })).toBe(false)
})

test('the garbage of a start is collected before calls are taken, which would wait for it', async () => {
  await using database = await createDatabase()
  const environment = { DATABASE_URL: database.url, LOG_LEVEL: 'debug', NODE_OPTIONS: '--expose-gc', ROLE: 'console' }
  await using product = await startProduct({ environment: { ...environment, WORKERS: '1' } })
  // Lines of the log come in their order, but later than what is written at once.
  await expect.poll(() => product.output()).toContain('listening')
  expect(product.output()).toMatch(/collected the garbage of the start[^]*listening/)
})
