import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Redis } from 'ioredis'
import { type Logger, pino } from 'pino'
import type { Ambient } from '#core/ambient.ts'
import { splitKeys } from '#core/channel-types/split-keys.ts'
import { listenForChanges } from '#db/changes.ts'
import type { ConnectionOptions } from '#db/connection.ts'
import { connect } from '#db/orm.ts'
import type { Services } from '#features/deps.ts'
import { createHoldRecovery, takeNodeIdentity } from '#features/ledger/node.ts'
import { createLedger, refundUndelivered } from '#features/ledger/service.ts'
import { createLimits } from '#features/limits/service.ts'
import { createOptionsStore, loadOptionRows } from '#features/options/service.ts'
import { createSecrets } from '#features/secrets/service.ts'
import { createChannelTable } from '#relay/gateway/cache/channel-table.ts'
import { createTokenCache } from '#relay/gateway/cache/token-cache.ts'
import { createUserCache } from '#relay/gateway/cache/user-cache.ts'
import type { RelayServices } from '#relay/gateway/call.ts'
import { createHealth } from '#relay/gateway/health.ts'
import { createMediaFetcher } from '#relay/upstream/media.ts'
import { createTransport } from '#relay/upstream/send.ts'
import type { Environment } from './env.ts'

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

export const systemAmbient: Ambient = {
  now: () => new Date(),
  random: Math.random,
  newId: (length) => {
    let id = ''
    // 248 is the largest multiple of 62 in a byte: what lies above would make some letters likelier.
    while (id.length < length) {
      for (const byte of randomBytes(length)) if (byte < 248 && id.length < length) id += alphabet[byte % 62]
    }
    return id
  },
}

export const createLog = (level: Environment['LOG_LEVEL']): Logger =>
  pino({ level, redact: ['req.headers.authorization', 'req.headers.cookie', 'req.headers["x-api-key"]'] })

/** Everything one process needs, connected; `close` lets go of it in order. */
export async function createServices(given: {
  environment: Environment
  connection: ConnectionOptions
  secretKey: string
  log: Logger
  ambient?: Ambient
}): Promise<{ services: RelayServices; stop: () => void; close: () => Promise<void> }> {
  const { environment, connection, log } = given
  const ambient = given.ambient ?? systemAmbient
  const database = await connect(connection)
  const { pool } = database
  pool.on('error', (error) => log.warn({ err: error }, 'a database connection was lost'))
  const changes = await listenForChanges(connection, (error) =>
    log.warn({ err: error }, 'the notice connection was lost'),
  )
  const node = await takeNodeIdentity(changes)
  const secrets = createSecrets(given.secretKey)
  const redis = environment.REDIS_URL ? new Redis(environment.REDIS_URL, { maxRetriesPerRequest: 1 }) : undefined
  redis?.on('error', (error) => log.warn({ err: error }, 'Redis does not answer'))
  const options = createOptionsStore({
    load: () =>
      loadOptionRows({ em: database.orm.em.fork(), secrets }, (key) =>
        log.error({ key }, 'an option cannot be decrypted'),
      ),
    onUnreadable: (keys) => log.error({ keys }, 'options cannot be read and stand at their defaults'),
  })
  await options.reload()
  let stopping = false
  const services: RelayServices = {
    database,
    options,
    secrets,
    ambient,
    log,
    environment,
    version,
    startedAt: ambient.now(),
    ledger: createLedger({
      pool,
      nodeId: node.id,
      refund: (row) => refundUndelivered(database.orm.em.fork(), row),
      onError: (error) => log.error({ err: error }, 'a ledger batch failed'),
    }),
    limits: createLimits({ redis, onError: (error) => log.warn({ err: error }, 'a limit could not be counted') }),
    transport: createTransport({}),
    media: createMediaFetcher({ allowedRanges: environment.OUTBOUND_ALLOW }),
    tokens: createTokenCache(pool),
    users: createUserCache(pool),
    channels: createChannelTable({
      pool,
      secrets,
      splitKeys,
      onBadChannel: (id, error) => log.error({ channel: id, err: error }, 'a channel cannot be used'),
    }),
    health: createHealth(() => ambient.now().getTime()),
    keyCursor: new Map(),
    stopping: () => stopping,
  }
  await services.channels.reload()
  const stopFollowing = followChanges(services, changes)
  const stopRecovery = recoverHolds(services)
  return {
    services,
    stop: () => {
      stopping = true
    },
    close: async () => {
      stopping = true
      stopFollowing()
      stopRecovery()
      await services.ledger.drained()
      await services.transport.close()
      await services.media.close()
      redis?.disconnect()
      await changes.close()
      await database.close()
    },
  }
}

/** Drops what is cached the moment another process changes it, and everything once a minute in case a notice was lost. */
function followChanges(services: RelayServices, changes: Awaited<ReturnType<typeof listenForChanges>>): () => void {
  const failed = (error: unknown) => services.log.error({ err: error }, 'cached rows could not be read again')
  const channelsDue = new Set<number>()
  let channelTimer: NodeJS.Timeout | null = null
  const reloadChannels = (): void => {
    const due = [...channelsDue]
    channelsDue.clear()
    channelTimer = null
    for (const id of due) services.channels.reload(id).catch(failed)
  }
  let optionTimer: NodeJS.Timeout | null = null
  changes.onChange(({ table, id }) => {
    switch (table) {
      case 'token':
        return services.tokens.drop(Number(id))
      case 'user':
        return services.users.drop(Number(id))
      case 'channel':
        // One edit touches several rows of a channel: one look serves them all.
        channelsDue.add(Number(id))
        channelTimer ??= setTimeout(reloadChannels, 20)
        return undefined
      case 'option':
        optionTimer ??= setTimeout(() => {
          optionTimer = null
          services.options.reload().catch(failed)
        }, 20)
        return undefined
      default:
        return undefined
    }
  })
  const everything = (): void => {
    services.tokens.clear()
    services.users.clear()
    services.channels.reload().catch(failed)
    services.options.reload().catch(failed)
  }
  changes.onGap(everything)
  const backstop = setInterval(() => {
    services.channels.reload().catch(failed)
    services.options.reload().catch(failed)
  }, 60_000)
  return () => clearInterval(backstop)
}

/** Looks for holds of dead processes now and every ten seconds. */
function recoverHolds(services: Services): () => void {
  const recover = createHoldRecovery(services.database.pool)
  const look = (): void => {
    recover()
      .then(({ released }) => {
        if (released > 0) services.log.warn({ released }, 'gave back the holds of a process that died')
      })
      .catch((error: unknown) => services.log.error({ err: error }, 'looking for dead processes failed'))
  }
  look()
  const timer = setInterval(look, 10_000)
  return () => clearInterval(timer)
}
