import { setTimeout as delay } from 'node:timers/promises'
import type { ChargeRow, Renewal, ReserveResult } from './charge-row.ts'

/** A call that is charged nothing. One that `voids` shuts the id, so that nothing of unknown outcome happens after it. */
export type Release = { id: string; userId: number; tokenId: number; release: true; voids: boolean }

export type EndOfHold = ChargeRow | Release

/** `next` is the verdict on the hold that follows, where one was asked for. */
export type Committed = { userQuota: number; next?: ReserveResult }

type Held = { id: string; userId: number; tokenId: number }

export class SettleFailed extends Error {
  override name = 'SettleFailed'
}

/** Sees each hold to its end, however long the database is away: the loops around the queue of settlements. */
export function createEnding(deps: {
  /** Commits one end of a hold; one whose turn comes when it is not wanted any more is not sent. */
  commit: (item: EndOfHold | Renewal, isWanted: () => boolean) => Promise<Committed>
  /** The database will never take this row. */
  isHopeless: (error: unknown) => boolean
  /** Books the refund of a charge whose answer never arrived. */
  refund: (row: ChargeRow) => Promise<void>
  settleDeadlineMs: number
  onError: (error: unknown) => void
}) {
  const pending = new Set<Promise<unknown>>()

  const track = <Result>(work: Promise<Result>): Promise<Result> => {
    pending.add(work)
    const done = () => void pending.delete(work)
    work.then(done, done)
    return work
  }

  /** Sends until it is booked. Rejects only once it is not wanted any more, or can never be stored. */
  const send = async (item: EndOfHold | Renewal, isWanted: () => boolean): Promise<Committed> => {
    for (let pause = 20; ; pause = Math.min(pause * 2, 1000)) {
      try {
        return await deps.commit(item, isWanted)
      } catch (error) {
        deps.onError(error)
        if (deps.isHopeless(error) || !isWanted())
          throw new SettleFailed('the charge could not be committed', { cause: error })
        await delay(pause)
      }
    }
  }

  const release = async ({ id, userId, tokenId }: Held, voids: boolean): Promise<void> => {
    await track(send({ id, userId, tokenId, release: true, voids }, () => true))
  }

  const refund = async (row: ChargeRow): Promise<void> => {
    for (let pause = 100; ; pause = Math.min(pause * 2, 5000)) {
      try {
        return await deps.refund(row)
      } catch (error) {
        deps.onError(error)
        await delay(pause)
      }
    }
  }

  /** The caller was told that nothing is charged: so it has to be, whatever became of the charge. */
  const giveUp = async (row: ChargeRow, sending: Promise<unknown>): Promise<void> => {
    const booked = await sending.then(
      () => true,
      () => false,
    )
    if (!booked) await release(row, true)
    await refund(row)
  }

  /** What becomes of a charge whose caller has waited long enough. */
  type Lateness = { isWanted: (told: boolean) => boolean; afterwards: (sending: Promise<Committed>) => void }

  const settleInTime = (item: ChargeRow | Renewal, late: Lateness): Promise<Committed> =>
    new Promise((resolve, reject) => {
      let told = false
      const sending = track(send(item, () => late.isWanted(told)))
      const fail = (error: SettleFailed): void => {
        told = true
        reject(error)
        late.afterwards(sending)
      }
      const deadline = setTimeout(
        () => fail(new SettleFailed('the charge could not be committed in time')),
        deps.settleDeadlineMs,
      )
      sending.then(
        (result) => {
          clearTimeout(deadline)
          resolve(result)
        },
        (error: SettleFailed) => {
          clearTimeout(deadline)
          if (!told) fail(error)
        },
      )
    })

  const settle = (row: ChargeRow, afterwards: 'give-up' | 'go-on'): Promise<Committed> =>
    settleInTime(row, {
      isWanted: (told) => afterwards === 'go-on' || !told,
      afterwards: (sending) => {
        if (afterwards === 'give-up') void track(giveUp(row, sending))
        // What can never be stored is not charged.
        else sending.catch(() => release(row, true))
      },
    })

  /** The charge goes on being sent like one of `settle`; a hold that nobody waits for any more is given back. */
  const renew = (renewal: Renewal): Promise<Committed> =>
    settleInTime(renewal, {
      isWanted: () => true,
      afterwards: (sending) => {
        sending.then(
          () => void release(renewal.next, false),
          () => void release(renewal.row, true),
        )
      },
    })

  return {
    settle,
    renew,
    release,
    /** How much is still to be booked, what is sent again included. */
    pending: () => pending.size,
  }
}
