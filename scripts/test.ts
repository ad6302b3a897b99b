import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildConsole } from './console.ts'
import { checks, root, run, runAll } from './steps.ts'

type Counts = { passed: number; failed: number }

/** Runs tests; what went wrong outside of any test counts as a failed one. */
function runTests(filters: string[]): Counts {
  const folder = mkdtempSync(join(tmpdir(), 'test-report-'))
  const report = join(folder, 'report.json')
  const reporters = ['--reporter', 'default', '--reporter', 'json', `--outputFile.json=${report}`]
  const fine = run({ command: 'vitest', args: ['run', ...reporters, ...filters] })
  try {
    const counts: { numPassedTests: number; numFailedTests: number } = JSON.parse(readFileSync(report, 'utf8'))
    return { passed: counts.numPassedTests, failed: Math.max(fine ? 0 : 1, counts.numFailedTests) }
  } catch {
    return { passed: 0, failed: 1 }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function runEverything(): Counts {
  const broken = runAll(checks)
  console.log('\n── console')
  if (!buildConsole()) broken.push('console')
  console.log('\n── tests')
  const { passed, failed } = runTests([])
  if (broken.length > 0) console.log(`failed before the tests: ${broken.join(', ')}`)
  return { passed: passed + checks.length + 1 - broken.length, failed: failed + broken.length }
}

// `npm test -- test/rest` runs those tests alone.
const filters = process.argv.slice(2)
process.chdir(root)
const { passed, failed } = filters.length > 0 ? runTests(filters) : runEverything()
console.log(`\n${passed} passed, ${failed} failed`)
process.exitCode = failed > 0 ? 1 : 0
