import { initTRPC } from '@trpc/server'
import superjson from 'superjson'
import { type Role, roles } from '#core/roles.ts'
import { readInput } from '#trpc/input-reader.ts'
import { writeOutput } from '#trpc/output-writer.ts'
import { actorOfRole, countCriticalAct, refuseCrossSiteChange } from '#trpc/procedure-checks.ts'
import { errorDataOf, failureForCaller, toDomainError, unreadableInput } from '#trpc/procedure-errors.ts'
import { networkOf } from './client-address/service.ts'
import type { Actor, Context } from './deps.ts'
import { actOnce } from './idempotency/service.ts'
import { refuseInDemo } from './site/demo.ts'
import { requireOwner, requireRecentVerification } from './second-factor/verification.ts'

/** Untrusted input is parsed by a reader that builds nothing large; long answers are written without a copy. */
const transformer = {
  input: { serialize: superjson.serialize, deserialize: readInput },
  output: { serialize: writeOutput, deserialize: superjson.deserialize },
}

const t = initTRPC
  .context<Context>()
  .meta<{
    limit?: 'critical' | 'none'
    /** The mutation changes nothing that processes cache (users, tokens, channels, options), so nobody has to be notified of it. */
    barrier?: 'none'
    /**
     * Wants a proof by the second factor that is at most ten minutes old, of users who have one: for what shows secrets, gives
     * money away or changes how one signs in. A function says which inputs do. `owner`: of those without one, their password or a
     * sign-in of that age, for what lets somebody in who has a stolen session alone.
     */
    verification?: 'recent' | 'owner' | ((input: unknown, actor: Actor) => boolean | 'owner')
    /** Goes on where the site is a demonstration, for everybody; what of it changes more than who is signed in refuses by itself. */
    inDemo?: boolean
  }>()
  .create({
    transformer,
    errorFormatter: ({ shape, error, ctx }) => {
      const { stack: _, ...data } = shape.data
      const described = errorDataOf(error, ctx?.requestId ?? '')
      return { ...shape, message: toDomainError(error).message, data: { ...data, ...described } }
    },
  })

const withDomainErrors = t.middleware(async ({ next, ctx, path }) => {
  const result = await next()
  const failure = result.ok ? undefined : failureForCaller(result.error, ctx, path)
  if (failure) throw failure
  return result
})

/** Before anything is counted or done. */
const withReadableInput = t.middleware(async ({ next, getRawInput }) => {
  await getRawInput().catch((cause: unknown) => {
    throw unreadableInput(cause)
  })
  return next()
})

const withSameOrigin = t.middleware(({ next, ctx, type }) => {
  refuseCrossSiteChange(type, ctx.crossSite)
  return next()
})

const withLimits = t.middleware(async ({ next, ctx, meta }) => {
  if (meta?.limit === 'critical') await countCriticalAct(ctx, networkOf(ctx.client.ip))
  return next()
})

/** On a demonstration everybody may come and go. */
const withDemoRule = t.middleware(({ next, ctx, type, meta }) => {
  if (type === 'mutation' && !meta?.inDemo) refuseInDemo(ctx)
  return next()
})

/** A change is answered once every node knows it, so that the very next call, wherever it goes, is served by it. */
const withBarrier = t.middleware(async ({ next, ctx, type, meta }) => {
  const result = await next()
  if (type === 'mutation' && result.ok && meta?.barrier !== 'none') await ctx.barrier()
  return result
})

const atLeast = (role: Role) =>
  t.middleware(({ next, ctx }) => next({ ctx: { ...ctx, actor: actorOfRole(ctx, role) } }))

export const router = t.router
export const mergeRouters = t.mergeRouters
export const createCallerFactory = t.createCallerFactory

/** The only starts of a procedure; the role is chosen by choosing one. */
export const publicProcedure = t.procedure
  .use(withDomainErrors)
  .use(withReadableInput)
  .use(withSameOrigin)
  .use(withDemoRule)
  .use(withLimits)
  .use(withBarrier)

const asUser = (role: Role) =>
  publicProcedure.use(atLeast(role)).use(async ({ next, ctx, meta, getRawInput }) => {
    const rule = meta?.verification
    const wanted = typeof rule === 'function' ? rule(await getRawInput(), ctx.actor) : rule
    if (wanted === 'owner') await requireOwner(ctx)
    else if (wanted) await requireRecentVerification(ctx)
    return next()
  })

export const userProcedure = asUser(roles.user)
export const adminProcedure = asUser(roles.admin)
export const rootProcedure = asUser(roles.root)

/** What a middleware hands on where it calls no further. */
type Result = Awaited<ReturnType<Parameters<Parameters<typeof t.middleware>[0]>[0]['next']>>

/** Carries a refusal out of the transaction that it undoes. */
class Undone extends Error {
  readonly result: Result
  constructor(result: Result) {
    super('undone')
    this.result = result
  }
}

/** An act that a client may repeat under the same `Idempotency-Key`: done once, and answered alike. */
export const idempotent = t.middleware(async ({ next, ctx, path, getRawInput }) => {
  const { idempotencyKey: key, actor } = ctx
  if (!key || !actor) return next()
  const ask = { userId: actor.id, path, key, input: await getRawInput() }
  let first: Result | undefined
  try {
    const data = await actOnce(ctx, ask, async (em) => {
      first = await next({ ctx: { ...ctx, em } })
      if (!first.ok) throw new Undone(first)
      return first.data
    })
    // A repetition has the reply of the first; what a result is made of besides is the library's own business.
    return first ?? ({ ok: true, data } as Result)
  } catch (error) {
    if (error instanceof Undone) return error.result
    throw error
  }
})
