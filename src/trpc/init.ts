import { initTRPC, TRPCError } from '@trpc/server'
import superjson from 'superjson'
import { ZodError } from 'zod'
import { isDatabaseTrouble, isUnstorableText } from '#core/database-trouble.ts'
import { DomainError, type ErrorCode, isDomainError, type Kind, toDomainError as describedError } from '#core/errors.ts'
import { refusalOf } from '#core/refusal.ts'
import { type Role, roles } from '#core/roles.ts'
import { networkOf } from '#features/client-address/service.ts'
import type { Context } from '#server/context.ts'
import { readInput } from './input-reader.ts'

/** What each kind of refusal is called in tRPC, which gives it its HTTP status. */
export const codeOfKind = {
  unauthenticated: 'UNAUTHORIZED',
  forbidden: 'FORBIDDEN',
  not_found: 'NOT_FOUND',
  invalid: 'BAD_REQUEST',
  conflict: 'CONFLICT',
  rate_limited: 'TOO_MANY_REQUESTS',
  quota_exhausted: 'PAYMENT_REQUIRED',
  upstream: 'BAD_GATEWAY',
  unavailable: 'SERVICE_UNAVAILABLE',
  internal: 'INTERNAL_SERVER_ERROR',
} as const satisfies Record<Kind, TRPCError['code']>

/** Statuses that a code fixes and tRPC has a word for. */
const codeOfStatus: Partial<Record<number, TRPCError['code']>> = {
  408: 'TIMEOUT',
  413: 'PAYLOAD_TOO_LARGE',
  415: 'UNSUPPORTED_MEDIA_TYPE',
}

export const trpcErrorOf = (cause: DomainError): TRPCError =>
  new TRPCError({ code: codeOfStatus[cause.status ?? 0] ?? codeOfKind[cause.kind], message: cause.message, cause })

/** What the console learns of a refusal: enough to say it in either language and to mark the fields. */
export type ErrorData = {
  domainCode: ErrorCode
  params: Record<string, string | number>
  /** Path of the input field → what is wrong with it. */
  fields: Record<string, string>
  requestId: string
}

/** What we write is our own; what strangers wrote is taken apart by a reader that builds nothing large. */
const transformer = {
  input: { serialize: superjson.serialize, deserialize: readInput },
  output: superjson,
}

const t = initTRPC
  .context<Context>()
  .meta<{
    limit?: 'critical' | 'none'
    /** The mutation changes nothing that processes cache (users, tokens, channels, options), so nobody has to hear of it. */
    barrier?: 'none'
  }>()
  .create({
    transformer,
    errorFormatter: ({ shape, error, ctx }) => {
      const domain = toDomainError(error)
      const { stack: _, ...data } = shape.data
      const described: ErrorData = {
        domainCode: domain.code,
        params: domain.params,
        fields: fieldsOf(error.cause),
        requestId: ctx?.requestId ?? '',
      }
      return { ...shape, message: domain.message, data: { ...data, ...described } }
    },
  })

/** Refusals of the door itself: how it was asked was wrong, not what. */
const wrongForm = new Set<TRPCError['code']>(['METHOD_NOT_SUPPORTED', 'UNSUPPORTED_MEDIA_TYPE', 'PARSE_ERROR'])

/** Whatever went wrong in a procedure, as a row of the catalogue. */
export function toDomainError(error: TRPCError): DomainError {
  if (isDomainError(error.cause)) return error.cause
  if (error.code === 'BAD_REQUEST') {
    const named = error.cause instanceof ZodError ? refusalOf(error.cause.issues) : undefined
    if (named) return describedError({ code: named })
    const detail = Object.entries(fieldsOf(error.cause))
      .map(([path, message]) => (path ? `${path}: ${message}` : message))
      .join('; ')
    return new DomainError('input.invalid', { detail: detail || 'unreadable' })
  }
  if (error.code === 'NOT_FOUND') return new DomainError('not_found')
  if (error.code === 'PAYLOAD_TOO_LARGE') return new DomainError('input.too_large')
  if (wrongForm.has(error.code)) return new DomainError('input.invalid', { detail: error.message })
  return crashOf(error.cause ?? error)
}

