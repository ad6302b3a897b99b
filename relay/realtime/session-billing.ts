import { DomainError } from '#core/errors.ts'
import { estimateOf } from '#core/pricing/estimate.ts'
import { totalTokens } from '#core/usage.ts'
import { SettleFailed } from '#features/ledger/service.ts'
import type { AttemptPlan } from '#relay/attempt/attempts.ts'
import type { RelayServices } from '#relay/request/call.ts'
import { refusalOfReserve } from '#relay/billing/reserve.ts'
import type { Json } from '#relay/providers/shared/json.ts'
import { refusalToGoOn } from './admit.ts'
import type { Session } from './call.ts'
import { type PartOfSession, realtimeChargeRow } from './charge-row.ts'
import type { Measured, Meter } from './meter.ts'

/** What is set aside for one response: a response tells nothing of its length before it is made. */
export const estimateResponse = (services: RelayServices, { terms }: AttemptPlan): number =>
  estimateOf({
    promptTokens: 0,
    cacheWriteMarked: 0,
    preConsumedQuota: services.options.get('PreConsumedQuota'),
    formula: 'audio',
    ...terms,
  })

/** The money of one session: one hold at a time, a charge for every response. */
export type SessionBilling = {
  /** Charges an ended response and sets the next aside. Resolves with why the session may not go on, if so. */
  endResponse: (event: Json) => Promise<DomainError | null>
  /** Charges what was counted since, or gives the hold back. */
  close: (end: PartOfSession['end']) => Promise<void>
}

export function openSessionBilling(session: Session, meter: Meter): SessionBilling {
  const { services, call, plan } = session
  const { ledger } = services
  const perCall = plan.terms.price.kind === 'call'
  const payer = { userId: call.caller.user.id, tokenId: call.caller.token?.id ?? 0 }
  let parts = 1
  let id = call.id
  let held = true
  let charged = false

  const nextId = (): string => `${call.id}-${(parts += 1)}`
  const rowOf = (part: Measured, end: PartOfSession['end']) => {
    const row = realtimeChargeRow(session, { ...part, id, paid: perCall && charged, end })
    if (row.quota > 0) charged = true
    return row
  }

  const endResponse = async (event: Json): Promise<DomainError | null> => {
    const part = await meter.takeResponse(event)
    const row = rowOf(part, 'complete')
    const refusal = await refusalToGoOn(session)
    held = false
    if (refusal) {
      id = nextId()
      await ledger.settle(row, 'go-on')
      return refusal
    }
    // A price per call was taken with the first response; the session then goes on without anything set aside.
    const amount = perCall && charged ? 0 : estimateResponse(services, plan)
    const next = { ...payer, id: nextId(), amount }
    id = next.id
    const result = await ledger.renew({ row, next })
    held = result.verdict === 'ok'
    return held ? null : refusalOfReserve(services, call, { result, amount })
  }

  return {
    endResponse: async (event) => {
      try {
        return await endResponse(event)
      } catch (error) {
        if (error instanceof SettleFailed) return new DomainError('relay.unavailable', {}, { cause: error })
        throw error
      }
    },
    close: async (end) => {
      // What cannot be counted is not charged, and its hold does not stay open.
      const part = await meter.takeRest().catch((error: unknown) => {
        services.log.error({ err: error, requestId: call.id }, 'the rest of a session could not be counted')
        return null
      })
      if (part && totalTokens(part.measured.usage) > 0 && !(perCall && charged)) {
        // Late, it goes on being sent: the session is over either way.
        await ledger.settle(rowOf(part, end), 'go-on').catch(() => {})
      } else if (held) await ledger.release({ ...payer, id })
    },
  }
}
