import { DomainError } from '#core/errors.ts'
import { estimateOf } from '#core/pricing/estimate.ts'
import { emptyUsage, totalTokens, type Usage } from '#core/usage.ts'
import type { ChargeRow, ReserveResult } from '#features/ledger/charge-row.ts'
import { SettleFailed } from '#features/ledger/service.ts'
import type { AttemptPlan } from '#relay/attempt/attempts.ts'
import type { RelayServices } from '#relay/request/call.ts'
import { payerOf } from '#relay/billing/answer-lengths.ts'
import { coveredNames, refusalOfReserve, reserveOnce } from '#relay/billing/reserve.ts'
import type { Json } from '#relay/providers/shared/json.ts'
import { refusalToGoOn } from './admit.ts'
import type { Session } from './call.ts'
import { type PartOfSession, realtimeChargeRow } from './charge-row.ts'
import { transcriptionRow } from './transcription.ts'
import type { Measured, Meter } from './meter-type.ts'
import { createRecentNames } from './recent-names.ts'
import { createHoldRaiser, type Followed, type SessionHold } from './session-hold.ts'

/** What is set aside before anything was said; it grows with what is. */
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
  /**
   * Sets aside what was said so far, before anybody is sent more; for a response that begins, what one usually comes to. Resolves
   * with why the session may not go on, if so.
   */
  follow: (what: Followed) => DomainError | null | Promise<DomainError | null>
  /**
   * The same for a response that is asked for, which is counted by `count` in its turn: before, no share is due for it, and what
   * another's end sets aside leaves it out. Resolves with why it may not be sent, if so.
   */
  ask: (count: () => void) => Promise<DomainError | null>
  /** Charges an ended response and sets the next aside. Resolves with why the session may not go on, if so. */
  endResponse: (event: Json) => Promise<DomainError | null>
  /** Charges a transcription of the input. Resolves with why the session may not go on, if so. */
  endTranscription: (event: Json) => Promise<DomainError | null>
  /** The session ends: of what comes now only what it used is read. */
  stop: (end: PartOfSession['end']) => void
  /** Charges what was counted since, or gives the hold back. Resolves with what the response of this name came to. */
  close: (end: PartOfSession['end'], id: string) => Promise<Usage>
}

