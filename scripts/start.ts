import cluster from 'node:cluster'
import { main } from '#src/server.ts'
import { buildConsole } from './console.ts'

// Workers run this file too; the console is built once.
if (cluster.isPrimary && !buildConsole()) {
  console.error('The console could not be built; see above.')
  process.exit(1)
}
await main()
