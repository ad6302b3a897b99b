import { once } from 'node:events'
import { request } from 'node:http'
import { afterAll } from 'vitest'
import { WebSocket, type ClientOptions } from 'ws'
import { type App, startApp } from '#test/support/app.ts'
import type { TestToken } from '#test/support/factories.ts'
import { closeWithoutViolations, eventually } from '../relay/caller-dialects.ts'

/** 2.5 a token of text, output 4 times, audio input 8 times, audio output 16 times that. */
export const model = 'gpt-4o-realtime-preview'

/** What a response reserves: 500 tokens at 2.5. */
export const oneHold = 1250

type Event = { type: string } & Record<string, unknown>
type Closed = { code: number; reason: string }

/** The caller's end of a session, with everything it was sent. */
export type Session = {
  socket: WebSocket
  requestId: string
  events: Event[]
  say: (event: Event) => void
  /** The first event of a type that nobody has asked for yet. */
  next: (type: string) => Promise<Event>
  closed: Promise<Closed>
}

type OpenInput = {
  url: string
  key: string
  /** null: the address names none. */
  model?: string | null
  /** More of the address. */
  query?: string
  protocols?: string[]
  headers?: Record<string, string>
}

const addressOf = (url: string, name: string | null = model): string =>
  `${url.replace('http', 'ws')}/v1/realtime?${name === null ? '' : `model=${encodeURIComponent(name)}`}`

/** Opens a session and listens from its first event on. */
export async function open(input: OpenInput, options: ClientOptions = {}): Promise<Session> {
  const headers: Record<string, string> = input.protocols ? {} : { authorization: `Bearer sk-${input.key}` }
  const address = addressOf(input.url, input.model) + (input.query ?? '')
  const socket = new WebSocket(address, input.protocols ?? [], {
    ...options,
    headers: { ...headers, ...input.headers },
  })
  const events: Event[] = []
  const asked = new Map<string, number>()
  socket.on('message', (data: Buffer) => void events.push(readEvent(data)))
  const closed = new Promise<Closed>((resolve) =>
    socket.on('close', (code, reason) => resolve({ code, reason: reason.toString() })),
  )
  let requestId = ''
  socket.on('upgrade', (reply) => void (requestId = String(reply.headers['x-request-id'])))
  await once(socket, 'open')
  socket.on('error', () => {})
  return {
    socket,
    requestId,
    events,
    closed,
    say: (event) => socket.send(JSON.stringify(event)),
    next: async (type) => {
      const index = asked.get(type) ?? 0
      asked.set(type, index + 1)
      const found = await eventually(
        () => events.filter((event) => event.type === type)[index],
        (event) => event !== undefined,
      )
      if (!found) throw new Error(`no ${type} in ${JSON.stringify(events).slice(0, 2000)}`)
      return found
    },
  }
}

function readEvent(data: Buffer): Event {
  try {
    return JSON.parse(data.toString()) as Event
  } catch {
    return { type: 'unreadable', text: data.toString() }
  }
}

/** Says something and asks for an answer. */
export function ask(session: Session, text: string): void {
  session.say({
    type: 'conversation.item.create',
    item: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
  })
  session.say({ type: 'response.create' })
}

/** Asks and waits for the end of the answer. */
export async function converse(session: Session, text: string) {
  ask(session, text)
  return session.next('response.done')
}

export const errorOf = (event: Record<string, unknown>) =>
  event['error'] as { message: string; type: string; param: unknown; code: unknown }

/** The answer to a handshake that is refused, read as any program would. */
export function handshake(url: string, input: { path?: string; headers?: Record<string, string> }) {
  const { promise, resolve, reject } = Promise.withResolvers<{
    status: number
    headers: Record<string, unknown>
    text: string
  }>()
  const asking = request(url + (input.path ?? `/v1/realtime?model=${model}`), {
    headers: {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
      ...input.headers,
    },
  })
  asking.on('error', reject)
  asking.on('upgrade', (reply, socket) => {
    socket.destroy()
    resolve({ status: reply.statusCode ?? 0, headers: reply.headers, text: '' })
  })
  asking.on('response', (reply) => {
    let text = ''
    reply.on('data', (chunk: Buffer) => (text += chunk.toString()))
    reply.on('end', () => resolve({ status: reply.statusCode ?? 0, headers: reply.headers, text }))
  })
  asking.end()
  return promise
}

/** A product for one file of tests, with one realtime channel and a token on a rich account. */
export async function startRealtime(does = '', environment: Record<string, string> = {}) {
  const app = await startApp({ environment })
  afterAll(() => closeWithoutViolations(app))
  await app.make.channel({ models: model, baseUrl: does === '' ? app.upstream.url : app.upstream.withDirectives(does) })
  const user = await app.make.user({ quota: 10_000_000 })
  const token = await app.make.token(user)
  await app.settled()
  return {
    app,
    user,
    token,
    openSession: (more: Partial<OpenInput> = {}) => open({ url: app.url, key: token.key, ...more }),
  }
}

/** A new account with this much, and a token of it. */
export async function payerWith(app: App, quota: number): Promise<TestToken> {
  const token = await app.make.token(await app.make.user({ quota }))
  await app.settled()
  return token
}

export const openHolds = async (app: App, userId: number): Promise<number> =>
  Number(
    (await app.pool.query("select count(*) as n from holds where status = 'open' and user_id = $1", [userId])).rows[0]
      ?.n,
  )

/** Charges of one account, oldest first. */
export const chargesOf = async (app: App, userId: number) =>
  (await app.logs()).filter((row) => row.type === 2 && row.user_id === userId)

/** Waits until nothing is held for an account any more: its sessions are over. */
export async function untilFree(app: App, userId: number): Promise<void> {
  const held = await eventually(
    () => openHolds(app, userId),
    (count) => count === 0,
  )
  if (held !== 0) throw new Error(`${held} holds stay open`)
}
