import type { Changes } from '#db/changes.ts'
import type { RelayServices } from '#relay/gateway/call.ts'

const gatherMs = 20
const retryMs = 500
const backstopMs = 60_000

/** Drops what is cached the moment another process changes it, and everything once a minute in case a notice was lost. */
export function followChanges(services: RelayServices, changes: Changes): () => void {
  const failed = (error: unknown) => services.log.error({ err: error }, 'cached rows could not be read again')
  const channels = createReloader<number>((ids) => reloadChannels(services, ids), failed)
  const options = createReloader<'all'>(() => services.options.reload(), failed)
  changes.onChange(({ table, id }) => {
    switch (table) {
      case 'token':
        return services.tokens.drop(Number(id))
      case 'user':
        return services.users.drop(Number(id))
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
  changes.onGap(() => {
    services.tokens.clear()
    services.users.clear()
    everything()
  })
  const backstop = setInterval(everything, backstopMs)
  return () => {
    clearInterval(backstop)
    channels.stop()
    options.stop()
  }
}

async function reloadChannels({ channels }: RelayServices, ids: Set<number> | 'all'): Promise<void> {
  if (ids === 'all') return channels.reload()
  for (const id of ids) await channels.reload(id)
}

/**
 * Reads again what is due, one look at a time, so that an older look never overwrites a newer one; notices of one moment
 * share a look, and one that failed is repeated until it succeeds.
 */
function createReloader<Id>(reload: (due: Set<Id> | 'all') => Promise<void>, onError: (error: unknown) => void) {
  let due: Set<Id> | 'all' = new Set()
  let timer: NodeJS.Timeout | null = null
  let running = false
  let stopped = false

  const add = (what: Set<Id> | 'all'): void => {
    due = what === 'all' || due === 'all' ? 'all' : new Set([...due, ...what])
  }
  const isDue = (): boolean => due === 'all' || due.size > 0
  const schedule = (pauseMs: number): void => {
    if (!running && !stopped) timer ??= setTimeout(() => void look(), pauseMs)
  }
  const look = async (): Promise<void> => {
    timer = null
    running = true
    const now = due
    due = new Set()
    let pauseMs = gatherMs
    try {
      await reload(now)
    } catch (error) {
      onError(error)
      add(now)
      pauseMs = retryMs
    }
    running = false
    if (isDue()) schedule(pauseMs)
  }

  return {
    due: (what: Id | 'all'): void => {
      add(what === 'all' ? 'all' : new Set([what as Id]))
      schedule(gatherMs)
    },
    stop: (): void => {
      stopped = true
      if (timer) clearTimeout(timer)
    },
  }
}
