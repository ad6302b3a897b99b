import { writeFileSync } from 'node:fs'
import { runTests } from './run-tests.ts'
import { checks as quick, root, runAll, type Step, unused } from './steps.ts'

/** What the tests start: built beside the checks, since it has work for one core only. */
const build: Step = { title: 'console and server', command: 'node', args: ['scripts/build.ts'] }
const checks = [...quick, unused, build]

async function runEverything(): Promise<{ passed: number; failed: number }> {
  const broken = await runAll(checks)
  console.log('\n── tests')
  const { passed, failed, seconds } = runTests([])
  if (flags.has('--record')) writeFileSync('scripts/testing/durations.json', `${JSON.stringify(seconds, null, 2)}\n`)
  if (broken.length > 0) console.log(`failed before the tests: ${broken.join(', ')}`)
  return { passed: passed + checks.length - broken.length, failed: failed + broken.length }
}

// `npm test -- test/rest` runs those tests alone; `npm run test:long` runs long forms too; `npm test -- --record` writes down how
// long each file took, by which the next runs are ordered.
const args = process.argv.slice(2)
const flags = new Set(args.filter((argument) => ['--long', '--record'].includes(argument)))
const filters = args.filter((argument) => !flags.has(argument))
if (flags.has('--long')) process.env.TEST_LONG = '1'
process.chdir(root)
const { passed, failed } = filters.length > 0 ? runTests(filters) : await runEverything()
console.log(`\n${passed} passed, ${failed} failed`)
process.exitCode = failed > 0 ? 1 : 0
