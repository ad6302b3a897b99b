import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { createBodyBudget } from './budget.ts'
import { readBody } from './read-body.ts'

const megabyte = 1024 * 1024
const most = 100 * megabyte
const rules = { address: '10.0.0.1', largest: most }

function bodiesOf({ idleMs = 30_000 } = {}) {
  const limits = { memory: most, memoryPerAddress: most, largest: most, idleMs, waitMs: 60_000 }
  return { limits, budget: createBodyBudget(limits) }
}

async function serve(answer: RequestListener) {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

test('a body that came at once may take longer to unpack than one that comes may be silent', async () => {
  const bodies = bodiesOf({ idleMs: 15 })
  await using server = await serve((req, res) => {
    readBody(bodies, { req, res }, rules).then(
      ({ bytes }) => res.end(String(bytes.length)),
      (error: unknown) => res.end(String(error)),
    )
  })
  const body = gzipSync(Buffer.alloc(60 * megabyte, ' '))
  const headers = { 'content-encoding': 'gzip' }
  const reply = await fetch(`http://127.0.0.1:${server.port}`, { method: 'POST', headers, body })
  expect(await reply.text()).toBe(String(60 * megabyte))
})

test('what is held for a request without a body is given back with its response', async () => {
  const bodies = bodiesOf()
  const held: number[] = []
  await using server = await serve(async (req, res) => {
    const { bytes, holding } = await readBody(bodies, { req, res }, rules)
    await holding.raise(2048)
    held.push(bodies.budget.heldBytes)
    res.end(String(bytes.length))
  })
  const reply = await fetch(`http://127.0.0.1:${server.port}`, { method: 'POST' })
  expect([await reply.text(), held]).toEqual(['0', [2048]])
  await expect.poll(() => bodies.budget.heldBytes).toBe(0)
})

test.each(['before it is read', 'while it is read'])(
  'a sender who hangs up %s ends the reading of a body that had come whole',
  async (when) => {
    const bodies = bodiesOf()
    const { promise: refused, resolve } = Promise.withResolvers<unknown>()
    await using server = await serve(async (req, res) => {
      await expect.poll(() => req.complete).toBe(true)
      if (when === 'before it is read') {
        client.destroy()
        await once(res, 'close')
      }
      const reading = readBody(bodies, { req, res }, rules)
      if (when === 'while it is read') req.destroy(new Error('aborted'))
      resolve(await reading.catch((error: unknown) => error))
    })
    const client = connect(server.port, '127.0.0.1')
    const body = gzipSync('body')
    client.write(`POST / HTTP/1.1\r\nhost: a\r\ncontent-encoding: gzip\r\ncontent-length: ${body.length}\r\n\r\n`)
    client.write(body)
    expect(await refused).toMatchObject({ code: 'input.unreadable' })
    expect(bodies.budget.heldBytes).toBe(0)
  },
)
