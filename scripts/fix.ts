import { runAll } from './steps.ts'

const failed = runAll([
  { title: 'lint', command: 'oxlint', args: ['--fix'] },
  { title: 'format', command: 'oxfmt', args: [] },
  { title: 'docs', command: 'node', args: ['scripts/docs.ts'] },
])
process.exitCode = failed.length > 0 ? 1 : 0
