import { disableDeadKey } from '#relay/routing/auto-disable.ts'
import { setTimeout as delay } from 'node:timers/promises'
import type { Attempt, AttemptRecord, CallCore, RelayServices } from '#relay/request/call.ts'
import { secretsBesideAddress } from '#relay/upstream-call/channel.ts'
import { AttemptFailed, operatorReason } from './failure.ts'
import { dropRefusedToken } from './attempt-token.ts'
import { upstreamChannelOf } from './upstream-channel.ts'
import { countFailedAttempt, type FailedAttempt, logFailedCall } from './log-failure.ts'
import { attemptRecord } from '#relay/billing/log-row.ts'
import { costOfFailure, failedCosts } from '#core/pricing/attempt-costs.ts'
import { retirementOf } from '#core/models/retirements.ts'
import { type CallPrice, priceAttempt } from '#relay/billing/price-call.ts'
import { reserve } from '#relay/billing/reserve.ts'
import { limitedModel } from '#relay/routing/circuit-breaker.ts'
import { pauseBeforeRetry, planRetry, type RetryRoute } from '#relay/routing/retry.ts'
import { createSelection, type Selection } from '#relay/routing/select.ts'
import { isUnbooked } from '#relay/billing/settle.ts'

/** One attempt: where it goes, under which price, and the attempts before it. */
export type AttemptPlan = { attempt: Attempt; attempts: AttemptRecord[]; terms: CallPrice }

/** What differs between the kinds of calls. */
export type AttemptSteps = {
  /** Once there is somewhere to go and a price for it, before anything is set aside for the first attempt. */
  begin?: () => void
  /** Sets aside what this attempt needs: so much … */
  amountOf?: (plan: AttemptPlan) => number
  /** … in the database, where others see by it whether the call is charged yet … */
  lasting?: true
  /** … or what the call's own hold makes of it. */
  hold?: {
    readonly taken: boolean
    take: (plan: AttemptPlan) => Promise<void>
    finish: () => void
    /** An upstream may have taken the call although it failed: what is set aside stays so. */
    readonly remains?: boolean
  }
  /** Makes the attempt to the settled answer. @throws {AttemptFailed} when another place may be tried. */
  forward: (plan: AttemptPlan) => Promise<void>
  /** Tasks are priced by what they do, whatever a channel calls it. */
  priceOf?: (attempt: Attempt) => CallPrice
  /** A task that follows another goes where that one went. */
  selection?: Selection
  route?: RetryRoute
}

const longestReleaseMs = 1000

/** Tries channels until one answers. The hold of the first attempt serves all of them and is given back if none does. */
export async function attemptAll(services: RelayServices, call: CallCore, steps: AttemptSteps): Promise<void> {
  const selection = steps.selection ?? createSelection(services, call)
  const priceOf = steps.priceOf ?? ((attempt: Attempt) => priceAttempt(services, call, attempt))
  const forward = services.tracing?.traced(call, steps) ?? steps.forward
  const attempts: AttemptRecord[] = []
  services.retryBudget.earn()
  let reserved = false
  let last: FailedAttempt | undefined
  try {
    for (let number = 0; ; number += 1) {
      const attempt = selection.next()
      const plan = { attempt, attempts, terms: priceOf(attempt) }
      if (number === 0) steps.begin?.()
      // A model that its vendor takes out of service says so, by the name that is sent upstream.
      const retirement = retirementOf(attempt.upstreamModel)
      if (retirement && !call.res.headersSent) call.res.setHeader('sunset', retirement.retires.toUTCString())
      else if (!call.res.headersSent) call.res.removeHeader('sunset')
      if (steps.hold) await steps.hold.take(plan)
      else await reserve(services, call, { amount: steps.amountOf?.(plan) ?? 0, lasting: steps.lasting })
      reserved = true
      const startedAt = performance.now()
      const error = await tryOnce(services, call, { plan, forward })
      if (!error) return
      const before = attempts.map((record) => record.status)
      const route = steps.route ?? 'text'
      const retry = planRetry(services, call, { error, attempt, number, before, selection, route })
      if (!retry && error.deliver) return await error.deliver()
      const { status, refusal } = error.failure
      const reason = operatorReason(error, secretsBesideAddress(upstreamChannelOf(attempt)))
      const cost = costOfFailure({ attempt, at: call.receivedAt }, error.usage, plan.terms)
      attempts.push(attemptRecord(attempt, { status, reason, refusal, ms: performance.now() - startedAt, cost }))
      last = { attempt, attempts, error }
      countFailedAttempt(services, call, last)
      await disableDeadKey(services, call, { attempt, error })
      if (!retry || !(await pauseBeforeRetry(call, retry))) throw error
    }
  } catch (error) {
    if (last && !isUnbooked(error)) logFailedCall(services, call, last)
    if ((reserved || steps.hold?.taken) && !steps.hold?.remains && !isUnbooked(error)) {
      steps.hold?.finish()
      await giveBack(services, call, attempts)
    }
    throw error
  } finally {
    logRetryChain(services, call, attempts)
  }
}

function logRetryChain({ log }: RelayServices, call: CallCore, attempts: readonly AttemptRecord[]): void {
  if (attempts.length < 2) return
  const chain = attempts.map((record) => record.channel_id).join('->')
  log.info({ requestId: call.id }, `重试：${chain}`)
}

/** Releases a call's hold. The caller is notified after it was given back, unless the database keeps us waiting. */
export async function giveBack(
  services: RelayServices,
  call: CallCore,
  attempts: readonly AttemptRecord[] = [],
): Promise<void> {
  const { token, user } = call.caller
  const costs = failedCosts(attempts)
  const released = services.ledger.release({
    id: call.id,
    userId: user.id,
    tokenId: token?.id ?? 0,
    ...(costs ? { uncharged: { modelName: call.model, group: call.group, costs } } : {}),
  })
  await Promise.race([released, delay(longestReleaseMs, undefined, { ref: false })])
}

/** Resolves with the failure that lets another place be tried, or with nothing when the call is over. */
async function tryOnce(
  services: RelayServices,
  call: CallCore,
  { plan, forward }: { plan: AttemptPlan; forward: AttemptSteps['forward'] },
): Promise<AttemptFailed | null> {
  const { attempt } = plan
  const { channel, key } = attempt
  const place = { channelId: channel.id, key: key.position, model: limitedModel(call, attempt.model) }
  const start = services.circuitBreaker.started(place)
  try {
    await withFreshToken(plan, forward)
    // A caller who left before the end proves nothing either way.
    if (call.callerAborted.signal.aborted) services.circuitBreaker.left(place, start)
    else services.circuitBreaker.succeeded(place, start)
    return null
  } catch (error) {
    if (!(error instanceof AttemptFailed)) {
      services.circuitBreaker.left(place, start)
      throw error
    }
    if (error.deliver) services.circuitBreaker.succeeded(place, start)
    else services.circuitBreaker.failed(place, start, error)
    return error
  }
}

/** A token that the upstream has withdrawn before its time is no fault of the channel's key. */
async function withFreshToken(plan: AttemptPlan, forward: AttemptSteps['forward']): Promise<void> {
  try {
    await forward(plan)
  } catch (error) {
    if (!dropRefusedToken(plan.attempt, error)) throw error
    await forward(plan)
  }
}
