import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { delimiter } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url))

/** Our own programs first, Node among them: whoever starts a script without npm has another one in front. */
const PATH = `${root}node_modules/.bin${delimiter}${process.env.PATH ?? ''}`

export type Step = { title: string; command: string; args: string[] }

/** Each checker works out for itself what the others have as well: four of them on two cores cost twice what one does. */
const checkers = Math.max(1, Math.min(4, Math.floor(availableParallelism() / 2)))

/** What costs seconds and needs neither a database nor a browser. */
export const checks: Step[] = [
  { title: 'format', command: 'oxfmt', args: ['--check'] },
  { title: 'lint', command: 'oxlint', args: ['--deny-warnings'] },
  { title: 'types', command: 'tsc', args: ['--noEmit', '--checkers', String(checkers)] },
  { title: 'i18n', command: 'node', args: ['scripts/check-i18n.ts'] },
]

/** Files that nothing imports, exports that nobody else uses, packages that nobody needs. */
export const unused: Step = {
  title: 'unused files, exports and dependencies',
  command: 'knip',
  args: ['--no-progress'],
}

export const unitTests: Step = {
  title: 'unit tests',
  command: 'vitest',
  args: ['run', '--project', 'unit', '--reporter', 'dot'],
}

/** A change to these changes what is found in files that are as they were. */
const settings = /^(\.oxlintrc\.json|\.oxfmtrc\.json|tsconfig\.json|scripts\/lint\/)/m

/** The same checks, of changed files where a check can do with them alone, and the unit tests that these files reach. */
export function checksOf(files: string[]): Step[] {
  if (files.length === 0) return []
  const some = settings.test(files.join('\n')) ? [] : ['--no-error-on-unmatched-pattern', ...files]
  const code = files.filter((file) => /\.(tsx?|m[jt]s|js|json)$/.test(file) && !/^package(-lock)?\.json$/.test(file))
  // Few tests, each of which loads much: more workers would load the same once more, beside the other checks.
  const few = ['--project', 'unit', '--maxWorkers', '50%', '--reporter', 'dot', '--passWithNoTests']
  const tests = { title: 'unit tests of what changed', command: 'vitest', args: ['related', '--run', ...few, ...code] }
  return [
    ...(code.length > 0 ? [tests] : []),
    ...checks.map((step) =>
      step.title === 'format' || step.title === 'lint' ? { ...step, args: [...step.args, ...some] } : step,
    ),
  ]
}

const isWindows = process.platform === 'win32'

/** Runs a program with its output on ours. */
export function run({ command, args, env: more }: Omit<Step, 'title'> & { env?: NodeJS.ProcessEnv }): boolean {
  const env = { ...process.env, PATH, ...more }
  const { status } = spawnSync(command, args, { cwd: root, env, stdio: 'inherit', shell: isWindows })
  return status === 0
}

/** The same, while others run. */
export async function runBeside({ command, args }: Omit<Step, 'title'>): Promise<boolean> {
  const env = { ...process.env, PATH }
  const child = spawn(command, args, { cwd: root, env, stdio: 'inherit', shell: isWindows })
  const [status] = await once(child, 'close')
  return status === 0
}

/** Runs a program and keeps what it prints, for those that run beside others. */
async function capture({ command, args }: Step): Promise<{ isFine: boolean; output: string }> {
  const colours = process.stdout.isTTY ? { FORCE_COLOR: '1' } : {}
  // The compiler and the linter of types live for seconds: collecting their garbage as often as a server does costs a fifth of them.
  const env = { GOGC: '300', ...process.env, ...colours, PATH }
  const child = spawn(command, args, {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    shell: isWindows,
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  return new Promise((resolve) => {
    child.once('error', ({ message }) => resolve({ isFine: false, output: message }))
    child.once('close', (code) => resolve({ isFine: code === 0, output: output.trim() }))
  })
}

/**
 * Runs every step, also after one that failed, as many beside each other as there are cores, and gives back the titles of those
 * that failed. The output of each comes in one piece when it ends.
 */
export async function runAll(steps: Step[], atOnce = availableParallelism()): Promise<string[]> {
  const failed = new Set<Step>()
  const waiting = steps.values()
  const work = async () => {
    for (const step of waiting) {
      const startedAt = performance.now()
      const { isFine, output } = await capture(step)
      if (!isFine) failed.add(step)
      console.log(`\n── ${step.title} (${((performance.now() - startedAt) / 1000).toFixed(1)} s)\n${output}`)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return steps.filter((step) => failed.has(step)).map(({ title }) => title)
}
