import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { createBodyBudget } from './budget.ts'
import { readBody } from './read-body.ts'

const megabyte = 1024 * 1024

test('a body that came at once may take longer to unpack than one that comes may be silent', async () => {
  const most = 100 * megabyte
  const limits = { memory: most, memoryPerAddress: most, largest: most, idleMs: 15, waitMs: 60_000 }
  const bodies = { limits, budget: createBodyBudget(limits) }
  const server = createServer((req, res) => {
    readBody(bodies, { req, res }, { address: '10.0.0.1', largest: most }).then(
      ({ bytes }) => res.end(String(bytes.length)),
      (error: unknown) => res.end(String(error)),
    )
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    const { port } = server.address() as AddressInfo
    const body = gzipSync(Buffer.alloc(60 * megabyte, ' '))
    const headers = { 'content-encoding': 'gzip' }
    const reply = await fetch(`http://127.0.0.1:${port}`, { method: 'POST', headers, body })
    expect(await reply.text()).toBe(String(60 * megabyte))
  } finally {
    server.close()
  }
})
