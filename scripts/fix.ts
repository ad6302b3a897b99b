import { runAll } from './steps.ts'

// One after another: they write the same files.
const steps = [
  { title: 'lint', command: 'oxlint', args: ['--fix'] },
  { title: 'format', command: 'oxfmt', args: [] },
  { title: 'docs', command: 'node', args: ['scripts/docs.ts'] },
]
const failed = await runAll(steps, 1)
process.exitCode = failed.length > 0 ? 1 : 0
