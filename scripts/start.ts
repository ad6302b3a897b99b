import cluster from 'node:cluster'
import { main } from '#server/main.ts'
import { buildConsole } from './console.ts'

const fail = (error: unknown): never => {
  const reason = error instanceof Error ? error : new Error(String(error))
  // What a setting or the machine is to blame for explains itself; a stack is for whoever looks into the code.
  console.error(`\nThe start failed. ${process.env.LOG_LEVEL === 'debug' ? reason.stack : reason.message}`)
  process.exit(1)
}

// Workers run this file too; the console is built once.
if (cluster.isPrimary && !buildConsole()) fail('The console could not be built; see above.')
await main().catch(fail)
