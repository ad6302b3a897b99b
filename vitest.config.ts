import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { LongestFirst } from './scripts/testing/longest-first.ts'

const seconds = 1000
// Long forms of tests repeat what the short ones do, hundreds of times.
const isLong = process.env['TEST_LONG'] === '1'

// The products that tests start load hundreds of files each, and so does every worker: what was compiled once is kept. Both
// inherit it from here.
process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(new URL('node_modules/.cache/compiled', import.meta.url))

/**
 * A worker of its own for each of these files: they measure its memory or its time, replace modules, set its environment, or count on
 * being the first to use them. All others share a few workers, which load the product, and start a browser, once instead of two hundred
 * times.
 */
const isolated = [
  'test/demo/{bench,demo-start}.test.ts',
  'test/embedded/embedded.test.ts',
  'test/faults/{attackers,hanging-node,soak,wrong-clock}.test.ts',
  'test/framing/hostile-streams.test.ts',
  'test/limits/{bodies,floods,hostile-requests,untaken-answers,workers}.test.ts',
  'test/realtime/frame-memory.test.ts',
  'test/relay/{large-channel-table,pauses,spark}.test.ts',
  'test/rest/equal-work.test.ts',
  'test/upstream/memory.test.ts',
]

const expect = { poll: { timeout: 60 * seconds, interval: 10 } }

const system = {
  globalSetup: ['test/support/global-setup.ts'],
  // Real processes: a browser, a database and servers share the machine's cores with the tests.
  pool: 'forks',
  // Shared machines stall for seconds at a time. No test is tried again: one that needs it has a fault, or the product.
  testTimeout: (isLong ? 7200 : 600) * seconds,
  hookTimeout: 600 * seconds,
  expect,
} as const

export default defineConfig({
  test: {
    // Three more than there are cores: much of a system test is waiting for a deadline, a process or a browser. With two more a third
    // of the cores' time was left over.
    maxWorkers: Math.min(8, availableParallelism() + 3),
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['{src,relay,db,scripts,client}/**/*.test.{ts,tsx}'],
          testTimeout: system.testTimeout,
          expect,
          isolate: false,
        },
      },
      { extends: true, test: { ...system, name: 'isolated', include: isolated } },
      {
        extends: true,
        test: { ...system, name: 'system', include: ['test/**/*.test.{ts,tsx}'], exclude: isolated, isolate: false },
      },
    ],
  },
})
