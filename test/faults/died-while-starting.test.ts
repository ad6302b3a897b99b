import { expect, test } from 'vitest'
import { advisoryLock } from '#db/advisory-locks.ts'
import { childrenOf, launchProduct, sendSignal, until } from '../support/processes.ts'
import { createWorld } from './world.ts'

test('a worker that dies after it served, while another is still starting, is replaced, and so is its replacement that dies', async () => {
  await using world = await createWorld()
  await using product = await launchProduct({ environment: { ...world.environment, WORKERS: '2' } })
  const workers = (): number[] => childrenOf(product.pid)
  await until(() => workers().length === 2, { what: 'no two workers are started', everyMs: 5, unless: product.exited })
  const [late, early] = workers() as [number, number]
  sendSignal(late, 'SIGSTOP')
  const serves = () =>
    // The stopped one may take a connection, but no second one.
    fetch(`${product.url}/healthz`, { signal: AbortSignal.timeout(10_000) }).then(
      ({ status }) => status === 200,
      () => false,
    )
  await until(serves, { what: () => `nobody serves:\n${product.output()}`, unless: product.exited })
  sendSignal(early, 'SIGKILL')
  let next: number | undefined
  const isReplaced = (): boolean => {
    next = workers().find((pid) => pid !== late && pid !== early)
    return next !== undefined
  }
  await until(isReplaced, { what: 'the dead worker is not replaced', everyMs: 5 })
  sendSignal(next, 'SIGKILL')
  await until(() => !workers().includes(next as number), { what: 'a killed worker lives' })
  sendSignal(late, 'SIGCONT')
  await until(() => product.output().includes('Console and API'), {
    what: 'the start does not end',
    unless: product.exited,
  })
  await until(() => workers().length === 2, {
    what: 'the dead replacement is not replaced',
    unless: product.exited,
  })
  expect(workers()).not.toContain(next)
})

test('a start that waits for the upgrade of another says so, and ends when it is asked to', async () => {
  await using world = await createWorld()
  const other = await world.pool.connect()
  try {
    await other.query('select pg_advisory_lock($1)', [advisoryLock.schema])
    await using product = await launchProduct({ environment: { ...world.environment, LOG_LEVEL: 'info' } })
    await until(() => product.output().includes('waiting for it'), {
      what: () => `the start does not say that it waits:\n${product.output()}`,
      unless: product.exited,
    })
    sendSignal(product.pid, 'SIGTERM')
    // As the first process of a container it would be ended by no signal without a handler.
    expect(await product.exited).toEqual({ code: 143, signal: null })
  } finally {
    other.release(true)
  }
})