export function openSessionBilling(session: Session, meter: Meter): SessionBilling {
  const { services, call, plan } = session
  const { ledger } = services
  const isCall = plan.terms.price.kind === 'call'
  // A transcription is a call of its own.
  const perCall = isCall && !session.transcribes
  const payer = { userId: call.caller.user.id, tokenId: call.caller.token?.id ?? 0 }
  let parts = 1
  const usual = estimateResponse(services, plan)
  const hold: SessionHold = { id: call.id, amount: usual, held: true, refusal: null }
  const raiser = createHoldRaiser(session, meter, { hold, usual })
  let charged = false
  let partEnd: PartOfSession['end'] = 'complete'
  /** By their names: what responses came to whose ends were read when nothing more was delivered. */
  const late = new Map<string, Usage>()
  /** The pieces of input whose transcription was charged. */
  const transcribed = createRecentNames()
  let last: Promise<unknown> = Promise.resolve()

  /** Both sides of a session speak at once; its money is moved one after the other. */
  const inTurn = <Result>(act: () => Promise<Result>): Promise<Result> => {
    const turn = last.then(act, act)
    last = turn.catch(() => {})
    return turn
  }

  const booked = async (act: () => Promise<DomainError | null>): Promise<DomainError | null> => {
    try {
      return await inTurn(act)
    } catch (error) {
      if (error instanceof SettleFailed) return new DomainError('relay.unavailable', {}, { cause: error })
      if (error instanceof DomainError) return error
      throw error
    }
  }

  const nextId = (): string => `${call.id}-${(parts += 1)}`
  const rowOf = (part: Measured, end: PartOfSession['end']) => {
    const paid = perCall ? charged : isCall && part.goesOn === true
    const row = realtimeChargeRow(session, { ...part, id: hold.id, paid, end })
    if (row.quota > 0) charged = true
    return row
  }

  /** Nobody else gets what the hold keeps; without it nothing is set aside. */
  const keep = (remaining: number): void => {
    hold.id = nextId()
    hold.amount = remaining
    hold.held = remaining > 0
  }

  /** The next hold, or why the session may not go on. */
  const begun = (amount: number, result: ReserveResult): DomainError | null => {
    if (result.verdict !== 'ok') {
      hold.refusal = refusalOfReserve(services, call, { result, amount })
      return hold.refusal
    }
    hold.held = true
    hold.amount = amount
    return null
  }

  /** Charges what the hold is there for, of which this much stays so. */
  const settleOne = async (row: ChargeRow, remaining: number): Promise<void> => {
    keep(remaining)
    if (remaining === 0) return void (await ledger.settle(row, 'go-on'))
    const next = { ...payer, id: hold.id, amount: remaining, model: coveredNames(services, call) }
    await ledger.renew({ row, next, remaining })
  }

  /** Charges what the hold is there for, and sets the next aside. Resolves with why the session may not go on, if so. */
  const renew = async (row: ChargeRow): Promise<DomainError | null> => {
    hold.refusal ??= await refusalToGoOn(session)
    // A price per call was taken with the first response; the session then goes on without anything set aside.
    const isPaid = perCall && charged
    const due = isPaid ? 0 : Math.max(estimateResponse(services, plan), raiser.due())
    // Of others that are under way, which are paid in any case: their shares stay, whether or not there is more.
    const left = hold.held && meter.responding && !isPaid ? Math.max(0, hold.amount - row.quota) : 0
    if (hold.refusal) {
      await settleOne(row, left)
      return hold.refusal
    }
    const remaining = Math.min(left, due)
    keep(remaining)
    const next = { ...payer, id: hold.id, amount: due, model: coveredNames(services, call) }
    return begun(due, await ledger.renew({ row, next, remaining }))
  }

  const endResponse = async (event: Json): Promise<DomainError | null> => {
    const open = meter.openIds
    const part = await meter.takeResponse(event)
    const row = rowOf(part, partEnd)
    if (!meter.stopped) learn(part)
    // Not every upstream names a response at its end as it did before.
    else for (const id of open) if (!meter.openIds.includes(id)) late.set(id, part.measured.usage)
    return renew(row)
  }

  /** Sets the same aside once more, and so looks at what is left. Resolves with why the session may not go on, if so. */
  const holdAgain = async (): Promise<DomainError | null> => {
    const { amount } = hold
    await ledger.release({ ...payer, id: hold.id })
    keep(0)
    return begun(amount, await reserveOnce(services, { ...call, id: hold.id }, { amount }))
  }

  const endTranscription = async (event: Json): Promise<DomainError | null> => {
    // There it is the answer: what comes to here was reported again.
    if (session.transcribes) return null
    const { item_id: item, content_index: index } = event
    const name = typeof item === 'string' ? `${item} ${String(index)}` : ''
    // Reported again it is none.
    if (transcribed.has(name)) return null
    transcribed.add(name)
    // Under an id of its own: the hold of the session has the caps and the plan of another model.
    const row = transcriptionRow(session, event, { id: nextId(), model: meter.transcriber })
    meter.noteTranscribed(row !== undefined)
    if (!row) return null
    await ledger.settle(row, 'go-on')
    const refusal = hold.refusal ?? (await refusalToGoOn(session))
    // A session may live by transcriptions alone. Where a response is under way, its end looks at the balance.
    if (refusal || !hold.held || meter.responding) return refusal
    return holdAgain()
  }

  /** What a response says of the next one's length. */
  const learn = ({ measured }: Measured): void => {
    const { completionTokens } = measured.usage
    if (measured.source === 'none' || measured.corrected || completionTokens === 0) return
    services.holds.lengths.learn(payerOf(call), plan.attempt.upstreamModel, {
      completionTokens,
      choices: 1,
      promptTokens: 0,
      cheapPromptTokens: 0,
      countedTokens: undefined,
    })
  }

  const closeRest = async (end: PartOfSession['end'], id: string): Promise<Usage> => {
    // What cannot be counted is not charged, and its hold does not stay open.
    const isLeft = end === 'hung-up' || end === 'unpaid'
    const rest = await meter.takeRest(isLeft).catch((error: unknown) => {
      services.log.error({ err: error, requestId: call.id }, 'the rest of a session could not be counted')
      return []
    })
    const parts = perCall && charged ? [] : rest.filter(({ measured }) => totalTokens(measured.usage) > 0)
    let isInTime = true
    for (const [index, part] of parts.entries()) {
      const row = rowOf(part, end)
      const isLast = index === parts.length - 1
      const remaining = isLast || !hold.held ? 0 : Math.max(0, hold.amount - row.quota)
      // Late, it goes on being sent: the session is over either way, and no other waits behind it.
      const sent = settleOne(row, remaining).then(
        () => true,
        () => false,
      )
      if (isInTime) isInTime = await sent
    }
    if (parts.length === 0 && hold.held) await ledger.release({ ...payer, id: hold.id })
    hold.held = false
    return late.get(id) ?? rest[0]?.measured.usage ?? emptyUsage
  }

  return {
    follow: (what) => (what === 'more' && raiser.isAhead() ? null : inTurn(() => raiser.follow(what))),
    ask: (count) =>
      inTurn(() => {
        count()
        return raiser.follow('asked')
      }),
    endResponse: (event) => booked(() => endResponse(event)),
    endTranscription: (event) => booked(() => endTranscription(event)),
    stop: (end) => {
      partEnd = end
      meter.stop()
    },
    close: (end, id) => inTurn(() => closeRest(end, id)),
  }
}
