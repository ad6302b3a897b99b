import { execFileSync } from 'node:child_process'
import { appendFileSync, rmSync } from 'node:fs'
import { devNull } from 'node:os'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { findChange } from './changed-files.ts'
import { checksOf, runAll } from './steps.ts'
import { createProject } from './testing/project.ts'

const identity = { GIT_AUTHOR_NAME: 'A', GIT_AUTHOR_EMAIL: 'a@b', GIT_COMMITTER_NAME: 'A', GIT_COMMITTER_EMAIL: 'a@b' }
const env = { ...process.env, ...identity, GIT_CONFIG_GLOBAL: devNull, GIT_CONFIG_SYSTEM: devNull }

test('what differs from main is what was committed since, staged, changed or added, and nothing that was deleted', () => {
  const names = ['committed', 'staged', 'changed', 'deleted', 'same']
  const folder = createProject([], {
    '.gitignore': 'node_modules\nignored.ts\n',
    'ignored.ts': '',
    ...Object.fromEntries(names.map((name) => [`${name}.ts`, '\n'])),
  })
  const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, env, stdio: 'pipe' })
  const change = (name: string) => appendFileSync(join(folder, `${name}.ts`), 'more\n')
  git('init', '--initial-branch', 'main')
  git('add', '.')
  git('commit', '--no-verify', '-m', 'start')
  expect(findChange(folder)?.files).toEqual([])
  git('update-ref', 'refs/remotes/origin/main', 'HEAD')
  appendFileSync(join(folder, 'same.ts'), 'more\n')
  git('commit', '--no-verify', '--all', '-m', 'not pushed')
  expect(findChange(folder)?.files).toEqual(['same.ts'])
  git('update-ref', '-d', 'refs/remotes/origin/main')
  git('switch', '--create', 'branch')
  change('committed')
  git('commit', '--no-verify', '--all', '-m', 'work')
  change('staged')
  git('add', '.')
  change('changed')
  change('新')
  rmSync(join(folder, 'deleted.ts'))
  expect(findChange(folder)?.files).toEqual(['changed.ts', 'committed.ts', 'staged.ts', '新.ts'])
})

test('where git has no commit there is nothing to compare with', () => {
  expect(findChange(createProject([], {}))).toBeNull()
})

const ran = (...files: string[]) => checksOf(files).map(({ command, args }) => [command, ...args].join(' '))

test('a change is checked with what takes its files alone, the types of all, and the tests that reach it', () => {
  expect(ran('src/core/quota.ts')).toEqual([
    expect.stringMatching(/^vitest related --run --project unit .* src\/core\/quota\.ts$/),
    'oxfmt --check --no-error-on-unmatched-pattern src/core/quota.ts',
    'oxlint --deny-warnings --no-error-on-unmatched-pattern src/core/quota.ts',
    expect.stringMatching(/^tsc /),
    'node scripts/check-i18n.ts',
  ])
  expect(ran('docs/api.md').join()).not.toContain('vitest')
  expect(ran()).toEqual([])
})

test('a changed rule is held against every file', () => {
  expect(ran('src/core/quota.ts', '.oxlintrc.json')).toContain('oxlint --deny-warnings')
  expect(ran('scripts/lint/boundaries.mjs')).toContain('oxlint --deny-warnings')
})

test('steps run beside each other, each prints in one piece, and those that failed are named in their order', async () => {
  const folder = createProject([], {})
  using log = vi.spyOn(console, 'log').mockImplementation(() => {})
  // Each waits for what the other writes: one after another they would never end.
  const step = (title: string, other: string, code: number) => ({
    title,
    command: 'node',
    args: [
      '--eval',
      `const { existsSync, writeFileSync } = require('node:fs')
      process.chdir(${JSON.stringify(folder)})
      console.log('begin of ${title}')
      writeFileSync('${title}', '')
      const end = () => (console.log('end of ${title}'), process.exit(${code}))
      setInterval(() => existsSync('${other}') && end(), 5)`,
    ],
  })
  expect(await runAll([step('one', 'other', 3), step('other', 'one', 0), step('last', 'one', 1)], 2)).toEqual([
    'one',
    'last',
  ])
  const printed = log.mock.calls.map(([text]) =>
    String(text)
      .replace(/\d+\.\d/, 'N')
      .trim(),
  )
  expect(printed.toSorted()).toEqual(
    ['last', 'one', 'other'].map((title) => `── ${title} (N s)\nbegin of ${title}\nend of ${title}`),
  )
})
