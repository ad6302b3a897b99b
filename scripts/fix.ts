import { runAll } from './steps.ts'

const failed = runAll([
  { title: 'lint', command: 'oxlint', args: ['--fix'] },
  { title: 'format', command: 'oxfmt', args: [] },
])
process.exitCode = failed.length > 0 ? 1 : 0
