import cluster from 'node:cluster'
import { buildConsole } from './console.ts'
import { buildServer, loadServer } from './server-build.ts'

const fail = (error: unknown): never => {
  const reason = error instanceof Error ? error : new Error(String(error))
  // What a setting or the machine is to blame for explains itself; a stack is for whoever looks into the code.
  console.error(`\nThe start failed. ${process.env.LOG_LEVEL === 'debug' ? reason.stack : reason.message}`)
  process.exit(1)
}

// Workers run this file too; what is built is built once, and they run what the first process runs.
if (cluster.isPrimary) {
  if (!buildConsole()) fail('The console could not be built; see above.')
  process.env['SERVER_BUILD'] = buildServer() ?? ''
}
const { main } = await loadServer(process.env['SERVER_BUILD'] || null)
await main().catch(fail)
