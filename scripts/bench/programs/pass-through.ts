import cluster from 'node:cluster'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:http'
import express, { type Request, type Response } from 'express'
import { Pool } from 'undici'

/**
 * The least a gateway can be: Express 5 and `undici.request` over one pool, streaming both ways. It knows no caller, counts
 * nothing and writes nothing down. `node pass-through.ts <upstream origin> <workers>`
 */
const [origin = '', workers = '1'] = process.argv.slice(2)

async function passThrough(pool: Pool, req: Request, res: Response): Promise<void> {
  const gone = new AbortController()
  res.on('close', () => gone.abort())
  const { statusCode, headers, body } = await pool.request({
    path: req.url,
    method: 'POST',
    headers: {
      'content-type': req.headers['content-type'],
      'content-length': req.headers['content-length'],
      authorization: req.headers.authorization,
    },
    body: req,
    signal: gone.signal,
  })
  const length = headers['content-length']
  res.writeHead(statusCode, {
    'content-type': String(headers['content-type']),
    ...(length ? { 'content-length': String(length) } : {}),
  })
  for await (const chunk of body) if (!res.write(chunk)) await once(res, 'drain', { signal: gone.signal })
  res.end()
}

function serve(): void {
  const pool = new Pool(origin, { connections: 4096, bodyTimeout: 0, headersTimeout: 0 })
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.post('/*path', (req, res) =>
    passThrough(pool, req, res).catch((error: unknown) => {
      if (res.headersSent) res.destroy()
      else res.status(502).send(String(error))
    }),
  )
  const server = createServer({ requestTimeout: 0, keepAliveTimeout: 75_000 }, app)
  server.listen(Number(process.env['PORT'] ?? 0), '127.0.0.1', () => {
    const { port } = server.address() as AddressInfo
    if (cluster.isPrimary) process.stdout.write(`ready on http://127.0.0.1:${port}\n`)
  })
}

if (cluster.isWorker || workers === '1') serve()
else {
  let ready = 0
  cluster.on('listening', (_worker, { port }) => {
    ready += 1
    if (ready === Number(workers)) process.stdout.write(`ready on http://127.0.0.1:${port}\n`)
  })
  for (let worker = 0; worker < Number(workers); worker += 1) cluster.fork({ PORT: '0' })
}
