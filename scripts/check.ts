import { parseArgs } from 'node:util'
import { findChange } from './changed-files.ts'
import { checks, checksOf, root, runAll, type Step, unitTests, unused } from './steps.ts'

/** Everything that needs neither a database nor a browser; `--changed` looks only at what differs from main. */
const { values } = parseArgs({ options: { changed: { type: 'boolean', default: false } } })

function stepsOfChange(): Step[] {
  const change = findChange(root)
  if (change === null) throw new Error('--changed compares with the branch main, and git tells of none here.')
  console.log(`${change.files.length} files differ from ${change.base.slice(0, 10)}`)
  return checksOf(change.files)
}

const startedAt = performance.now()
const steps = values.changed ? stepsOfChange() : [...checks, unused, unitTests]
const failed = await runAll(steps)
const ran = steps.map(({ title }) => title).join(', ') || 'nothing'
console.log(`\nran ${ran} in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`)
console.log(failed.length > 0 ? `failed: ${failed.join(', ')}` : 'all good')
process.exitCode = failed.length > 0 ? 1 : 0
