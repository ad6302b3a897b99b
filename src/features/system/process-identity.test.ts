import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { hasEnded, ownProcess } from './process-identity.ts'

const module = new URL('process-identity.ts', import.meta.url).href
const program = (what: string): string[] => [
  '--input-type=module',
  '--eval',
  `import { hasEnded, ownProcess } from ${JSON.stringify(module)}; ${what}`,
]

/** What another process says, in namespaces of its own where there are some to be had. */
function elsewhere(what: string, namespaces: readonly string[] = []): string {
  const command = namespaces.length === 0 ? [] : ['unshare', '--user', '--map-root-user', ...namespaces]
  const [file = '', ...rest] = [...command, process.execPath, ...program(`console.log(${what})`)]
  const { stdout, stderr, status } = spawnSync(file, rest, { encoding: 'utf8' })
  expect(status, stderr).toBe(0)
  return stdout.trim()
}
const canUnshare = spawnSync('unshare', ['--user', '--map-root-user', '--time', '--pid', '--fork', 'true']).status === 0

test('a process is over once it ended, for whoever counts and clocks processes as it did', () => {
  expect(elsewhere(`hasEnded(${JSON.stringify(ownProcess())})`)).toBe('false')
  const ended = elsewhere('ownProcess()')
  expect(ended).not.toBe(ownProcess())
  expect(hasEnded(ended)).toBe(true)
})

test('one that is held up is not over, one that only waits for its parent is', async () => {
  const held = spawn(process.execPath, program('console.log(ownProcess()); setInterval(() => {}, 1000)'))
  const [output] = await once(held.stdout, 'data')
  const name = String(output).trim()
  held.kill('SIGSTOP')
  expect(hasEnded(name)).toBe(false)
  // Not yet waited for: the engine does that in a later turn.
  held.kill('SIGKILL')
  const end = performance.now() + 60_000
  while (!hasEnded(name) && performance.now() < end);
  expect(hasEnded(name)).toBe(true)
})

test.runIf(canUnshare)('nothing is said where another clock or another count of processes is in use', () => {
  const asked = `hasEnded(${JSON.stringify(ownProcess())})`
  // It began at another time by this clock.
  expect(elsewhere(asked, ['--time', '--boottime', '100000', '--fork'])).toBe('false')
  expect(elsewhere(asked, ['--pid', '--fork', '--mount-proc'])).toBe('false')
  // /proc is still that of the processes outside: what it says of a number is of another process.
  expect(elsewhere('ownProcess()', ['--pid', '--fork'])).toBe('null')
  expect(elsewhere(asked, ['--pid', '--fork'])).toBe('false')
})
