import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { root, runBeside } from './steps.ts'

type Outcome = { status: string; fullName: string; failureMessages: string[] | null }
type Report = {
  numPassedTests: number
  numFailedTests: number
  testResults: {
    name: string
    status: string
    message: string
    startTime: number
    endTime: number
    assertionResults: Outcome[]
  }[]
}

export type TestRun = {
  passed: number
  failed: number
  failures: string[]
  /** How long each file took that took long. */
  seconds: Record<string, number>
}

const longSeconds = 4

const secondsIn = ({ testResults }: Report): Record<string, number> =>
  Object.fromEntries(
    testResults
      .map(({ name, startTime, endTime }) => [relative(root, name), Math.round((endTime - startTime) / 1000)] as const)
      .filter(([, seconds]) => seconds >= longSeconds)
      .toSorted(([one], [other]) => (one < other ? -1 : 1)),
  )

const failuresIn = ({ testResults }: Report): string[] =>
  testResults.flatMap(({ name, status, message, assertionResults }) => {
    const file = relative(root, name)
    const failed = assertionResults.filter((outcome) => outcome.status === 'failed')
    if (failed.length === 0) return status === 'failed' ? [`${file}: ${message}`] : []
    return failed.map(({ fullName, failureMessages }) => `${file}: ${fullName}\n${(failureMessages ?? []).join('\n')}`)
  })

/** Runs tests; what went wrong outside of any test counts as a failed one. */
export async function runTests(filters: string[]): Promise<TestRun> {
  const folder = mkdtempSync(join(tmpdir(), 'test-report-'))
  const file = join(folder, 'report.json')
  const reporters = ['--reporter', 'default', '--reporter', 'json', `--outputFile.json=${file}`]
  const fine = await runBeside({ command: 'vitest', args: ['run', ...reporters, ...filters] })
  try {
    const report: Report = JSON.parse(readFileSync(file, 'utf8'))
    return {
      passed: report.numPassedTests,
      failed: Math.max(fine ? 0 : 1, report.numFailedTests),
      failures: failuresIn(report),
      seconds: secondsIn(report),
    }
  } catch {
    return { passed: 0, failed: 1, failures: ['the run ended without a report'], seconds: {} }
  } finally {
    rmSync(folder, { recursive: true })
  }
}
