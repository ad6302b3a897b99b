import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { childrenOf, sendSignal } from './processes.ts'

test.each([undefined, 0, -1, 1, Number.NaN])(
  'a test that signals %s is refused instead of ending the whole run',
  (pid) => {
    // The signal that changes nothing, should it be sent.
    expect(() => sendSignal(pid, 'SIGCONT')).toThrow('is no process')
  },
)

const isAlive = (pid: number): boolean => {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

test('a child is seen throughout its start, from the fork until it has loaded its program', async () => {
  // Starts one after another and says the number of each when its program has ended.
  const parent = spawn(
    process.execPath,
    [
      '--eval',
      `const { spawn } = require('node:child_process')
      const start = (left) => {
        const child = spawn(process.execPath, ['--version'], { stdio: 'ignore' })
        child.once('exit', () => (left > 0 ? start(left - 1) : process.exit()))
      }
      start(40)`,
    ],
    { stdio: 'ignore' },
  )
  const ended = once(parent, 'exit')
  const gaps: number[] = []
  let before: number[] = []
  while (parent.exitCode === null) {
    const now = childrenOf(parent.pid as number)
    for (const pid of before) if (!now.includes(pid) && isAlive(pid)) gaps.push(pid)
    before = now
    await setImmediate()
  }
  await ended
  expect(gaps).toEqual([])
})
