import { setTimeout as delay } from 'node:timers/promises'
import { oneAtATime } from '#core/one-at-a-time.ts'
import type { Changes } from '#db/changes.ts'
import type { RelayServices } from '#relay/request/call.ts'

const gatherMs = 20
const retryMs = 500
const backstopMs = 60_000

export type Follower = {
  /** Reads everything; the first time before anybody asks for it. @throws when it cannot be read. */
  load: () => Promise<void>
  /** Resolves when everything that notices have named so far is read again. Never rejects: what fails is tried again. */
  caughtUp: () => Promise<void>
  /** Notices were missed: everything cached may be stale. */
  doubt: () => void
  /**
   * Nothing while notices are received. While they are not, a promise that resolves when what has changed until the call is
   * read. @throws when it cannot be read.
   */
  upToDate: () => Promise<void> | undefined
  /** Notices are received, and everything they have named is dropped. */
  receives: () => boolean
  stop: () => void
}

/**
 * Drops what is cached the moment somebody changes it, and compares everything once a minute in case a notice was lost. While
 * the connection for notices is away, each call is served by what is read for it.
 * Follows from its making on, so that what changes while the first rows are read is not missed.
 */
export function followChanges(
  services: Pick<RelayServices, 'tokens' | 'users' | 'channels' | 'options' | 'ledger' | 'log'>,
  changes: Changes,
): Follower {
  const onError = (error: unknown) => services.log.error({ err: error }, 'cached rows could not be read again')
  const channels = createReloader<number>({ reload: (ids) => services.channels.reload(ids), onError })
  const options = createReloader<never>({ reload: () => services.options.reload(), onError })
  changes.onChange(({ table, id }) => {
    switch (table) {
      case 'token':
        services.ledger.returnLeases({ tokenId: Number(id) })
        return services.tokens.drop(Number(id))
      case 'user':
        services.ledger.returnLeases({ userId: Number(id) })
        return services.users.drop(Number(id))
      case 'token_lease':
        return services.ledger.returnLeases({ tokenId: Number(id) })
      case 'user_lease':
        return services.ledger.returnLeases({ userId: Number(id) })
      case 'channel':
        return channels.due(Number(id))
      case 'option':
        return options.due('all')
      default:
        return undefined
    }
  })
  const everything = (): void => {
    channels.due('all')
    options.due('all')
  }
  const doubt = (): void => {
    services.ledger.returnLeases('all')
    services.tokens.clear()
    services.users.clear()
    everything()
  }
  let deaf = false
  let losses = 0
  let stopped = false
  const readWhatChanged = oneAtATime(async (): Promise<void> => {
    services.tokens.clear()
    services.users.clear()
    await Promise.all([services.channels.reload(), services.options.reload()])
  })
  changes.onLost(() => {
    losses += 1
    deaf = true
    services.ledger.returnLeases('all')
  })
  // What is read from now on is followed again; until it is read, calls read it themselves.
  const readAgain = async (): Promise<void> => {
    const upTo = losses
    while (!stopped && upTo === losses) {
      try {
        await readWhatChanged()
        if (upTo === losses) deaf = false
        return
      } catch (error) {
        onError(error)
        await delay(retryMs, undefined, { ref: false })
      }
    }
  }
  changes.onGap(() => void readAgain())
  const backstop = setInterval(everything, backstopMs)
  return {
    load: async () => {
      await services.options.reload()
      await services.channels.reload()
    },
    caughtUp: async () => {
      await Promise.all([channels.caughtUp(), options.caughtUp(), services.ledger.leasesReturned()])
    },
    doubt,
    receives: () => !deaf,
    upToDate: () => (deaf ? readWhatChanged() : undefined),
    stop: () => {
      stopped = true
      clearInterval(backstop)
      channels.stop()
      options.stop()
    },
  }
}

/**
 * Reads again what is due, one look at a time, so that an older look never overwrites a newer one; notices of one moment
 * share a look, and one that failed is repeated until it succeeds.
 */
function createReloader<Id>({
  reload,
  onError,
}: {
  reload: (due: Set<Id> | undefined) => Promise<void>
  onError: (error: unknown) => void
}) {
  let due: Set<Id> | 'all' = new Set()
  // Counted, so that whoever waits knows when everything noted before has been read.
  let noted = 0
  let read = 0
  let timer: NodeJS.Timeout | null = null
  let running: Promise<void> | null = null
  let stopped = false

  const add = (what: Set<Id> | 'all'): void => {
    if (what === 'all' || due === 'all') due = 'all'
    // Into the one that is there: an import notices thousands of channels at once.
    else for (const id of what) due.add(id)
  }
  const look = async (): Promise<void> => {
    while (!stopped) {
      const upTo = noted
      const now = due
      due = new Set()
      try {
        await reload(now === 'all' ? undefined : now)
        read = upTo
        return
      } catch (error) {
        onError(error)
        add(now)
        await delay(retryMs, undefined, { ref: false })
      }
    }
  }
  const start = (): Promise<void> => {
    if (timer) clearTimeout(timer)
    timer = null
    running ??= look().finally(() => {
      running = null
      schedule()
    })
    return running
  }
  const schedule = (): void => {
    if (!running && !stopped && read < noted) timer ??= setTimeout(() => void start(), gatherMs)
  }

  return {
    due: (what: Id | 'all'): void => {
      noted += 1
      add(what === 'all' ? 'all' : new Set([what]))
      schedule()
    },
    caughtUp: async (): Promise<void> => {
      const target = noted
      // A look under way may have begun before the notice.
      while (read < target && !stopped) await start()
    },
    stop: (): void => {
      stopped = true
      if (timer) clearTimeout(timer)
    },
  }
}
