import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { describeRoutes } from './route-list.ts'
import { type Document, referencePages } from './reference/documents.ts'
import { root } from './steps.ts'

const api = join(root, 'docs/api.md')
const documents: Pick<Document, 'path' | 'written' | 'current'>[] = [
  ...referencePages(),
  { path: api, written: readFileSync(api, 'utf8'), current: describeRoutes() },
]

/** Writes docs/api.md and the generated parts of docs/reference anew; `--check` fails where one is out of date. */
const { values } = parseArgs({ options: { check: { type: 'boolean' } } })
const stale = documents.filter(({ written, current }) => written !== current)
for (const { path, current } of stale) {
  if (!values.check) writeFileSync(path, current)
  console.log(`${values.check ? 'out of date' : 'written'}: ${path}`)
}
if (values.check && stale.length > 0) {
  console.error('npm run docs brings the pages up to date')
  process.exitCode = 1
}
