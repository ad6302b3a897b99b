import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describeRoutes } from '../route-list.ts'
import { root } from '../steps.ts'
import { accessBlocks } from './access.ts'
import { admissionBlocks } from './admission.ts'
import { billingBlocks } from './billing.ts'
import { coverageBlocks } from './coverage.ts'
import { errorBlocks } from './errors.ts'
import { extendingBlocks } from './extending.ts'
import { ledgerBlocks } from './ledger.ts'
import type { Blocks } from './markdown.ts'
import { operatingBlocks } from './operating.ts'
import { optionBlocks } from './options.ts'
import { routingBlocks } from './routing.ts'
import { ruleBlocks } from './rules.ts'
import { translationBlocks } from './translation.ts'

/** What the code says on each page of docs/reference; everything outside the markers is written by hand. */
const pages: Readonly<Record<string, Blocks>> = {
  'access.md': accessBlocks,
  'admission.md': admissionBlocks,
  'billing.md': billingBlocks,
  'coverage.md': coverageBlocks,
  'errors.md': errorBlocks,
  'ledger.md': ledgerBlocks,
  'options.md': optionBlocks,
  'routing.md': routingBlocks,
  'rules.md': ruleBlocks,
  'translation.md': translationBlocks,
}

const marked = /<!-- generated: ([\w-]+) -->\n[^]*?<!-- end -->/g

/** The page with every generated part as the code has it now. */
export function fillIn(page: string, text: string, blocks: Blocks): string {
  const left = new Set(Object.keys(blocks))
  const filled = text.replace(marked, (_match, name: string) => {
    const block = blocks[name]
    if (!block) throw new Error(`${page} has a generated part that nothing generates: ${name}`)
    left.delete(name)
    return `<!-- generated: ${name} -->\n${block()}\n<!-- end -->`
  })
  if (left.size > 0) throw new Error(`${page} lacks generated parts: ${[...left].join(', ')}`)
  return filled
}

export type Document = { name: string; path: string; written: string; current: string }

/** Pages outside docs/reference that have generated parts. */
const guides: Readonly<Record<string, Blocks>> = { 'extending.md': extendingBlocks, 'operating.md': operatingBlocks }

function pageOf(name: string, path: string, blocks: Blocks): Document {
  const written = readFileSync(path, 'utf8')
  return { name, path, written, current: fillIn(name, written, blocks) }
}

/** Every page with generated parts, and docs/api.md, as written and as the code has them now. */
export function referencePages(): Document[] {
  const folder = join(root, 'docs/reference')
  const reference = readdirSync(folder)
    .filter((name) => name.endsWith('.md'))
    .map((name) => {
      const blocks = pages[name]
      if (!blocks)
        throw new Error(`docs/reference/${name} is held to nothing: name it in scripts/reference/documents.ts`)
      return pageOf(name, join(folder, name), blocks)
    })
  const api = join(root, 'docs/api.md')
  return [
    ...reference,
    ...Object.entries(guides).map(([name, blocks]) => pageOf(name, join(root, 'docs', name), blocks)),
    { name: 'api.md', path: api, written: readFileSync(api, 'utf8'), current: describeRoutes() },
  ]
}
