import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from '../steps.ts'

const pattern = ['*', '{src,relay,db,client,scripts,test,docs}/**/*'].map((path) => `${path}.{ts,tsx,mjs,sql,md,json}`)
const files = globSync(pattern, { cwd: root, exclude: (path) => /package-lock\.json|node_modules/.test(path) })

test('no file cites a paper that is not in the repository', () => {
  const papers = new Set(files.filter((path) => path.endsWith('.md')).map((path) => basename(path)))
  const cited = files.flatMap((path) =>
    [...readFileSync(join(root, path), 'utf8').matchAll(/([\w-]+\.md)\b(?!['}])/g)].map(([, name = '']) => ({
      path,
      name,
    })),
  )
  expect(cited.length).toBeGreaterThan(10)
  expect(cited.filter(({ name }) => !papers.has(name))).toEqual([])
})
