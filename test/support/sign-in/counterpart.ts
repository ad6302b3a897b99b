import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { listenLocally } from '../local-server.ts'

/** How a provider can answerWrongly at everything it is asked. */
export type Behaviour = 'normal' | 'silent' | 'broken' | 'page' | 'endless' | 'gone'

export type Asked = {
  method: string
  url: URL
  headers: IncomingMessage['headers']
  /** As the form or the JSON said it. */
  fields: Record<string, unknown>
}

/** `location` sends the browser there; everything else is JSON. */
export type Answer = { status?: number; location?: string; body?: unknown }

/** A web server of this machine that answers as the test says, or misbehaves at everything. */
export async function startCounterpart(answer: (asked: Asked) => Answer) {
  const state: { behaviour: Behaviour; asked: Asked[] } = { behaviour: 'normal', asked: [] }
  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = []
    for await (const chunk of req) chunks.push(chunk as Buffer)
    const asked = {
      method: req.method ?? '',
      url: new URL(req.url ?? '/', 'http://counterpart'),
      headers: req.headers,
      fields: fieldsOf(req, Buffer.concat(chunks).toString()),
    }
    state.asked.push(asked)
    if (state.behaviour !== 'normal') return answerWrongly(res, state.behaviour)
    const { status = 200, location, body = {} } = answer(asked)
    if (location === undefined) {
      res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    } else {
      res.writeHead(302, { location }).end()
    }
  })
  return {
    ...(await listenLocally(server)),
    asked: state.asked,
    behave: (behaviour: Behaviour) => void (state.behaviour = behaviour),
  }
}

function fieldsOf(req: IncomingMessage, text: string): Record<string, unknown> {
  if (text === '') return {}
  return req.headers['content-type']?.includes('json')
    ? (JSON.parse(text) as Record<string, unknown>)
    : Object.fromEntries(new URLSearchParams(text))
}

function answerWrongly(res: ServerResponse, behaviour: Exclude<Behaviour, 'normal'>): void {
  if (behaviour === 'silent') return
  if (behaviour === 'gone') return void res.destroy()
  if (behaviour === 'broken') return void res.writeHead(500).end('out of order')
  res.writeHead(200, { 'content-type': behaviour === 'page' ? 'text/html' : 'application/json' })
  if (behaviour === 'page') return void res.end('<!doctype html><title>Just a moment</title>')
  // A list that never ends, as fast as it is read.
  res.write('[')
  const more = (): void => {
    while (!res.destroyed && res.write(`"${'x'.repeat(65_536)}",`));
    if (!res.destroyed) res.once('drain', more)
  }
  more()
}

let serial = 0
export const fresh = (prefix: string): string => `${prefix}-${(serial += 1)}-${Date.now().toString(36)}`
