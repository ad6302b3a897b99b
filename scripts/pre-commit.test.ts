import { execFileSync, spawnSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { devNull } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createProject } from './testing/project.ts'

const ours = ['.githooks', '.oxfmtrc.json', '.oxlintrc.json', 'package.json', 'tsconfig.json', 'scripts/lint']
const scripts = ['setup.mjs', 'pre-commit.ts', 'steps.ts'].map((name) => `scripts/${name}`)

const { CI: _, ...inherited } = process.env
const identity = { GIT_AUTHOR_NAME: 'A', GIT_AUTHOR_EMAIL: 'a@b', GIT_COMMITTER_NAME: 'A', GIT_COMMITTER_EMAIL: 'a@b' }
const env = { ...inherited, ...identity, GIT_CONFIG_GLOBAL: devNull, GIT_CONFIG_SYSTEM: devNull }

function createRepository() {
  const folder = createProject([...ours, ...scripts], {
    'package-lock.json': '{ "packages": {} }',
    '.gitignore': 'node_modules\n',
    'src/page.ts': 'export const first = 1\n',
  })
  const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, env, encoding: 'utf8', stdio: 'pipe' })
  const setUp = (more: Record<string, string> = {}) =>
    execFileSync(process.execPath, ['scripts/setup.mjs'], { cwd: folder, env: { ...env, ...more } })
  git('init', '--initial-branch', 'main')
  git('add', '.')
  git('commit', '--no-verify', '-m', 'start')
  const write = (text: string) => writeFileSync(join(folder, 'src/page.ts'), text)
  const commit = () => spawnSync('git', ['commit', '-m', 'change'], { cwd: folder, env, encoding: 'utf8' })
  return { folder, git, setUp, write, commit }
}

test('after the set-up, what is staged is committed formatted', () => {
  const { git, setUp, write, commit } = createRepository()
  setUp()
  write('export const   first = "two";\n')
  git('add', '.')
  expect(commit()).toMatchObject({ status: 0 })
  expect(git('show', 'HEAD:src/page.ts')).toBe(`export const first = 'two'\n`)
  expect(git('status', '--porcelain')).toBe('')
})

test('of a file that is partly staged only that part is formatted and committed', () => {
  const { git, setUp, write, commit } = createRepository()
  setUp()
  write('export const first = "two";\n')
  git('add', '.')
  write('export const first = "two";\nexport const later = 3;\n')
  expect(commit()).toMatchObject({ status: 0 })
  expect(git('show', 'HEAD:src/page.ts')).toBe(`export const first = 'two'\n`)
  expect(git('diff')).toContain('+export const later = 3;')
})

test('a commit with a finding of the linter is refused, and the rule is named', () => {
  const { git, setUp, write, commit } = createRepository()
  setUp()
  write('export const first: any = 1\n')
  git('add', '.')
  const { status, stdout, stderr } = commit()
  expect(status).not.toBe(0)
  expect(stdout + stderr).toContain('no-explicit-any')
})

test('the set-up leaves alone whoever has hooks already, a build server, and a folder without git', () => {
  const { folder, git, setUp } = createRepository()
  setUp({ CI: 'true' })
  expect(() => git('config', 'core.hooksPath')).toThrow()
  git('config', 'core.hooksPath', '.husky')
  setUp()
  expect(git('config', 'core.hooksPath').trim()).toBe('.husky')
  rmSync(join(folder, '.git'), { recursive: true })
  setUp()
})
