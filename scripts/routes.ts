import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { describeRoutes } from './route-list.ts'
import { root } from './steps.ts'

/** Prints every route of the product; `--write` puts the list into docs/api.md, `--check` fails where that is out of date. */
const { values } = parseArgs({ options: { write: { type: 'boolean' }, check: { type: 'boolean' } } })
const path = join(root, 'docs/api.md')
const text = describeRoutes()
if (values.write) writeFileSync(path, text)
else if (!values.check) process.stdout.write(text)
else if (readFileSync(path, 'utf8') !== text) {
  console.error('docs/api.md is out of date: npm run routes -- --write')
  process.exitCode = 1
}
