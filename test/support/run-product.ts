import { flushCompileCache } from 'node:module'
import { main } from '#server/main.ts'

// The product without the building of its console: what the tests of processes start. Workers run this file too.
await main().catch((error: unknown) => {
  process.stderr.write(`\nThe start failed. ${error instanceof Error ? error.message : String(error)}\n`)
  process.exit(1)
})

// Those that tests kill cannot write down at their end what they compiled.
flushCompileCache()
