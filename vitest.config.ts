import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

const seconds = 1000

export default defineConfig({
  test: {
    // One more than there are cores: much of a system test is waiting for a deadline, a process or a browser.
    maxWorkers: Math.min(8, availableParallelism() + 1),
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['{src,relay,db,scripts,client}/**/*.test.{ts,tsx}'],
          testTimeout: 60 * seconds,
        },
      },
      {
        extends: true,
        test: {
          name: 'system',
          include: ['test/**/*.test.{ts,tsx}'],
          globalSetup: ['test/support/global-setup.ts'],
          // Real processes: a browser, a database and servers share the machine's cores with the tests.
          pool: 'forks',
          // Shared machines stall for seconds at a time; on the build machine a stalled test gets another try.
          retry: process.env['CI'] ? 2 : 0,
          testTimeout: 180 * seconds,
          hookTimeout: 120 * seconds,
        },
      },
    ],
  },
})
