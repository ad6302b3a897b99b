import type { ClientBase, QueryConfig } from 'pg'

/** How long a busy database is waited for. */
export type ConnectionWaits = {
  /** Milliseconds that whoever finds no free connection waits for one, in turn, before it is refused: 15 seconds unless given. */
  waitMs?: number | undefined
  /** Milliseconds that a look at tables that grow without end may take: 5 seconds unless given. */
  readMs?: number | undefined
  /**
   * Milliseconds that a statement which calls wait for may take, and the wait for its connection: 4 seconds unless given. Given, so
   * long calls wait for what they set aside and are charged, too.
   */
  callMs?: number | undefined
}

/** Where a PostgreSQL database is, in the words that both `pg` and MikroORM take. */
export type ConnectionOptions = ConnectionWaits & {
  /** A name, an address, or an absolute folder: then the unix socket in it. */
  host: string
  port?: number | undefined
  user: string
  password?: string | undefined
  database: string
  ssl?: boolean | { rejectUnauthorized: boolean } | undefined
}

const sslOf = (mode: string | null): ConnectionOptions['ssl'] => {
  switch (mode) {
    case null:
    case 'disable':
    case 'allow':
    case 'prefer':
      return undefined
    // As in libpq, `require` encrypts without asking who is there; the verify modes ask.
    case 'require':
    case 'no-verify':
      return { rejectUnauthorized: false }
    case 'verify-ca':
    case 'verify-full':
      return true
    default:
      throw new Error(`unknown sslmode "${mode}" in the database address`)
  }
}

/**
 * Reads `postgres://user:password@host:port/database?sslmode=…`. A socket folder stands where libpq has it:
 * `postgres://user@/database?host=/folder`, or percent-encoded in the place of the host.
 */
export function fromUrl(url: string): ConnectionOptions {
  const parsed = URL.parse(url) ?? URL.parse(url.replace('@/', '@localhost/'))
  if (!parsed || !/^postgres(ql)?:$/.test(parsed.protocol)) {
    throw new Error('a database address has the form postgres://user:password@host:port/database')
  }
  const query = parsed.searchParams
  const port = parsed.port || query.get('port')
  const user = decodeURIComponent(parsed.username) || query.get('user') || 'postgres'
  const password = decodeURIComponent(parsed.password) || query.get('password')
  const ssl = sslOf(query.get('sslmode'))
  return {
    // pg takes an IPv6 address bare, a URL has brackets around it.
    host: query.get('host') || decodeURIComponent(parsed.hostname).replace(/^\[(.*)\]$/, '$1') || 'localhost',
    ...(port ? { port: Number(port) } : {}),
    user,
    ...(password ? { password } : {}),
    database: decodeURIComponent(parsed.pathname.slice(1)) || user,
    ...(ssl === undefined ? {} : { ssl }),
  }
}

/** The address of a database in the form that `fromUrl` and libpq's programs read. */
export function toUrl({ host, port, user, password, database, ssl }: ConnectionOptions): string {
  const isFolder = host.startsWith('/')
  const bracketed = host.includes(':') ? `[${host}]` : host
  const query = new URLSearchParams({
    ...(isFolder ? { host } : {}),
    ...(ssl ? { sslmode: ssl === true || ssl.rejectUnauthorized ? 'verify-full' : 'require' } : {}),
  })
  return [
    `postgres://${encodeURIComponent(user)}`,
    password ? `:${encodeURIComponent(password)}` : '',
    `@${isFolder ? 'localhost' : bracketed}`,
    port ? `:${port}` : '',
    `/${encodeURIComponent(database)}`,
    query.size > 0 ? `?${query}` : '',
  ].join('')
}

/**
 * Set in every session once it is open, for a pooler in between refuses most of these as parameters of the opening.
 * Hours and days are those of UTC, whatever zone the server is set to: in one that is half an hour off, hours of charges would
 * begin in the middle of those that look-ups and sums know. The server shall notice within half a minute that our machine is
 * gone, also while an answer is on its way, for until then the session keeps its locks; without effect on a unix socket.
 */
const sessionSettings = [
  "set timezone = 'UTC'",
  'set tcp_keepalives_idle = 10',
  'set tcp_keepalives_interval = 5',
  'set tcp_keepalives_count = 3',
  'set tcp_user_timeout = 30000',
].join('; ')

/**
 * Whoever waits for the answer of a server that is gone notices in half a minute too. After a failover a connection may lead to
 * a server that only reads: none stays for ever.
 */
export const poolSettings = { keepAlive: true, keepAliveInitialDelayMillis: 10_000, maxLifetimeSeconds: 600 }

/** A statement whose answer is waited for so many milliseconds: the driver takes the limit for each, its types do not know it. */
export type TimedQuery = QueryConfig & { query_timeout: number }

/** Sets up a session that was just opened; whoever opens it does not wait for ever, but for `longestMs`. */
export async function beginSession(
  client: Pick<ClientBase, 'query'>,
  more: readonly string[] = [],
  longestMs = 5000,
): Promise<void> {
  const asked: TimedQuery = {
    text: [sessionSettings, ...more].join('; '),
    query_timeout: longestMs,
  }
  await client.query(asked)
}
