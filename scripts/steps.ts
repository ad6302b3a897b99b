import { spawnSync } from 'node:child_process'
import { delimiter } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url))

/** Our own programs first, Node among them: whoever starts a script without npm has another one in front. */
const PATH = `${root}node_modules/.bin${delimiter}${process.env.PATH ?? ''}`

export type Step = { title: string; command: string; args: string[] }

// What the compiler found out last time is kept, so that only what changed since is looked at again.
const types = ['--noEmit', '--incremental', '--tsBuildInfoFile', '.cache/types.tsbuildinfo']

/** What costs seconds and needs neither a database nor a browser. */
export const checks: Step[] = [
  { title: 'format', command: 'oxfmt', args: ['--check'] },
  { title: 'lint', command: 'oxlint', args: ['--deny-warnings'] },
  { title: 'types', command: 'tsc', args: types },
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
  const related = ['related', '--run', '--project', 'unit', '--reporter', 'dot', '--passWithNoTests', ...code]
  return [
    ...checks.map((step) =>
      step.title === 'format' || step.title === 'lint' ? { ...step, args: [...step.args, ...some] } : step,
    ),
    ...(code.length > 0 ? [{ title: 'unit tests of what changed', command: 'vitest', args: related }] : []),
  ]
}

/** Runs a program with its output on ours. */
export function run({ command, args, env: more }: Omit<Step, 'title'> & { env?: NodeJS.ProcessEnv }): boolean {
  const env = { ...process.env, PATH, ...more }
  const { status } = spawnSync(command, args, { cwd: root, env, stdio: 'inherit', shell: process.platform === 'win32' })
  return status === 0
}

/** Runs every step, also after one that failed, and gives back the titles of those that did. */
export function runAll(steps: Step[]): string[] {
  return steps
    .filter((step) => {
      console.log(`\n── ${step.title}`)
      return !run(step)
    })
    .map(({ title }) => title)
}
