import { spawnSync } from 'node:child_process'
import { run } from './steps.ts'

function git(args: string[], input = ''): string {
  const { status, stdout, stderr } = spawnSync('git', args, { encoding: 'utf8', input })
  if (status !== 0) throw new Error(`git ${args[0]}: ${stderr}`)
  return stdout
}

const namesOf = (...args: string[]): string[] => git(['diff', '--name-only', '-z', ...args]).split('\0')

/** A file of which only a part is staged: that part is formatted, and the rest stays as its author left it. */
function formatStagedPart(file: string): boolean {
  const staged = git(['show', `:${file}`])
  const { status, stdout, stderr } = spawnSync('oxfmt', [`--stdin-filepath=${file}`], {
    encoding: 'utf8',
    input: staged,
    shell: process.platform === 'win32',
  })
  if (status !== 0) console.error(stderr)
  else if (stdout !== '' && stdout !== staged) {
    const [entry = ''] = git(['ls-files', '--stage', '--', file]).split(' ')
    const blob = git(['hash-object', '-w', '--stdin', '--path', file], stdout).trim()
    git(['update-index', '--cacheinfo', `${entry},${blob},${file}`])
  }
  return status === 0
}

const staged = namesOf('--cached', '--diff-filter=d').filter((name) =>
  /\.(tsx?|m[jt]s|js|json|css|html|ya?ml)$/.test(name),
)
const partly = new Set(namesOf())
const fullyStaged = staged.filter((name) => !partly.has(name))
const unmatched = '--no-error-on-unmatched-pattern'

const fine = [
  () => fullyStaged.length === 0 || run({ command: 'oxfmt', args: [unmatched, ...fullyStaged] }),
  () => fullyStaged.length === 0 || git(['add', '--', ...fullyStaged]) === '',
  () => staged.filter((name) => partly.has(name)).every(formatStagedPart),
  () => staged.length === 0 || run({ command: 'oxlint', args: ['--deny-warnings', unmatched, ...staged] }),
].every((step) => step())
process.exitCode = fine ? 0 : 1
