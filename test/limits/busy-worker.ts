import { readSync } from 'node:fs'
import { createClusterStore } from '#features/limits/cluster-store.ts'

// A worker that has other work for longer than it waits for a count; it says what it was counted.
const { uses } = createClusterStore(1000)
const counted = uses({ name: 'test', key: 'one', seconds: 60, by: 1 }).catch(String)
const until = performance.now() + 1200
while (performance.now() < until);
// Its input ends when the count has been sent: until then whoever counts may be held up.
readSync(0, Buffer.alloc(1))
process.send?.({ counted: await counted })
process.disconnect()
