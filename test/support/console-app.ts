import { afterAll } from 'vitest'
import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import express from 'express'
import { pino } from 'pino'
import type { OptionKey } from '#core/options/registry/index.ts'
import type { Role } from '#core/roles.ts'
import { Session } from '#db/entities/session.ts'
import { User } from '#db/entities/user.ts'
import { listenForChanges } from '#db/changes.ts'
import { connect } from '#db/orm.ts'
import { hashPassword } from '#features/auth/password.ts'
import type { Services } from '#features/deps.ts'
import { channelBalances, channelModels, channelTests } from '#jobs/channels.ts'
import { logClearing } from '#jobs/log-clearing.ts'
import { createJobRunner } from '#jobs/runner.ts'
import { createLimits } from '#features/limits/service.ts'
import { createBodies } from '#features/request-bodies/service.ts'
import { loadOptionRows, readWithin, setOptionsWithin } from '#features/options/service.ts'
import { createOptionsStore } from '#features/options/store.ts'
import { createSecrets, sha256 } from '#features/secrets/service.ts'
import { createGuardedFetch } from '#relay/transport/guarded-fetch.ts'
import type { Transport, UpstreamReply } from '#relay/transport/send.ts'
import { restTable } from '#server/rest-table.ts'
import { createRestRouter } from '#rest/mount.ts'
import { readEnvironment } from '#server/env.ts'
import { createCaller } from '#server/app-router.ts'
import { readJsonBody } from '#server/console-body.ts'
import { createContext } from '#server/context.ts'
import type { Context } from '#features/deps.ts'
import { createDatabase } from './database.ts'
import { listenLocally } from './local-server.ts'
import { withStartLimit } from './start-limit.ts'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const newId = (length: number) => Array.from(randomBytes(length), (byte) => alphabet[byte % 62]).join('')

const consoleJobs = [channelTests, channelBalances, channelModels, logClearing]

type Reply = { status: number; headers: Headers; text: string; body: Record<string, unknown>; data: unknown }
type Sending = { body?: unknown; headers?: Record<string, string>; query?: Record<string, string> }
export type Person = { id: number; username: string; role: Role; password: string }

/** The console's routes over a database of their own: REST over HTTP, tRPC in the process. Nothing else of the server runs. */
export const startConsole = withStartLimit(async function startConsole(environment: Record<string, string> = {}) {
  const settings = readEnvironment({ API_RATE_LIMIT: '0', CRITICAL_RATE_LIMIT: '0', ...environment })
  const testDatabase = await createDatabase()
  const database = await connect(testDatabase.connection, 10)
  const secrets = createSecrets('a secret key of tests')
  const options = createOptionsStore({
    load: () => loadOptionRows({ read: readWithin(database.orm.em.fork()), secrets }),
  })
  const outgoing = createOutgoing()
  const guardedFetch = createGuardedFetch({ allowedRanges: settings.OUTBOUND_ALLOW })
  const changes = await listenForChanges(testDatabase.connection, () => {})
  const services: Services = {
    database,
    options,
    secrets,
    // Calls of the relay reserve and settle; nothing here calls.
    ledger: undefined as unknown as Services['ledger'],
    limits: createLimits({}),
    bodies: createBodies(settings),
    transport: outgoing.transport,
    guardedFetch,
    // None runs by itself here.
    jobs: createJobRunner({ jobs: consoleJobs, services: () => services, changes }),
    // Nothing here caches rows.
    barrier: async () => {},
    upToDate: () => undefined,
    environment: settings,
    ambient: { now: () => new Date(), newId, random: Math.random },
    log: pino({ level: 'silent' }),
    version: '0.0.0-test',
    startedAt: new Date(),
  }
  const server = createServer(
    express()
      .disable('x-powered-by')
      .use(
        createRestRouter({
          services,
          table: restTable,
          callerOf: async (exchange, userId) => createCaller(await createContext(services, exchange, userId)),
          bodyOf: (exchange) => readJsonBody(services, exchange),
        }),
      ),
  )
  const listening = await listenLocally(server)
  const { url } = listening

  return {
    url,
    connection: testDatabase.connection,
    services,
    outgoing,
    em: () => database.orm.em.fork(),
    sql: async (text: string, values: unknown[] = []) =>
      (await database.pool.query(text, values)).rows as Record<string, unknown>[],
    setOptions: async (texts: Partial<Record<OptionKey, string>>) => {
      const nobody = { actor: null, client: { ip: '127.0.0.1' } }
      const em = database.orm.em.fork()
      await em.transactional((tx) => setOptionsWithin({ ...services, ...nobody, em: tx }, texts))
      await options.reload()
    },
    /** A user with a quick password hash shared by the file. */
    person: (fields: Partial<User> = {}) => makePerson(services, fields),
    /** A browser without a session. */
    browser: () => createBrowser(url),
    /** A browser signed in as the person. */
    signedIn: async (person: Person) => {
      const browser = createBrowser(url)
      browser.become(person.id, await plantSession(services, person.id))
      return browser
    },
    /** In-process tRPC as the person, fresh from the row; null without a session. */
    trpc: async (person: Person | null, changes: Partial<Context> = {}) =>
      createCaller(await contextOf(services, person, changes)),
    [Symbol.asyncDispose]: async () => {
      await listening[Symbol.asyncDispose]()
      await services.jobs.stop()
      await changes.close()
      await guardedFetch.close()
      await database.close()
      await testDatabase[Symbol.asyncDispose]()
    },
  }
})

