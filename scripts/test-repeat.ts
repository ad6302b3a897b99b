import { buildConsole } from './console.ts'
import { runTests, type TestRun } from './run-tests.ts'
import { root } from './steps.ts'

// `npm run test:repeat -- 20 test/browser`: shows that tests are green every time, or which are not.
const [times = '', ...filters] = process.argv.slice(2)
if (!/^[1-9]\d*$/.test(times)) throw new Error('npm run test:repeat -- <times> [filter …]')
process.chdir(root)
if (!buildConsole()) throw new Error('the console could not be built')
const runs: TestRun[] = []
while (runs.length < Number(times)) {
  console.log(`\n── run ${runs.length + 1} of ${times}`)
  runs.push(await runTests(filters))
}
runs.forEach(({ passed, failed, failures }, index) => {
  console.log(`\nrun ${index + 1}: ${passed} passed, ${failed} failed`)
  for (const failure of failures) console.log(failure)
})
const broken = runs.filter(({ failed }) => failed > 0).length
console.log(`\n${runs.length - broken} of ${runs.length} runs were green`)
process.exitCode = broken > 0 ? 1 : 0
