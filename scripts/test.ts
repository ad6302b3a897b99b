import { writeFileSync } from 'node:fs'
import { runTests } from './run-tests.ts'
import { checks as quick, root, runAll, type Step, unused } from './steps.ts'

/** What the tests start. */
const build: Step = { title: 'console and server', command: 'node', args: ['scripts/build.ts'] }

/** The checks go on while the first tests wait for deadlines and processes, and leave them most of the cores. */
async function runEverything(): Promise<{ passed: number; failed: number }> {
  const checks = [...quick, unused]
  const checking = runAll(checks, 1)
  const unbuilt = await runAll([build])
  console.log('\n── tests')
  const { passed, failed, seconds } = await runTests([])
  if (flags.has('--record')) writeFileSync('scripts/testing/durations.json', `${JSON.stringify(seconds, null, 2)}\n`)
  const broken = [...unbuilt, ...(await checking)]
  if (broken.length > 0) console.log(`failed beside the tests: ${broken.join(', ')}`)
  return { passed: passed + checks.length + 1 - broken.length, failed: failed + broken.length }
}

// `npm test -- test/rest` runs those tests alone; `npm run test:long` runs long forms too; `npm test -- --record` writes down how
// long each file took, by which the next runs are ordered.
const args = process.argv.slice(2)
const flags = new Set(args.filter((argument) => ['--long', '--record'].includes(argument)))
const filters = args.filter((argument) => !flags.has(argument))
if (flags.has('--long')) process.env.TEST_LONG = '1'
process.chdir(root)
const { passed, failed } = await (filters.length > 0 ? runTests(filters) : runEverything())
console.log(`\n${passed} passed, ${failed} failed`)
process.exitCode = failed > 0 ? 1 : 0
