import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../steps.ts'

const english: Readonly<Record<string, string>> = Object.assign(
  {},
  ...globSync('client/**/en.json', { cwd: root }).map(
    (path) => JSON.parse(readFileSync(join(root, path), 'utf8')) as object,
  ),
)

/** A sentence of the screens in English; one without a translation as it is. */
export const translate = (sentence: string): string => english[sentence] ?? sentence
