import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

test('a quick benchmark of the real processes ends with a log row for every answer', async () => {
  const args = ['scripts/bench/index.ts', '--quick', '--only', 'throughput']
  const { stdout } = await promisify(execFile)(process.execPath, args)
  expect(stdout).toContain('throughput of the bare, 256 connections')
  expect(stdout).toContain('Every answer has its log row and all sums agree.')
})
