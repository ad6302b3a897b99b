import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { asStarted } from './bench/installation.ts'

/** A project with nothing to install and one command. */
const folder = mkdtempSync(join(tmpdir(), 'run-test-'))
mkdirSync(join(folder, 'scripts'))
for (const name of ['run.mjs', 'setup.mjs']) cpSync(new URL(name, import.meta.url), join(folder, 'scripts', name))
writeFileSync(join(folder, 'package-lock.json'), '{ "packages": {} }')
writeFileSync(
  join(folder, 'scripts/probe.ts'),
  `const [first, ...more]: string[] = process.argv.slice(2)
  if (first === 'exit') process.exit(Number(more[0]))
  if (first === 'wait') {
    process.on('SIGTERM', () => {
      console.log('drained')
      process.exit(0)
    })
    setInterval(() => {}, 1000)
  }
  console.log(JSON.stringify({ arguments: [first, ...more], folder: process.cwd(), flags: process.execArgv }))
  if (first === 'echo') process.stdin.pipe(process.stdout)
  if (first === 'die') process.kill(process.pid, 'SIGKILL')`,
)
afterAll(() => rmSync(folder, { recursive: true }))

type Started = { child: ChildProcess; output: () => string; ended: Promise<unknown[]> }

function run(...args: string[]): Started {
  const child = spawn(process.execPath, [join(folder, 'scripts/run.mjs'), ...args], { cwd: tmpdir() })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  return { child, output: () => output, ended: once(child, 'close') }
}

test('a command runs in the project folder with its arguments, on the input and output of whoever called it', async () => {
  const { child, output, ended } = run('probe', 'echo', 'a b', '--flag')
  child.stdin?.end('typed')
  expect(await ended).toEqual([0, null])
  const [line = '', rest] = output().split('\n')
  expect(JSON.parse(line)).toMatchObject({ arguments: ['echo', 'a b', '--flag'] })
  expect(rest).toBe('typed')
})

test('the image and the benchmark start the product with the flags of npm start', async () => {
  const { output, ended } = run('probe', 'flags')
  await ended
  const { flags } = JSON.parse(output()) as { flags: string[] }
  expect(flags).toContain('--max-semi-space-size=16')
  expect(asStarted).toEqual(flags)
  const [command = ''] = /^CMD .*$/m.exec(readFileSync(new URL('../Dockerfile', import.meta.url), 'utf8')) ?? []
  expect(JSON.parse(command.slice(4))).toEqual(['node', ...flags, 'scripts/start.ts'])
})

test('the exit code is that of the command', async () => {
  expect(await run('probe', 'exit', '7').ended).toEqual([7, null])
})

test.skipIf(process.platform === 'win32')('a command that a signal ended ends the caller in the same way', async () => {
  expect(await run('probe', 'die').ended).toEqual([null, 'SIGKILL'])
})

test.skipIf(process.platform === 'win32')(
  'SIGTERM is the command’s to answer, and nothing ends before it',
  async () => {
    const { child, output, ended } = run('probe', 'wait')
    await once(child.stdout!, 'data')
    child.kill('SIGTERM')
    expect(await ended).toEqual([0, null])
    expect(output()).toContain('drained')
  },
)

test('a command that does not exist is named', async () => {
  const { output, ended } = run('nothing')
  expect(await ended).toEqual([1, null])
  expect(output()).toContain('There is no scripts/nothing.ts')
})
