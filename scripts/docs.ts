import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { referencePages } from './reference/documents.ts'

/** Writes docs/api.md and the generated parts of docs/reference anew; `--check` fails where one is out of date. */
const { values } = parseArgs({ options: { check: { type: 'boolean' } } })
const stale = referencePages().filter(({ written, current }) => written !== current)
for (const { path, current } of stale) {
  if (!values.check) writeFileSync(path, current)
  console.log(`${values.check ? 'out of date' : 'written'}: ${path}`)
}
if (values.check && stale.length > 0) {
  console.error('npm run docs brings the pages up to date')
  process.exitCode = 1
}
