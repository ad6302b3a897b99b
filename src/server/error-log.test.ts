import { expect, test } from 'vitest'
import { QueueFull } from '#features/ledger/service.ts'
import { reportBatchErrors, reportUnexpected } from './error-log.ts'

type Logged = [level: string, message: string, error: string]

/** A log whose lines are noted. */
function createLog(): { logged: Logged[]; log: Parameters<typeof reportUnexpected>[0] } {
  const logged: Logged[] = []
  const note = (level: string) => (fields: { err: unknown }, message: string) =>
    void logged.push([level, message, (fields.err as Error).message])
  return { logged, log: { warn: note('warn'), error: note('error') } }
}

test('a full queue is a warning that says what is full, and hides no error of the same moment', () => {
  const { logged, log } = createLog()
  const say = reportBatchErrors(log)
  say(new QueueFull('20000 charges wait already'))
  say(new QueueFull('20000 charges wait already'))
  say(new Error('connection refused'))
  expect(logged).toEqual([
    ['warn', 'a queue of the ledger is full', '20000 charges wait already'],
    ['error', 'a ledger batch failed', 'connection refused'],
  ])
})

test('a database that is away has one line for all calls that it fails, and what nobody foresaw one for each', () => {
  const { logged, log } = createLog()
  const report = reportUnexpected(log)
  const away = Object.assign(new Error('the database system is starting up'), { code: '57P03' })
  for (let call = 0; call < 1000; call += 1) report(away, `call-${call}`)
  report(new TypeError('cannot read'), 'call-1000')
  report(new TypeError('cannot read'), 'call-1001')
  expect(logged).toEqual([
    ['warn', 'the database is unavailable: calls are refused', 'the database system is starting up'],
    ['error', 'a call failed unexpectedly', 'cannot read'],
    ['error', 'a call failed unexpectedly', 'cannot read'],
  ])
})
