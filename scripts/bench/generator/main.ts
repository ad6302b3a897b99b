import { type Connections, createConnections } from './connections.ts'
import type { Load } from './load.ts'
import { runLoad } from './run-load.ts'

/** A process of its own: loads come in as messages, what was seen goes back. */
const origins = new Map<string, Connections>()

process.on('message', (load: Load) => {
  let connections = origins.get(load.origin)
  if (!connections) {
    connections = createConnections(load.origin)
    origins.set(load.origin, connections)
  }
  void runLoad(load, connections).then((result) => process.send?.(result))
})
process.on('disconnect', () => process.exit(0))
