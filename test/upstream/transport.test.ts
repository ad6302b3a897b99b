import { getEventListeners } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo, LookupFunction } from 'node:net'
import { createServer as createTcpServer, type Server as TcpServer } from 'node:net'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createTransport, type SendRequest, type Transport } from '#relay/transport/send.ts'
import { createSseParser } from '#relay/transport/sse.ts'
import { TransportError } from '#relay/transport/transport-error.ts'
import { startUpstream } from '#test/simulator/index.ts'
import { listenLocally } from '#test/support/local-server.ts'

let transport: Transport
const upstream = await startUpstream()
afterAll(() => upstream.close())
beforeEach(() => {
  upstream.clear()
  transport = createTransport()
})
afterEach(() => transport.close())

type Input = Partial<SendRequest> & { directives?: string; stream?: boolean; text?: string }

const requestOf = ({ directives, stream = true, text = 'one two three', ...rest }: Input = {}): SendRequest => ({
  method: 'POST',
  url: `${directives ? upstream.withDirectives(directives) : upstream.url}/v1/chat/completions`,
  headers: { authorization: 'Bearer sk-secret', 'content-type': 'application/json' },
  body: JSON.stringify({ model: 'm', stream, messages: [{ role: 'user', content: text }] }),
  ...rest,
})
const send = (input?: Input) => transport.send(requestOf(input))

/** The data of each event, as soon as its bytes are there. */
async function* eventsIn(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const events: string[] = []
  const parser = createSseParser({ onEvent: ({ data }) => events.push(data) })
  for await (const chunk of body) {
    parser.push(chunk)
    yield* events.splice(0)
  }
  parser.end()
  yield* events
}
async function eventsOf(body: AsyncIterable<Uint8Array>): Promise<string[]> {
  const list: string[] = []
  for await (const data of eventsIn(body)) list.push(data)
  return list
}

const failure = (kind: string, sent?: boolean) =>
  expect.objectContaining(sent === undefined ? { kind } : { kind, sent })

describe('an answer', () => {
  it('that goes on and on a byte at a time is given up when its whole time is over', async () => {
    const server = createServer((req, res) => {
      req.resume()
      res.writeHead(200)
      const drip = setInterval(() => res.write(' '), 20)
      res.on('close', () => clearInterval(drip))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    const limits = { firstByteTimeoutMs: 60_000, idleTimeoutMs: 60_000, totalTimeoutMs: 20_000 }
    const reply = await transport.send({ method: 'GET', url, headers: {}, ...limits })
    await expect(reply.text()).rejects.toEqual(failure('timeout-idle', true))
    server.closeAllConnections()
    server.close()
  })

  it('comes with status, headers and body, whatever the status', async () => {
    const reply = await send({ stream: false })
    expect([reply.status, reply.headers['content-type']]).toEqual([200, 'application/json'])
    expect(await reply.json()).toMatchObject({ choices: [{ message: { content: 'You said: one two three' } }] })
    const refused = await send({ directives: 'status=429,retryafter=3' })
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '3'])
    expect(await refused.text()).toContain('Simulated failure')
    expect(upstream.requests[0]?.headers['accept-encoding']).toBe('identity')
  })

  it('streams the same events in every framing, packing and cut', async () => {
    const words = { text: 'grüße 日本 𝄞' }
    const contents = async (directives: string) => {
      const events = await eventsOf((await send({ ...words, directives })).body)
      return events.map((data) => (data === '[DONE]' ? data : JSON.parse(data).choices[0].delta.content))
    }
    const plain = await contents('delay=0')
    expect(plain.slice(1, -2).join('')).toBe('You said: grüße 日本 𝄞')
    const ways = [
      'framing=crlf',
      'framing=cr',
      'onebyte',
      'split=3',
      'comments',
      'bom',
      'nospace',
      'multiline',
      'nofinal',
    ]
    const packings = ['encoding=gzip', 'encoding=br', 'encoding=zstd', 'encoding=deflate']
    for (const way of [...ways, ...packings, 'framing=crlf,comments,onebyte'])
      expect([way, await contents(way)]).toEqual([way, plain])
  })

  it('is unpacked, and its length and encoding headers are gone then', async () => {
    const reply = await send({ stream: false, directives: 'encoding=gzip' })
    expect(reply.headers).not.toHaveProperty('content-encoding')
    expect(reply.headers).not.toHaveProperty('content-length')
    expect(await reply.json()).toMatchObject({ object: 'chat.completion' })
  })

  it('of a streamed packing arrives event by event', async () => {
    // The second event never comes within the time of a test.
    const reply = await send({ directives: 'encoding=gzip,gap=3600000,events=4' })
    const { value } = await eventsIn(reply.body).next()
    expect(value).toContain('chat.completion.chunk')
  })

  it('that is a redirect is not followed', async () => {
    const reply = await send({
      method: 'GET',
      body: undefined,
      url: `${upstream.url}/media/redirect?to=${upstream.url}/v1/models`,
    })
    reply.cancel()
    expect(reply.status).toBe(302)
    expect(upstream.requests).toHaveLength(0)
  })

  it('keeps its connection for the next request when it was read', async () => {
    expect(
      await connectionsDuring(async (url) => {
        for (let count = 0; count < 20; count += 1) await (await transport.send({ ...requestOf(), url })).text()
      }),
    ).toBeLessThanOrEqual(2)
  })
})

