import { setTimeout as delay } from 'node:timers/promises'
import { InFlight } from '#core/in-flight.ts'
import { afterRunning, type RunningTime } from './running-time.ts'
import { isKnownRefusal } from './batch-fault.ts'
import { ItemRefused, QueueFull } from './batch-queue.ts'
import { bareRow } from './bare-row.ts'
import { ledgerLimits } from './limits.ts'
import type { ChargeRow, Renewal, ReserveResult, UnchargedCosts } from './charge-row.ts'

/** A call that is charged nothing. One that `voids` shuts the id, so that nothing of unknown outcome happens after it. */
type Release = { id: string; userId: number; tokenId: number; release: true; voids: boolean } & Partial<UnchargedCosts>

export type EndOfHold = ChargeRow | Release

/**
 * The balance afterwards, and what the charges of the user in this batch took from it. `next` is the verdict on the hold that
 * follows, where one was asked for.
 */
export type Committed = { userQuota: number; paid: number; next?: ReserveResult }

type Held = { id: string; userId: number; tokenId: number; uncharged?: UnchargedCosts | undefined }

export class SettleFailed extends Error {
  override name = 'SettleFailed'
}

/** Nobody can say any more whether a charge that was sent long ago was committed. */
export class OutcomeForgotten extends Error {
  override name = 'OutcomeForgotten'
}

export type CommitOptions = {
  isWanted: () => boolean
  alone: boolean
  /** Milliseconds since it was first sent without an answer that says what became of it; 0 where it never was. */
  unknownForMs: () => number
}

const { mostRefusals } = ledgerLimits

const rowOf = (item: EndOfHold | Renewal): ChargeRow | null =>
  'next' in item ? item.row : 'release' in item ? null : item

const withoutTexts = (item: EndOfHold | Renewal): EndOfHold | Renewal =>
  'next' in item ? { ...item, row: bareRow(item.row) } : 'release' in item ? item : bareRow(item)

/** What the database said. */
const causeOf = (error: SettleFailed): unknown => (error.cause instanceof ItemRefused ? error.cause.cause : error.cause)

const isOutcomeKnown = (error: unknown): boolean =>
  error instanceof ItemRefused || error instanceof QueueFull || isKnownRefusal(error)

/** Milliseconds from now on, by the clock that says more: one stands still while a machine sleeps, the other may be set back. */
function stopwatch(): () => number {
  const started = performance.now()
  const startedAt = Date.now()
  return () => Math.max(performance.now() - started, Date.now() - startedAt)
}