export type ConsoleApp = Awaited<ReturnType<typeof startConsole>>

const commonPassword = 'correct horse'
let commonHash: Promise<string> | undefined

async function makePerson(services: Services, fields: Partial<User>): Promise<Person> {
  commonHash ??= hashPassword(commonPassword)
  const username = fields.username ?? `u${newId(8)}`
  const id = await services.database.orm.em
    .fork()
    .insert(User, { displayName: username, role: 1, passwordHash: await commonHash, ...fields, username })
  return { id, username, role: (fields.role ?? 1) as Role, password: commonPassword }
}

async function plantSession(services: Services, userId: number): Promise<string> {
  const id = randomBytes(32).toString('base64url')
  await services.database.orm.em
    .fork()
    .insert(Session, { idHash: sha256(id), userId, expiresAt: new Date(Date.now() + 3_600_000) })
  return id
}

async function contextOf(services: Services, person: Person | null, changes: Partial<Context>): Promise<Context> {
  const em = services.database.orm.em.fork()
  const row = person && (await em.findOneOrFail(User, { id: person.id }, { disableIdentityMap: true }))
  const sessionId = person && (await plantSession(services, person.id))
  return {
    ...services,
    em,
    actor: row && { id: row.id, username: row.username, role: row.role as Role, group: row.group, via: 'session' },
    refusal: null,
    session: { idHash: sessionId && sha256(sessionId) },
    client: { ip: '127.0.0.1', userAgent: '', secure: false, loopback: true, origin: 'http://localhost' },
    cookies: null,
    requestId: '',
    crossSite: false,
    ...changes,
  }
}

/** Keeps cookies like one, and sends the id along of whoever it became. */
export function createBrowser(url: string) {
  const jar = new Map<string, string>()
  let userId: number | null = null
  const send = async (method: string, path: string, { body, headers, query }: Sending = {}): Promise<Reply> => {
    const search = query ? `?${new URLSearchParams(query)}` : ''
    const reply = await fetch(`${url}${path}${search}`, {
      method,
      redirect: 'manual',
      headers: {
        ...(jar.size > 0 ? { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; ') } : {}),
        ...(userId === null ? {} : { 'x-user-id': String(userId) }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    for (const cookie of reply.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
      if (value === '') jar.delete(name)
      else jar.set(name, value)
    }
    const text = await reply.text()
    const parsed: unknown = text.startsWith('{') ? JSON.parse(text) : {}
    const envelope = parsed as Record<string, unknown>
    return { status: reply.status, headers: reply.headers, text, body: envelope, data: envelope['data'] }
  }
  return {
    get: (path: string, sending?: Sending) => send('GET', path, sending),
    post: (path: string, body: unknown = {}, sending?: Sending) => send('POST', path, { body, ...sending }),
    put: (path: string, body: unknown = {}, sending?: Sending) => send('PUT', path, { body, ...sending }),
    delete: (path: string, sending?: Sending) => send('DELETE', path, sending),
    /** Sends the id along from now on, with a session if one is given. */
    become: (id: number | null, session?: string) => {
      userId = id
      if (session !== undefined) jar.set('session', session)
    },
    login: async (person: { username: string; password: string }) => {
      const reply = await send('POST', '/api/user/login', {
        body: { username: person.username, password: person.password },
      })
      if (reply.body['success'] === true) userId = (reply.data as { id: number }).id
      return reply
    },
    session: () => jar.get('session'),
  }
}

export type Browser = ReturnType<typeof createBrowser>

/** Requests that would leave the machine are answered here. */
function createOutgoing() {
  const requests: { url: string; body: string }[] = []
  let answer: (request: { url: string; body: string }) => string | Promise<string> = () => '{}'
  const transport: Transport = {
    send: async ({ url, body }) => {
      const request = { url, body: typeof body === 'string' ? body : Buffer.from(body ?? '').toString() }
      requests.push(request)
      const text = await answer(request)
      return {
        status: 200,
        headers: {},
        bytes: async () => Buffer.from(text),
        text: async () => text,
        json: async () => JSON.parse(text),
      } as UpstreamReply
    },
    openSocket: () => Promise.reject(new Error('the console opens no sockets')),
    close: async () => {},
  }
  return {
    transport,
    requests,
    answerWith: (next: typeof answer) => {
      answer = next
    },
  }
}

/** The code by which a call was refused. */
export const codeOf = async (call: Promise<unknown>): Promise<unknown> => {
  const error = await call.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  const { cause, code } = error as { cause?: { code?: string }; code?: string }
  return cause?.code ?? code
}

/** The same for one file of tests, with which it ends. */
export async function startFileConsole(environment?: Record<string, string>): Promise<ConsoleApp> {
  const app = await startConsole(environment)
  afterAll(() => app[Symbol.asyncDispose]())
  return app
}

/** What a documented path answers a refused call with. */
export const refused = (message: string) => ({ status: 200, body: { success: false, message } })
