import { expect, test } from 'vitest'
import { QueueFull } from '#features/ledger/service.ts'
import { reportBatchErrors } from './error-log.ts'

test('a full queue is a warning that says what is full, and hides no error of the same moment', () => {
  const logged: unknown[] = []
  const note = (level: string) => (fields: { err: unknown }, message: string) =>
    void logged.push([level, message, (fields.err as Error).message])
  const say = reportBatchErrors({ warn: note('warn'), error: note('error') })
  say(new QueueFull('20000 charges wait already'))
  say(new QueueFull('20000 charges wait already'))
  say(new Error('connection refused'))
  expect(logged).toEqual([
    ['warn', 'a queue of the ledger is full', '20000 charges wait already'],
    ['error', 'a ledger batch failed', 'connection refused'],
  ])
})
