/** Where a PostgreSQL server is. `host` may be the folder of a unix socket. */
export type ConnectionOptions = {
  host: string
  port?: number | undefined
  user: string
  password?: string | undefined
  database: string
  ssl?: boolean | undefined
}

/**
 * Reads `postgres://user:password@host:port/database?host=/socket/folder&sslmode=require`.
 * @throws when the address is not a PostgreSQL address.
 */
export function fromUrl(url: string): ConnectionOptions {
  const parsed = new URL(url)
  if (!/^postgres(ql)?:$/.test(parsed.protocol)) throw new Error('DATABASE_URL must start with postgres://')
  const sslmode = parsed.searchParams.get('sslmode')
  return {
    host: parsed.searchParams.get('host') ?? (parsed.hostname || 'localhost'),
    port: parsed.port ? Number(parsed.port) : undefined,
    user: decodeURIComponent(parsed.username || 'postgres'),
    password: parsed.password ? decodeURIComponent(parsed.password) : undefined,
    database: decodeURIComponent(parsed.pathname.slice(1) || 'postgres'),
    ssl: sslmode !== null && sslmode !== 'disable' ? true : undefined,
  }
}

/** The same address as text, for child processes. */
export function toUrl(connection: ConnectionOptions): string {
  const url = new URL('postgres://localhost')
  url.username = encodeURIComponent(connection.user)
  if (connection.password) url.password = encodeURIComponent(connection.password)
  url.pathname = encodeURIComponent(connection.database)
  if (connection.host.startsWith('/')) url.searchParams.set('host', connection.host)
  else url.hostname = connection.host
  if (connection.port) url.port = String(connection.port)
  if (connection.ssl) url.searchParams.set('sslmode', 'require')
  return url.href
}
