import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url))

/** Our own programs first, Node among them: whoever starts a script without npm has another one in front. */
const PATH = `${root}node_modules/.bin${delimiter}${process.env.PATH ?? ''}`

export type Step = { title: string; command: string; args: string[] }

const script = (title: string, path: string): Step[] =>
  existsSync(`${root}${path}`) ? [{ title, command: 'node', args: [path] }] : []

/** What costs seconds and needs neither a database nor a browser. */
export const checks: Step[] = [
  { title: 'format', command: 'oxfmt', args: ['--check'] },
  { title: 'lint', command: 'oxlint', args: ['--deny-warnings'] },
  { title: 'types', command: 'tsc', args: ['--noEmit'] },
  ...script('i18n', 'scripts/check-i18n.ts'),
]

/** Runs a program with its output on ours. */
export function run({ command, args }: Omit<Step, 'title'>): boolean {
  const env = { ...process.env, PATH }
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
