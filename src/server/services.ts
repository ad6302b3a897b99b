import { setTimeout as delay } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import type { Pool } from 'pg'
import type { Logger } from 'pino'
import type { Ambient } from '#core/ambient.ts'
import { InFlight } from '#core/in-flight.ts'
import { createRetryBudget } from '#core/routing/retry-budget.ts'
import { splitKeys } from '#core/channel-types/split-keys.ts'
import { type Changes, listenForChanges } from '#db/changes.ts'
import type { ConnectionOptions } from '#db/connection.ts'
import { createHotPool } from '#db/hot-pool.ts'
import { connect } from '#db/orm.ts'
import type { Services } from '#features/deps.ts'
import type { Job } from '#jobs/job.ts'
import { createCooldownRecords } from '#features/channels/service/cooldowns.ts'
import type { ChargeRow } from '#features/ledger/charge-row.ts'
import { createHoldRecovery, lookForDeadNodesEveryMs, takeNodeIdentity } from '#features/ledger/node.ts'
import { createLedger, type Ledger } from '#features/ledger/service.ts'
import { refundUndelivered } from '#features/ledger/refund.ts'
import { createLimits } from '#features/limits/service.ts'
import { plainNotice } from '#features/notifications/notice.ts'
import { createQuotaWatch } from '#features/notifications/quota-watch.ts'
import { notifyRoot } from '#features/notifications/service.ts'
import { createBodies } from '#features/request-bodies/service.ts'
import { applyDuePriceChanges, loadRows } from '#features/prices/changeover.ts'
import { createOptionsStore } from '#features/options/store.ts'
import { keepPresence } from '#features/system/presence.ts'
import { createSecrets } from '#features/secrets/service.ts'
import { createJobRunner } from '#jobs/runner.ts'
import { createChannelTable } from '#relay/routing/channel-table.ts'
import { createTokenCache } from '#relay/request/token-cache.ts'
import { createUserCache } from '#relay/request/user-cache.ts'
import type { RelayServices } from '#relay/request/call.ts'
import { createFailureLog, type FailureLog } from '#relay/attempt/failure-log.ts'
import { createCircuitBreaker } from '#relay/routing/circuit-breaker.ts'
import { createGuardedFetch } from '#relay/transport/guarded-fetch.ts'
import { createAnswerLengths } from '#relay/billing/answer-lengths.ts'
import { type CountWaits, createTokenCounter } from '#relay/billing/token-counter.ts'
import { createScreener } from '#relay/request/screener.ts'
import { createMediaFetcher } from '#relay/transport/media.ts'
import { createTransport } from '#relay/transport/send.ts'
import type { Tracing } from '#relay/tracing/tracing.ts'
import { systemAmbient, version } from './process.ts'
import { followDatabaseClock } from './database-clock.ts'
import type { Environment } from '#core/environment.ts'
import { followChanges } from './follow-changes.ts'
import { jobList } from './job-list.ts'
import { atMostOnceASecond, reportBatchErrors, reportUnexpected } from './error-log.ts'
import { createProcessMetrics } from './process-metrics.ts'
import { createReadiness } from './readiness.ts'
import { startTracing } from './tracing.ts'
import { createWriteBarrier } from './write-barrier.ts'

/** The library is loaded by those who use it only. */
async function connectRedis(url: string, log: Logger): Promise<Redis> {
  const { Redis: Client } = await import('ioredis')
  const redis = new Client(url, {
    maxRetriesPerRequest: 1,
    // One that is gone without a word, or only reads since a failover, is left for whichever has its address now.
    socketTimeout: 5000,
    // What it may have counted is not counted again.
    autoResendUnfulfilledCommands: false,
    reconnectOnError: ({ message }) => message.includes('READONLY'),
  })
  redis.on('error', (error) => log.warn({ err: error }, 'Redis does not answer'))
  return redis
}

/** How long the end of the process may wait for a database that does not answer. */
export const longestDrainMs = 5000

