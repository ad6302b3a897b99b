import { randomBytes } from 'node:crypto'
import superjson from 'superjson'
import { type ErrorCode, errors } from '#core/errors.ts'
import type { App } from '#test/support/app.ts'
import type { TestUser } from '#test/support/factories.ts'
import type { RestSending } from './rest-calls.ts'

/** What came of a call: `ok`, a code of the error catalogue, or the bare status where no code says it. */
export type Outcome = { status: number; outcome: string; text: string }

const escaped = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')

const messages = Object.entries(errors).map(([code, { message }]) => ({
  code: code as ErrorCode,
  pattern: new RegExp(`^${escaped(message).replaceAll(/\\\{\w+\\\}/g, '[^]*')}$`),
  length: message.replaceAll(/\{\w+\}/g, '').length,
}))

/** The code whose message this is: the one that says most, where several do; of equals the relay's where the relay says it. */
function codeOfMessage(message: string, isOfRelay = false): ErrorCode | undefined {
  const rank = ({ code, length }: (typeof messages)[number]) =>
    length + (code.startsWith('relay.') === isOfRelay ? 0.5 : 0)
  return messages
    .filter(({ pattern, length }) => length > 0 && pattern.test(message))
    .toSorted((left, right) => rank(right) - rank(left))[0]?.code
}

/** Each call comes from a network of its own, so that limits of guessing stay out of the way. */
const fromAnywhere = () => ({
  'x-forwarded-for': `2001:db8:${randomBytes(4)
    .toString('hex')
    .replace(/(.{4})/, '$1:')}::1`,
})

/** The headers of a browser that is signed in, or of one that is not. */
export const signedIn = (app: App, user: TestUser | null): Record<string, string> => ({
  ...(user ? { cookie: `session=${user.sessionId}`, 'x-user-id': String(user.id) } : {}),
  origin: app.url,
})

type ProcedureCall = { path: string; type: 'query' | 'mutation'; input?: unknown; body?: string }

export async function callProcedure(
  app: App,
  user: TestUser | null,
  { path, type, input, body }: ProcedureCall,
): Promise<Outcome> {
  const written = body ?? JSON.stringify(superjson.serialize(input))
  const query = type === 'query' ? `?input=${encodeURIComponent(written)}` : ''
  const reply = await fetch(`${app.url}/trpc/${path}${query}`, {
    method: type === 'query' ? 'GET' : 'POST',
    headers: { ...signedIn(app, user), ...fromAnywhere(), 'content-type': 'application/json' },
    ...(type === 'query' ? {} : { body: written }),
  })
  const text = await reply.text()
  const code = /"domainCode":"([^"]+)"/.exec(text)?.[1]
  return { status: reply.status, outcome: reply.ok ? 'ok' : (code ?? `status ${reply.status}`), text }
}

type Credential = 'session' | 'access-token'
type RestCall = RestSending & { key: string; credential?: Credential; headers?: Record<string, string> }

export async function callRest(app: App, user: TestUser | null, call: RestCall): Promise<Outcome> {
  const [method = '', path = ''] = call.key.split(' ')
  const address = path.replaceAll(/:\w+/g, encodeURIComponent(String(call.id ?? 1)))
  const query = call.query ? `?${new URLSearchParams(call.query)}` : ''
  const byToken = user && call.credential === 'access-token'
  const headers = byToken ? { authorization: user.accessToken, 'x-user-id': String(user.id) } : signedIn(app, user)
  const reply = await fetch(app.url + address + query, {
    method,
    redirect: 'manual',
    headers: { ...headers, ...fromAnywhere(), 'content-type': 'application/json', ...call.headers },
    ...(method === 'GET' || call.body === undefined
      ? {}
      : { body: typeof call.body === 'string' ? call.body : JSON.stringify(call.body) }),
  })
  const text = await reply.text()
  return { status: reply.status, outcome: restOutcome(reply.status, text), text }
}

function restOutcome(status: number, text: string): string {
  if (text.startsWith('<!doctype html>')) return status === 200 ? 'ok' : `status ${status}`
  if (!text.startsWith('{')) return status === 200 ? `text ${text}` : `status ${status}`
  const body = JSON.parse(text) as { success?: boolean; message?: string; data?: unknown }
  const isRefused = body.success === false || body.message === 'error'
  if (!isRefused) return status < 300 ? 'ok' : `status ${status}`
  const message = body.message === 'error' ? String(body.data) : (body.message ?? '')
  return codeOfMessage(message) ?? `status ${status}`
}

type RelayCall = { method: string; path: string; body?: unknown; headers?: Record<string, string> }

export async function callRelay(app: App, { method, path, body, headers }: RelayCall): Promise<Outcome> {
  const reply = await fetch(app.url + path, {
    method,
    headers: { ...(body instanceof FormData ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(method === 'GET' || body === undefined
      ? {}
      : { body: typeof body === 'string' || body instanceof FormData ? body : JSON.stringify(body) }),
  })
  const text = await reply.text()
  return { status: reply.status, outcome: relayOutcome(reply.status, text), text }
}

/** Every dialect says its message somewhere below one of these names. */
function relayOutcome(status: number, text: string): string {
  if (status < 300 && !text.startsWith('{"error":')) return /^\[\]$|"data":\[\]/.test(text) ? 'empty' : 'ok'
  const quoted = /"(?:message|description)":"((?:[^"\\]|\\.)*)"/.exec(text)?.[1] ?? ''
  const message = (JSON.parse(`"${quoted}"`) as string).replace(/ ?\(request id: [^)]*\)$/, '').trim()
  return codeOfMessage(message, true) ?? `status ${status}`
}
