import { slidingWait } from './sliding-log.ts'

/**
 * A limit with two numbers: every request, and those that succeed; 0 is no limit. `sliding` looks back over `windowMs` at any
 * moment, a `fixed` window opens with its first request.
 */
export type RequestLimit = { shape: 'sliding' | 'fixed'; windowMs: number; total: number; success: number }

/** What is left of one of the two numbers, and when all of it will be. */
export type Standing = { limit: number; remaining: number; resetMs: number }

export type RequestVerdict = {
  refusedBy: 'total' | 'success' | null
  /** Until a request may be let in again; 0 when this one was. */
  retryAfterMs: number
  total: Standing | null
  success: Standing | null
  /** The instant of the decision by the clock of whoever counts; wanted again when the request ends. */
  at: number
  /** Counted by this machine alone, because who counts for all did not answer; wanted again when the request ends. */
  byFallback?: boolean | undefined
}

/**
 * What is remembered between requests. A request that is under way holds a place among the successes, so that parallel ones
 * cannot together exceed what each alone may; one that fails gives its place back.
 */
export type LimitState =
  | { shape: 'sliding'; total: number[]; success: { id: string; at: number }[] }
  | { shape: 'fixed'; startedAt: number; total: number; success: number }

type Asking = { id: string; now: number }

/** What would be said to a request now, without counting one. */
export function lookAtLimit(known: LimitState | undefined, limit: RequestLimit, now: number): RequestVerdict {
  if (limit.shape === 'sliding') return checkSliding(slidingAt(known, limit, now), limit, now)
  return checkFixed(fixedAt(known, limit, now), limit, now)
}

/** Checks first the number of all requests, then that of successes, and counts the request when both let it in. */
export function admitRequest(
  known: LimitState | undefined,
  limit: RequestLimit,
  asking: Asking,
): { verdict: RequestVerdict; state: LimitState } {
  return limit.shape === 'sliding' ? admitSliding(known, limit, asking) : admitFixed(known, limit, asking)
}

type Sliding = Extract<LimitState, { shape: 'sliding' }>
type Fixed = Extract<LimitState, { shape: 'fixed' }>

function slidingAt(known: LimitState | undefined, limit: RequestLimit, now: number): Sliding {
  const horizon = now - limit.windowMs
  // Instants ahead of a clock that went back are forgotten: they would lock out until it has caught up.
  const counts = (time: number): boolean => time > horizon && time <= now
  const state = known?.shape === 'sliding' ? known : { total: [], success: [] }
  return {
    shape: 'sliding',
    total: state.total.filter(counts),
    success: state.success.filter(({ at }) => counts(at)),
  }
}

function checkSliding(state: Sliding, limit: RequestLimit, now: number): RequestVerdict {
  const times = { total: state.total, success: state.success.map(({ at }) => at) }
  const standing = slidingStanding(state, limit, now)
  for (const by of ['total', 'success'] as const) {
    const retryAfterMs = slidingWait(times[by], { limit: limit[by], windowMs: limit.windowMs }, now)
    if (retryAfterMs > 0) return { refusedBy: by, retryAfterMs, ...standing, at: now }
  }
  return { refusedBy: null, retryAfterMs: 0, ...standing, at: now }
}

function admitSliding(known: LimitState | undefined, limit: RequestLimit, { id, now }: Asking) {
  const state = slidingAt(known, limit, now)
  const verdict = checkSliding(state, limit, now)
  if (verdict.refusedBy !== null) return { verdict, state }
  if (limit.total > 0) state.total.push(now)
  if (limit.success > 0) state.success.push({ id, at: now })
  return { verdict: { ...verdict, ...slidingStanding(state, limit, now) }, state }
}

function slidingStanding(state: Sliding, limit: RequestLimit, now: number) {
  const standing = (most: number, used: number, newest: number | undefined): Standing | null =>
    most <= 0
      ? null
      : {
          limit: most,
          remaining: Math.max(0, most - used),
          resetMs: newest === undefined ? 0 : newest + limit.windowMs - now,
        }
  return {
    total: standing(limit.total, state.total.length, state.total.at(-1)),
    success: standing(limit.success, state.success.length, state.success.at(-1)?.at),
  }
}

function fixedAt(known: LimitState | undefined, limit: RequestLimit, now: number): Fixed {
  const isOpen = known?.shape === 'fixed' && now >= known.startedAt && now < known.startedAt + limit.windowMs
  return isOpen ? { ...known } : { shape: 'fixed', startedAt: now, total: 0, success: 0 }
}

function checkFixed(state: Fixed, limit: RequestLimit, now: number): RequestVerdict {
  const refusedBy =
    limit.total > 0 && state.total >= limit.total
      ? 'total'
      : limit.success > 0 && state.success >= limit.success
        ? 'success'
        : null
  const retryAfterMs = refusedBy === null ? 0 : state.startedAt + limit.windowMs - now
  return { refusedBy, retryAfterMs, ...fixedStanding(state, limit, now), at: now }
}

function fixedStanding(state: Fixed, limit: RequestLimit, now: number) {
  const resetMs = state.startedAt + limit.windowMs - now
  const standing = (most: number, used: number): Standing | null =>
    most <= 0 ? null : { limit: most, remaining: Math.max(0, most - used), resetMs }
  return { total: standing(limit.total, state.total), success: standing(limit.success, state.success) }
}

function admitFixed(known: LimitState | undefined, limit: RequestLimit, { now }: Asking) {
  const state = fixedAt(known, limit, now)
  const verdict = checkFixed(state, limit, now)
  if (verdict.refusedBy !== null) return { verdict, state }
  state.total += 1
  state.success += 1
  return { verdict: { ...verdict, ...fixedStanding(state, limit, now) }, state }
}

type Ending = { id: string; admittedAt: number; succeeded: boolean; now: number }

/** A success counts from when it is known; what failed is counted among all requests only. */
export function endRequest(known: LimitState | undefined, limit: RequestLimit, ending: Ending): LimitState | undefined {
  if (known === undefined) return undefined
  if (known.shape === 'sliding') {
    const success = known.success.filter(({ id }) => id !== ending.id)
    if (ending.succeeded && limit.success > 0) success.push({ id: ending.id, at: ending.now })
    return { ...known, success }
  }
  const isOwnWindow = known.startedAt <= ending.admittedAt
  if (isOwnWindow) return ending.succeeded ? known : { ...known, success: Math.max(0, known.success - 1) }
  return ending.succeeded ? { ...known, success: known.success + 1 } : known
}