/** Everything one process needs, connected; `close` lets go of it in order. */
export async function createServices(given: {
  environment: Environment
  connection: ConnectionOptions
  secretKey: string
  log: Logger
  ambient?: Ambient
  /** Other jobs than those of the product, for tests. */
  jobs?: readonly Job<RelayServices>[]
  jobsLookEveryMs?: number | undefined
  /** How long a writer waits for the other nodes, for tests. */
  barrierMs?: number | undefined
  /** How long a count is waited for, for tests. */
  countWaits?: Partial<CountWaits> | undefined
  /** How many connections the console's pages share, for tests. */
  consoleConnections?: number | undefined
  /** How long the end waits for the database, for tests. */
  drainMs?: number | undefined
}): Promise<{ services: RelayServices; drain: () => void; stop: () => void; close: () => Promise<void> }> {
  const { environment, connection, log, drainMs = longestDrainMs } = given
  const sizes = poolSizes(environment.WORKERS)
  const database = await connect(connection, given.consoleConnections ?? sizes.console)
  const lost = (error: unknown) => log.warn({ err: error }, 'a database connection was lost')
  database.pool.on('error', lost)
  const hot = createHotPool(connection, lost, sizes.hot)
  const changes = await listenForChanges(connection, (error) =>
    log.warn({ err: error }, 'the notice connection was lost'),
  )
  const node = await takeNodeIdentity(changes)
  const clock = given.ambient
    ? null
    : await followDatabaseClock(changes, (secondsAhead) =>
        log.warn({ secondsAhead }, "this machine's clock is not the database's, whose time counts"),
      )
  const ambient = given.ambient ?? { ...systemAmbient, ...(clock ? { now: clock.now } : {}) }
  const secrets = createSecrets(given.secretKey)
  const redis = environment.REDIS_URL ? await connectRedis(environment.REDIS_URL, log) : undefined
  const options = createOptionsStore({
    // Like all that calls wait for, on connections where nothing is waited for long.
    load: () =>
      loadRows({ read: async (statement) => (await hot.query(statement)).rows, secrets }, (key) =>
        log.error({ key }, 'an option cannot be decrypted'),
      ),
    now: ambient.now,
    onChangedOver: () => {
      applyDuePriceChanges({ em: database.orm.em.fork(), secrets, ambient }).catch((error: unknown) =>
        log.error({ err: error }, 'a price change that is in force could not be stored yet'),
      )
    },
    onUnreadable: (keys) => log.error({ keys }, 'options cannot be read and stand at their defaults'),
  })
  const transport = createTransport({})
  const worker = {
    settings: () => ({ url: options.get('WorkerUrl'), key: options.get('WorkerValidKey') }),
    transport,
  }
  const guardedFetch = createGuardedFetch({ allowedRanges: environment.OUTBOUND_ALLOW })
  const watchQuota = createQuotaWatch({
    deps: () => services,
    thresholdOf: async (userId) => (await services.users.get(userId))?.quotaWarningThreshold ?? null,
  })
  const metrics = createProcessMetrics(() => services, hot)
  const warnOfTraces = atMostOnceASecond((error) => log.warn({ err: error }, 'spans could not be sent'))
  const tracing = await startTracing(environment, { version, onError: warnOfTraces })
  const failureLog = createFailureLog(hot, (dropped, error) =>
    log.warn({ dropped, err: error }, 'rows of failed attempts could not be written'),
  )
  let draining = false
  let stopping = false
  const cooldowns = createCooldownRecords(
    database.pool,
    node.id,
    atMostOnceASecond((error) => log.warn({ err: error }, 'a cooldown could not be kept for the console')),
  )
  const circuitBreaker = createCircuitBreaker(() => ambient.now().getTime(), cooldowns.put)
  const services: RelayServices = {
    database,
    options,
    secrets,
    ambient,
    log,
    environment,
    version,
    startedAt: ambient.now(),
    ledger: withSpans(
      tracing,
      createLedger({
        pool: hot,
        reserveWaitMs: connection.callMs,
        settleDeadlineMs: connection.callMs,
        nodeId: node.id,
        refund: (row) => refundUndelivered(database.orm.em.fork(), row),
        onCharged: (row, { balance, paid }) => {
          metrics.charged(row)
          if (paid > 0) watchQuota({ userId: row.userId, balance })
        },
        onSetAside: logSetAside(() => services),
        onError: reportBatchErrors(log),
        leases: {
          mayLease: () => environment.LEDGER_LEASES === 'on' && node.isHeld() && follower.receives(),
          recall: async (userId) => {
            await hot.query("select pg_notify('changes', $1)", [`user_lease:${userId}`])
            await barrier()
          },
        },
      }),
    ),
    limits: createLimits({
      redis,
      onError: atMostOnceASecond((error) => log.warn({ err: error }, 'a limit was not counted for all nodes')),
      now: () => ambient.now().getTime(),
    }),
    bodies: createBodies(environment),
    transport,
    guardedFetch,
    jobs: createJobRunner({
      jobs: given.jobs ?? jobList,
      services: () => services,
      changes,
      lookEveryMs: given.jobsLookEveryMs,
    }),
    barrier: () => barrier(),
    upToDate: () => follower.upToDate(),
    media: createMediaFetcher({ allowedRanges: environment.OUTBOUND_ALLOW, worker }),
    counter: createTokenCounter((error) => log.error({ err: error }, 'the counting thread failed'), given.countWaits),
    screener: createScreener(),
    tokens: createTokenCache(hot),
    users: createUserCache(hot),
    channels: createChannelTable({
      pool: hot,
      secrets,
      splitKeys,
      onReplaced: circuitBreaker.forget,
      onBadChannel: (id, error) => log.error({ channel: id, err: error }, 'a channel cannot be used'),
      onIgnored: (id, field) =>
        log.warn({ channel: id, field }, 'a text of a channel is no JSON object and is ignored'),
    }),
    circuitBreaker,
    retryBudget: createRetryBudget(() => performance.now()),
    failureLog: counted(failureLog, metrics),
    reportUnexpected: reportUnexpected(log),
    metrics,
    tracing,
    holds: { lengths: createAnswerLengths(), open: new Map(), reading: new Map(), lastSeen: new Map() },
    keyCursor: new Map(),
    refusedProofs: new Map(),
    refusedForms: new WeakMap(),
    draining: () => draining,
    ready: createReadiness(hot, () => draining),
    stopping: () => stopping,
    underWay: new InFlight(),
  }
  const follower = followChanges(services, changes)
  await follower.load()
  const barrier = await createWriteBarrier({
    changes,
    nodeId: node.id(),
    caughtUp: follower.caughtUp,
    doubt: follower.doubt,
    log,
    longestWaitMs: given.barrierMs,
  })
  // Whoever wrote before we were registered did not wait for us: nothing is served before we have caught up with that.
  await barrier()
  const stopRecovery = await recoverHolds(services, hot, changes)
  const presence = await keepPresence({
    pool: hot,
    node: { id: node.id(), role: environment.ROLE, version, startedAt: services.startedAt },
    folder: environment.DATA_DIR,
    read: () => ({
      callsUnderWay: services.underWay.size,
      ledgerQueue: services.ledger.waiting(),
      bodyBytes: services.bodies.budget.heldBytes,
      cooldowns: circuitBreaker.coolingDown().length,
      connections: connectionsOf([hot, database.pool]),
    }),
  })
  return {
    services,
    drain: () => {
      draining = true
    },
    stop: () => {
      draining = true
      stopping = true
    },
    close: async () => {
      draining = true
      stopping = true
      follower.stop()
      options.stop()
      stopRecovery()
      clock?.stop()
      await services.jobs.stop()
      const drained = services.ledger.drained().then(() => true)
      if (!(await Promise.race([drained, delay(drainMs, false, { ref: false })])))
        log.error('what was still to be booked is left to those who find the holds of dead processes')
      const written = Promise.all([services.failureLog.flushed(), cooldowns.flushed(), presence.stop()])
      await Promise.race([written, delay(drainMs, undefined, { ref: false })])
      await tracing?.close()
      await services.transport.close()
      await services.media.close()
      await services.counter.close()
      await services.screener.close()
      await guardedFetch.close()
      redis?.disconnect()
      await changes.close()
      await Promise.race([Promise.all([hot.end(), database.close()]), delay(drainMs, undefined, { ref: false })])
    },
  }
}