/** How many connections a plain server sees. */
async function connectionsDuring(work: (url: string) => Promise<void>): Promise<number> {
  let connections = 0
  const server = createServer((request, response) => {
    request.resume()
    request.on('end', () => response.end('ok'))
  })
  server.on('connection', () => (connections += 1))
  await using listening = await listenLocally(server)
  await work(`${listening.url}/`)
  return connections
}

describe('time limits', () => {
  it('end the wait for the first byte, headers or not', async () => {
    const withoutHeaders = async (): Promise<void> => {
      const sending = send({ directives: 'hang', firstByteTimeoutMs: 20_000 })
      await expect(sending).rejects.toEqual(failure('timeout-first-byte', true))
    }
    const withHeaders = async (): Promise<void> => {
      const stalled = await send({ directives: 'stall=0', firstByteTimeoutMs: 20_000 })
      await expect(stalled.text()).rejects.toEqual(failure('timeout-first-byte'))
    }
    await Promise.all([withoutHeaders(), withHeaders()])
    await expect.poll(() => upstream.aborted).toBe(2)
  })

  it('end a silence, but not a slow answer', async () => {
    const silent = await send({ directives: 'stall=2', idleTimeoutMs: 80 })
    await expect(eventsOf(silent.body)).rejects.toEqual(failure('timeout-idle'))
    const slow = await send({ directives: 'gap=150,events=6', idleTimeoutMs: 30_000, firstByteTimeoutMs: 30_000 })
    expect(await eventsOf(slow.body)).toHaveLength(9)
  })

  it('end a connection that never comes about', async () => {
    const lost = createTransport({ resolve: () => {} })
    const start = performance.now()
    const sending = lost.send({ ...requestOf({ url: 'http://lost.test/' }), connectTimeoutMs: 200 })
    await expect(sending).rejects.toEqual(failure('timeout-connect', false))
    expect(performance.now() - start).toBeLessThan(30_000)
    await lost.close()
  })
})

describe('an abort of the caller', () => {
  it('reaches the upstream, before and during the answer', async () => {
    const gone = new AbortController()
    const reply = await send({ directives: 'gap=300', signal: gone.signal })
    const hanging = send({ directives: 'hang', signal: gone.signal })
    await expect.poll(() => upstream.open).toBe(2)
    gone.abort()
    await expect(hanging).rejects.toEqual(failure('aborted', true))
    await expect(eventsOf(reply.body)).rejects.toEqual(failure('aborted'))
    await expect.poll(() => [upstream.open, upstream.aborted]).toEqual([0, 2])
  })

  it('that came before sends nothing', async () => {
    await expect(send({ signal: AbortSignal.abort() })).rejects.toEqual(failure('aborted', false))
    expect(upstream.total).toBe(0)
  })

  it('in the shape of a loop left early ends the request', async () => {
    const reply = await send({ directives: 'gap=300' })
    for await (const chunk of reply.body) {
      expect(chunk.length).toBeGreaterThan(0)
      break
    }
    await expect.poll(() => upstream.aborted).toBe(1)
  })

  it('leaves no listener on a signal that lives on', async () => {
    const gone = new AbortController()
    await (await send({ stream: false, signal: gone.signal })).text()
    await expect(send({ directives: 'reset', signal: gone.signal })).rejects.toBeInstanceOf(TransportError)
    expect(getEventListeners(gone.signal, 'abort')).toHaveLength(0)
  })
})

describe('a failing connection', () => {
  it('distinguishes a refused one from a lost one', async () => {
    const closed = await new Promise<number>((resolve) => {
      const server: TcpServer = createTcpServer().listen(0, '127.0.0.1', () => {
        const { port } = server.address() as AddressInfo
        server.close(() => resolve(port))
      })
    })
    await expect(send({ url: `http://127.0.0.1:${closed}/` })).rejects.toEqual(failure('connect', false))
    await expect(send({ directives: 'reset' })).rejects.toEqual(failure('reset', true))
  })

  it('in the middle of an answer fails its reader after what had arrived', async () => {
    const reply = await send({ directives: 'cut=3' })
    const seen: string[] = []
    const reading = (async () => {
      for await (const data of eventsIn(reply.body)) seen.push(data)
    })()
    await expect(reading).rejects.toEqual(failure('reset', true))
    expect(seen).toHaveLength(3)
    const half = await send({ directives: 'fin=1', stream: false })
    await expect(half.text()).rejects.toEqual(failure('reset', true))
  })

  it('names neither address nor key', async () => {
    const error = await send({ url: 'http://127.0.0.1:1/v1?key=sk-secret' }).catch((reason: unknown) => reason)
    expect(String(error)).not.toMatch(/127|sk-secret/)
  })
})

