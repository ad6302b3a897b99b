import type { EntityManager } from '@mikro-orm/postgresql'
import type { Logger } from 'pino'
import type { Ambient } from '#core/ambient.ts'
import type { DomainError, Language } from '#core/errors.ts'
import type { Role } from '#core/roles.ts'
import type { Database } from '#db/orm.ts'
import type { JobRunner } from './jobs/runner.ts'
import type { CheckingFetch } from '#relay/transport/guarded-fetch.ts'
import type { Transport } from '#relay/transport/send.ts'
import type { Environment } from '#core/environment.ts'
import type { Ledger } from './ledger/service.ts'
import type { Limits } from './limits/service.ts'
import type { Bodies } from './request-bodies/service.ts'
import type { OptionsStore } from './options/store.ts'
import type { Secrets } from './secrets/service.ts'

/** What lives as long as the process. Built once in the composition root. */
export type Services = {
  database: Database
  options: OptionsStore
  secrets: Secrets
  ledger: Ledger
  limits: Limits
  /** What the bodies of requests may take. */
  bodies: Bodies
  transport: Transport
  /** For addresses that ordinary people choose. */
  guardedFetch: CheckingFetch
  jobs: JobRunner
  /**
   * Resolves once every living node has caught up with what was committed before the call, or after half a second. Whoever
   * changes cached rows outside of a mutation awaits it before saying that it is done; mutations do it by themselves.
   */
  barrier: () => Promise<void>
  /**
   * Awaited before cached rows are used. Nothing while notices arrive; else a promise that resolves once what has
   * changed was read. @throws when the database does not answer
   */
  upToDate: () => Promise<void> | undefined
  environment: Environment
  ambient: Ambient
  log: Logger
  /** Of the product, as status and setup record show it. */
  version: string
  startedAt: Date
}

/** Who is asking, fresh from the user row. */
export type Actor = {
  id: number
  username: string
  role: Role
  group: string
  via: 'session' | 'access-token'
  /** Of the system access token that named them; absent where a session did. */
  accessTokenHash?: string
}

/** The browser's session of a request, signed in or not. */
type SessionHandle = {
  /** Null while the browser has none. */
  idHash: string | null
}

/** What a service gets: the process's services, a database fork of its own, and who asks from where. */
export type Deps = Services & {
  em: EntityManager
  /** Null on public calls without a session. */
  actor: Actor | null
  session: SessionHandle
  client: {
    /** The peer's, or what trusted proxies say of it (`TRUST_PROXY`). */
    ip: string
    userAgent: string
    /** What the browser asks to be answered in. */
    language?: Language
    /** `https` behind TLS, seen through trusted proxies only. */
    secure: boolean
    /** The connection's own peer is this machine and no proxy header came along. */
    loopback: boolean
    /** `scheme://host` the browser sees. */
    origin: string
    /** The page that asks, as the browser names it (`Origin`, else `Referer`), whatever a proxy made of the host; "" where it names none. */
    page?: string
    /** It came through a proxy that `TRUST_PROXY` does not name, so that `ip` is the proxy's. */
    unknownProxy?: true
  }
  /** The reply's cookies; null in calls that have no reply (jobs, tests). */
  cookies: { set: (name: string, value: string, maxAgeSeconds: number) => void; clear: (name: string) => void } | null
}

/** Deps of a signed-in caller, as `userProcedure` and above hand them on. */
export type UserDeps = Deps & { actor: Actor }

/** Deps of a request, as procedures see them. */
export type Context = Deps & {
  requestId: string
  /** Why nobody is signed in; thrown when a procedure wants somebody. */
  refusal: DomainError | null
  /** The browser says that another site started this request. */
  crossSite: boolean
  /** What the client calls this request, so that it may be repeated. */
  idempotencyKey?: string | undefined
}