/** What nobody foresaw: the asker's where it cannot be written down, soon over where only the database is away, else ours. */
export const crashOf = (cause: unknown): DomainError =>
  isUnstorableText(cause)
    ? new DomainError('input.invalid', { detail: 'U+0000' }, { cause })
    : new DomainError(isDatabaseTrouble(cause) ? 'database.unavailable' : 'internal', {}, { cause })

function fieldsOf(cause: unknown): Record<string, string> {
  if (!(cause instanceof ZodError)) return {}
  return Object.fromEntries(cause.issues.map((issue) => [issue.path.join('.'), issue.message]))
}

const withDomainErrors = t.middleware(async ({ next, ctx, path }) => {
  const result = await next()
  if (result.ok) return result
  const { cause } = result.error
  if (isDomainError(cause)) throw trpcErrorOf(cause)
  if (isUnstorableText(cause)) throw new TRPCError({ code: 'BAD_REQUEST', cause: crashOf(cause) })
  if (result.error.code === 'INTERNAL_SERVER_ERROR') {
    ctx.log.error({ err: cause ?? result.error, path, requestId: ctx.requestId }, 'a procedure failed')
    if (isDatabaseTrouble(cause)) throw new TRPCError({ code: 'SERVICE_UNAVAILABLE', cause: crashOf(cause) })
  }
  return result
})

/** Refusals of an input that say themselves what is wrong. */
const told = new Set<TRPCError['code']>(['UNSUPPORTED_MEDIA_TYPE', 'PAYLOAD_TOO_LARGE', 'METHOD_NOT_SUPPORTED'])

/** Whatever goes wrong while an input is read is the sender's mistake, and told before anything is counted or done. */
const withReadableInput = t.middleware(async ({ next, getRawInput }) => {
  await getRawInput().catch((cause: unknown) => {
    throw cause instanceof TRPCError && told.has(cause.code)
      ? cause
      : new DomainError('input.unreadable', {}, { cause })
  })
  return next()
})

const withLimits = t.middleware(async ({ next, ctx, meta }) => {
  const limit = meta?.limit
  if (limit === 'critical') {
    const verdict = await ctx.limits.slide({
      name: 'critical',
      key: networkOf(ctx.client.ip),
      points: ctx.environment.CRITICAL_RATE_LIMIT,
      seconds: 1200,
    })
    if (!verdict.allowed) throw new DomainError('rate_limited')
  }
  return next()
})

const atLeast = (role: Role) =>
  t.middleware(({ next, ctx }) => {
    if (ctx.refusal) throw ctx.refusal
    if (!ctx.actor) throw new DomainError('session.required')
    if (ctx.actor.role < role) throw new DomainError('session.role_insufficient')
    return next({ ctx: { ...ctx, actor: ctx.actor } })
  })

/** A change wants a same-origin request: a cookie alone, sent along by another site, is never enough. */
const withSameOrigin = t.middleware(({ next, ctx, type }) => {
  if (type === 'mutation' && ctx.crossSite) throw new DomainError('session.cross_site')
  return next()
})

/** A change is answered once every node knows it, so that the very next call, wherever it goes, is served by it. */
const withBarrier = t.middleware(async ({ next, ctx, type, meta }) => {
  const result = await next()
  if (type === 'mutation' && result.ok && meta?.barrier !== 'none') await ctx.barrier()
  return result
})

const base = t.procedure
  .use(withDomainErrors)
  .use(withReadableInput)
  .use(withSameOrigin)
  .use(withLimits)
  .use(withBarrier)

export const router = t.router
export const createCallerFactory = t.createCallerFactory

/** The only starts of a procedure; the role is chosen by choosing one. */
export const publicProcedure = base
export const userProcedure = base.use(atLeast(roles.user))
export const adminProcedure = base.use(atLeast(roles.admin))
export const rootProcedure = base.use(atLeast(roles.root))
