import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from '../steps.ts'

const pages = ['CONTRIBUTING.md', 'README.md']
const withCommands = [...pages, 'docs/operating.md', 'docs/benchmarks.md', 'docs/agents.md']
const withPaths = [...pages, 'docs/operating.md', 'docs/extending.md', 'docs/security.md']
const reference = globSync('docs/reference/*.md', { cwd: root })
const top = '(?:src|relay|db|client|test|scripts|docs|\\.githooks)'
/** Names of the examples that are described, which nobody keeps. */
const isExample = (path: string): boolean => /greetings|features\/notes|entities\/note\b/.test(path)

const textOf = (page: string): string => readFileSync(join(root, page), 'utf8')

test.each([...withPaths, ...reference])('%s names only files and folders that are there', (page) => {
  const text = textOf(page)
  const named = [...text.matchAll(new RegExp(`\`(${top}(?:/[\\w./-]+)?)\``, 'g'))].map(([, path = '']) => path)
  const linked = [...text.matchAll(/\]\((?!https?:)([^)#]+)\)/g)].map(([, path = '']) => join(dirname(page), path))
  const paths = [...named, ...linked].filter((path) => !isExample(path))
  expect(paths.length).toBeGreaterThan(0)
  expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([])
})

test.each(withCommands)('%s names only commands that npm knows', (page) => {
  const text = textOf(page)
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: object }
  const named = [...text.matchAll(/npm (?:run )?(start|test|(?<=run )[\w:-]+)/g)].map(([, name = '']) => name)
  expect(named.length).toBeGreaterThan(0)
  expect(named.filter((name) => !Object.hasOwn(scripts, name))).toEqual([])
})

test('a stream crosses as many files as the walk says, and no more than 35', () => {
  const text = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8')
  const rows = text
    .split('\n')
    .filter((line) => /^\| [\w ]*\| `relay\//.test(line) && !/retry\.ts|report-error\.ts/.test(line))
  const crossed = (other: string): number =>
    new Set(
      rows.filter((row) => !row.includes(`| ${other}: `)).flatMap((row) => row.match(/(?:relay|src)\/[\w./-]+\.ts/g)),
    ).size
  const [, passthrough, translated] = /passthrough stream crosses (\d+) .* translated one (\d+)/.exec(text) ?? []
  expect([crossed('translated'), crossed('passthrough')]).toEqual([Number(passthrough), Number(translated)])
  expect(crossed('passthrough')).toBeLessThanOrEqual(35)
})
