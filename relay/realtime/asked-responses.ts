import type { OwnInput } from './own-input.ts'
import { createRecentNames } from './recent-names.ts'

/** What a response reads: tokens, those of audio apart. */
export type Reads = {
  /** The conversation as the upstream last counted it. */
  context: { text: number; audio: number }
  /** By the cheap count, what has come to it since. */
  added: { text: number; audio: number }
}

export type AskedResponse = {
  /** The caller's name for the event that asked. */
  name: string | undefined
  /** Since when nothing else was under way; `performance.now()`. */
  askedAt: number | null
  own: OwnInput
  /** Set once the upstream has begun it without saying its name. */
  reads: Reads | null
}

/**
 * An error may be about a response that was asked for, or about anything else, and the names of events are the caller's own: what
 * was set aside for the response stays for so long, for it may begin all the same.
 */
const doubtMs = 5000

/** Responses that were asked for and have not begun, in the order in which they will. */
export function createAskedResponses(now: () => number) {
  let waiting: AskedResponse[] = []
  let doubted: (AskedResponse & { until: number })[] = []
  /** Of the caller's events of every kind. */
  const sentNames = createRecentNames()

  const takeFirst = <Entry extends AskedResponse>(from: Entry[], fits: (one: Entry) => boolean): Entry | undefined => {
    const index = from.findIndex(fits)
    return index === -1 ? undefined : from.splice(index, 1)[0]
  }
  const dropOld = (): void => {
    doubted = doubted.filter(({ until }) => until > now())
  }

  return {
    /** An event of the caller's has this name. */
    noteName: (name: string | undefined): void => sentNames.add(name ?? ''),
    /** Returns what says that it was not sent. */
    add: (asked: AskedResponse): (() => void) => {
      waiting.push(asked)
      return () => {
        waiting = waiting.filter((one) => one !== asked)
      }
    },
    /** The next one begins; nothing where none was asked for. */
    begin: (): AskedResponse | undefined => {
      dropOld()
      return waiting.shift() ?? doubted.shift()
    },
    /** The next one has begun, but under no name yet. */
    beginUnnamed: (reads: Reads, unasked: AskedResponse): void => {
      const next = waiting.find((one) => one.reads === null)
      if (next) next.reads = reads
      else waiting.push({ ...unasked, reads })
    },
    /**
     * The upstream reports an error, of the event of this name where it names one. By a name that the caller never gave an upstream
     * calls an event without one: like an error without a name, it is taken for that of the oldest, unless `byNameOnly`.
     */
    doubt: (name: string | undefined, { byNameOnly }: { byNameOnly: boolean }): void => {
      const isNamed = name !== undefined && sentNames.has(name)
      const isMeant = (one: AskedResponse): boolean => (isNamed ? one.name === name : !byNameOnly)
      const refused = takeFirst(waiting, (one) => one.reads === null && isMeant(one))
      if (refused) doubted.push({ ...refused, until: now() + doubtMs })
    },
    /** All that are left, when the session is over. */
    takeAll: (): AskedResponse[] => {
      doubted = []
      return waiting.splice(0)
    },
    /** For these something is set aside. */
    paidFor: (): AskedResponse[] => {
      dropOld()
      return [...waiting, ...doubted]
    },
    get size() {
      return waiting.length
    },
    /** Those that may have been refused. */
    get doubted() {
      dropOld()
      return doubted.length
    },
    /** One has begun without saying its name. */
    get hasBegun() {
      return waiting.some(({ reads }) => reads !== null)
    },
  }
}