/** Sees each hold to its end, however long the database is away: the loops around the queue of settlements. */
export function createEnding(deps: {
  /** Commits one end of a hold; one whose turn comes when it is not wanted any more is not sent. */
  commit: (item: EndOfHold | Renewal, how: CommitOptions) => Promise<Committed>
  /** Whether the charge of this id was committed. */
  wasSettled: (id: string) => Promise<boolean>
  /** The same of one that was first sent so long ago that it may be forgotten; null: nobody knows any more. */
  outcomeOf: (id: string, sentForMs: number) => Promise<boolean | null>
  /** Books the refund of a charge whose answer never arrived. */
  refund: (row: ChargeRow) => Promise<void>
  /** Keeps a charge that the database will never take, and its hold. */
  setAside: (row: ChargeRow, error: unknown) => Promise<void>
  /** A charge was booked, but without its texts: they are what the database refused. */
  onBare: (row: ChargeRow, error: unknown) => void
  settleDeadlineMs: number
  /** What it is counted by. */
  now: RunningTime
  onError: (error: unknown) => void
}) {
  const pending = new InFlight<Promise<unknown>>()

  const track = <Result>(work: Promise<Result>): Promise<Result> => {
    const leave = pending.add(work)
    work.then(leave, leave)
    return work
  }

  /**
   * Sends until it is booked. One that the database refuses for what it says is sent alone, then without its texts, so that
   * at least the money is booked. Rejects only once it is not wanted any more, after the third refusal, or when nobody knows
   * any more whether it was booked.
   */
  const send = async (item: EndOfHold | Renewal, isWanted: () => boolean): Promise<Committed> => {
    let refusals = 0
    let alone = false
    let refusal: unknown
    let unknownForMs: (() => number) | null = null
    for (let pause = 20; ; pause = Math.min(pause * 2, 1000)) {
      const bare = refusals === mostRefusals - 1
      const sentForMs = stopwatch()
      try {
        const how = { isWanted, alone, unknownForMs: unknownForMs ?? (() => 0) }
        const committed = await deps.commit(bare ? withoutTexts(item) : item, how)
        const row = rowOf(item)
        if (bare && row) deps.onBare(row, refusal)
        return committed
      } catch (error) {
        deps.onError(error)
        if (error instanceof OutcomeForgotten) throw new SettleFailed(error.message, { cause: error })
        if (!isOutcomeKnown(error)) unknownForMs ??= sentForMs
        alone ||= error instanceof ItemRefused
        // What is given back has nothing that could be left out or kept for later.
        if (error instanceof ItemRefused && rowOf(item)) {
          refusals += 1
          refusal = error.cause
          if (refusals === mostRefusals) throw new SettleFailed('the charge can never be committed', { cause: error })
        } else if (!isWanted()) throw new SettleFailed('the charge could not be committed', { cause: error })
        await delay(pause)
      }
    }
  }

  const release = async ({ id, userId, tokenId, uncharged }: Held, voids: boolean): Promise<void> => {
    await track(send({ id, userId, tokenId, release: true, voids, ...uncharged }, () => true))
  }

  const untilDone = async <Result>(act: () => Promise<Result>): Promise<Result> => {
    for (let pause = 100; ; pause = Math.min(pause * 2, 5000)) {
      try {
        return await act()
      } catch (error) {
        deps.onError(error)
        await delay(pause)
      }
    }
  }

  /** The caller was notified that nothing is charged: so it has to be, whatever became of the charge. */
  const giveUp = async (row: ChargeRow, sending: Promise<unknown>, sentForMs: () => number): Promise<void> => {
    const booked = await sending.then(
      () => true,
      () => false,
    )
    if (!booked) {
      // Its hold, which the release takes away, may be all that shows that nothing was committed long ago.
      const before = await untilDone(() => deps.outcomeOf(row.id, sentForMs()))
      await release(row, true)
      // The last answer may have been lost. Once the release has shut the id, what is found is final.
      if (before === false && !(await untilDone(() => deps.wasSettled(row.id)))) return
    }
    await untilDone(() => deps.refund(row))
  }

  /** The answer was delivered, so it is not free: what cannot be booked is kept for the operator. */
  const setAside = (row: ChargeRow, error: unknown): Promise<void> =>
    track(untilDone(() => deps.setAside(row, error instanceof SettleFailed ? causeOf(error) : error)))

  /** What becomes of a charge whose caller has waited long enough. */
  type Lateness = { isWanted: (isGivenUp: boolean) => boolean; afterwards: (sending: Promise<Committed>) => void }

  const settleInTime = (item: ChargeRow | Renewal, late: Lateness): Promise<Committed> =>
    new Promise((resolve, reject) => {
      let gaveUp = false
      const sending = track(send(item, () => late.isWanted(gaveUp)))
      const fail = (error: SettleFailed): void => {
        gaveUp = true
        reject(error)
        late.afterwards(sending)
      }
      const tooLate = (): void => fail(new SettleFailed('the charge could not be committed in time'))
      const stopWaiting = afterRunning(deps.settleDeadlineMs, tooLate, deps.now)
      sending.then(
        (result) => {
          stopWaiting()
          resolve(result)
        },
        (error: SettleFailed) => {
          stopWaiting()
          if (!gaveUp) fail(error)
        },
      )
    })

  const settle = (row: ChargeRow, afterwards: 'give-up' | 'go-on'): Promise<Committed> => {
    const sentForMs = stopwatch()
    return settleInTime(row, {
      isWanted: (isGivenUp) => afterwards === 'go-on' || !isGivenUp,
      afterwards: (sending) => {
        if (afterwards === 'give-up') void track(giveUp(row, sending, sentForMs))
        else sending.catch((error: unknown) => setAside(row, error))
      },
    })
  }

  /** The charge goes on being sent like one of `settle`; a hold that nobody waits for any more is given back. */
  const renew = (renewal: Renewal): Promise<Committed> =>
    settleInTime(renewal, {
      isWanted: () => true,
      afterwards: (sending) => {
        sending
          .finally(() => void release(renewal.next, false))
          .catch((error: unknown) => void setAside(renewal.row, error))
      },
    })

  return {
    settle,
    renew,
    release,
    track,
    /** How much is still to be booked, what is sent again included. */
    pending: () => pending.size,
  }
}
