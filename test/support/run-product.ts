import { flushCompileCache } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { main } from '#server/main.ts'
import { patientWaits } from './patient-waits.ts'

// The product without the building of its console: what the tests of processes start, as it was built once for all of them, or from
// its sources where SERVER_BUILD is empty. Workers run this file too.
const build = process.env['SERVER_BUILD']
const server = (await import(build ? pathToFileURL(join(build, 'main.js')).href : '#server/main.ts')) as {
  main: typeof main
}
await server.main(process.env['PATIENT'] ? patientWaits : {}).catch((error: unknown) => {
  process.stderr.write(`\nThe start failed. ${error instanceof Error ? error.message : String(error)}\n`)
  process.exit(1)
})

// Those that tests kill cannot write down at their end what they compiled.
flushCompileCache()
