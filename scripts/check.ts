import { checks, runAll } from './steps.ts'

const failed = runAll([
  ...checks,
  { title: 'unit tests', command: 'vitest', args: ['run', '--project', 'unit', '--reporter', 'dot'] },
])
console.log(failed.length > 0 ? `\nfailed: ${failed.join(', ')}` : '\nall good')
process.exitCode = failed.length > 0 ? 1 : 0