describe('hostile answers', () => {
  it('are cut at the size limit', async () => {
    const reply = await send({ directives: 'big=5000000,words=1', stream: false })
    await expect(reply.text(1_000_000)).rejects.toEqual(failure('too-large'))
    const endless = await send({ directives: 'endless=1000000000' })
    await expect(eventsOf(endless.body)).rejects.toEqual(failure('too-large'))
    await expect.poll(() => [upstream.open, upstream.aborted]).toEqual([0, 2])
  })

  it('that are announced for ever and never begin are given up', async () => {
    const hint = 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'
    const server = createTcpServer((socket) => {
      const announce = (): void => {
        while (!socket.destroyed && socket.write(hint));
      }
      socket
        .on('error', () => {})
        .on('drain', announce)
        .once('data', announce)
    })
    const { port } = await new Promise<AddressInfo>((resolve) =>
      server.listen(0, '127.0.0.1', () => resolve(server.address() as AddressInfo)),
    )
    await expect(send({ url: `http://127.0.0.1:${port}/` })).rejects.toEqual(failure('bad-response', true))
    server.close()
  })

  it('with hints in front and trailers behind are read like any other', async () => {
    const reply = [
      'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n',
      'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\ntrailer: x-sum\r\n\r\n',
      '7\r\n{"a":1}\r\n0\r\nx-sum: 1\r\n\r\n',
    ]
    const server = createTcpServer((socket) => {
      socket.on('error', () => {}).on('data', () => socket.write(reply.join('')))
    })
    const { port } = await new Promise<AddressInfo>((resolve) =>
      server.listen(0, '127.0.0.1', () => resolve(server.address() as AddressInfo)),
    )
    // Over one connection: nothing of the first answer is taken for the second.
    for (const call of [1, 2]) {
      const answer = await send({ url: `http://127.0.0.1:${port}/` })
      expect([call, answer.status, await answer.json()]).toEqual([call, 200, { a: 1 }])
      expect(answer.headers).not.toHaveProperty('x-sum')
    }
    await transport.close()
    server.close()
  })

  it('with a false or unknown encoding are bad data', async () => {
    const lying = await send({ directives: 'header=content-encoding:gzip', stream: false })
    await expect(lying.text()).rejects.toEqual(failure('bad-response'))
    await expect(send({ directives: 'header=content-encoding:rot13' })).rejects.toEqual(failure('bad-response'))
    const broken = await send({ directives: 'malformed', stream: false })
    await expect(broken.json()).rejects.toEqual(failure('bad-response'))
  })
})

describe('what cannot be sent', () => {
  it('is refused without harm', async () => {
    for (const headers of [{ 'x-a': 'b\r\nx-c: d' }, { 'x-a': '中文' }, { 'bad name': 'x' }])
      await expect(send({ headers: headers as unknown as Record<string, string> })).rejects.toEqual(
        failure('bad-request', false),
      )
    for (const url of ['nonsense', 'file:///etc/passwd', 'gopher://a/', 'http://'])
      await expect(send({ url })).rejects.toEqual(failure('bad-url'))
    expect(upstream.total).toBe(0)
  })

  it('is anything to link-local and metadata addresses, in every spelling', async () => {
    const hosts = [
      '169.254.169.254',
      '2852039166',
      '0251.0376.0251.0376',
      '0xa9fea9fe',
      '[::ffff:169.254.169.254]',
      '[fe80::1]',
      'metadata.google.internal',
    ]
    for (const host of hosts) await expect(send({ url: `http://${host}/` })).rejects.toEqual(failure('bad-url', false))
  })

  it('is anything to a name that resolves there, checked when connecting', async () => {
    const answers = [['127.0.0.1'], ['127.0.0.1', '169.254.169.254']]
    const resolve: LookupFunction = (_name, _options, callback) => {
      const addresses = answers.shift() ?? []
      callback(
        null,
        addresses.map((address) => ({ address, family: 4 })),
      )
    }
    const rebound = createTransport({ resolve })
    const url = `http://rebinding.test:${upstream.port}/v1/models`
    const request = { method: 'GET' as const, headers: { authorization: 'Bearer k', connection: 'close' }, url }
    const first = await rebound.send({ ...request, connectTimeoutMs: 60_000 })
    expect(first.status).toBe(200)
    await first.text()
    await expect(rebound.send({ ...request, connectTimeoutMs: 60_001 })).rejects.toEqual(failure('bad-url', false))
    await rebound.close()
  })
})