const connectionsOf = (pools: readonly Pool[]) => ({
  open: pools.reduce((sum, pool) => sum + pool.totalCount, 0),
  idle: pools.reduce((sum, pool) => sum + pool.idleCount, 0),
  waiting: pools.reduce((sum, pool) => sum + pool.waitingCount, 0),
})

const withSpans = (tracing: Tracing | null, ledger: Ledger): Ledger => tracing?.ledger(ledger) ?? ledger

const counted = (failureLog: FailureLog, metrics: RelayServices['metrics']): FailureLog => ({
  ...failureLog,
  add: (row) => {
    metrics.failed(row)
    failureLog.add(row)
  },
})

/** The database that comes along takes 200 connections; the processes of this machine share them, one each listens. */
function poolSizes(workers: number): { hot: number; console: number } {
  const share = Math.floor(160 / workers) - 1
  const hot = Math.min(6, Math.max(2, Math.floor(share / 4)))
  return { hot, console: Math.min(20, Math.max(2, share - hot)) }
}

/** The operator is notified of each charge that the database refused: of those that wait for a decision by a notice too. */
function logSetAside(services: () => Services) {
  return ({ row, error, storedAs }: { row: ChargeRow; error: unknown; storedAs: 'texts' | 'hold' }): void => {
    const { log } = services()
    const named = { requestId: row.id, user: row.userId, quota: row.quota, err: error }
    if (storedAs === 'texts')
      return log.error(named, 'a charge was booked without its texts, which the database refused')
    // Of what was said in the call nothing.
    const { content: _, other: __, ...figures } = row
    log.error(
      { ...named, row: figures },
      'a charge cannot be booked; it waits in failed_charges and its hold stays open',
    )
    void notifyRoot(services(), {
      zh: plainNotice(
        'failed_charge',
        '有扣费无法入账',
        `请求 ${row.id} 的扣费无法入账，额度保持冻结，请到系统设置的「未入账的扣费」处理。`,
      ),
      en: plainNotice(
        'failed_charge',
        'A charge could not be booked',
        `The charge of request ${row.id} could not be booked and its quota stays held; see "Charges not booked" in the system settings.`,
      ),
    })
  }
}

/**
 * Looks for holds of dead processes, one look after another. Resolves after the first, which what is served next can rely on;
 * what says who died is forgotten no sooner.
 */
async function recoverHolds(services: Services, hot: Pool, changes: Changes): Promise<() => void> {
  const recover = createHoldRecovery(hot, changes)
  let timer: NodeJS.Timeout | undefined
  let stopped = false
  const look = async (): Promise<void> => {
    try {
      const { released } = await recover()
      if (released > 0) services.log.warn({ released }, 'gave back the holds of a process that died')
    } catch (error) {
      services.log.error({ err: error }, 'looking for dead processes failed')
    }
    if (!stopped) timer = setTimeout(() => void look(), lookForDeadNodesEveryMs)
  }
  await look()
  return () => {
    stopped = true
    clearTimeout(timer)
  }
}
