import { findTaskChannels, reasonOf, type TaskServices } from '#features/tasks/service/task-channels.ts'
import { inParts } from '#features/tasks/service/rounds.ts'
import type { Services } from '#features/deps.ts'
import { rememberAnswers } from '#features/stored-responses/service.ts'
import { readBatchResult } from '#relay/providers/anthropic/batches.ts'
import { createJsonLineReader } from '#relay/providers/shared/json-lines.ts'
import { retryAfterMs } from '#relay/transport/retry-after.ts'
import type { UpstreamReply } from '#relay/transport/send.ts'
import type { UpstreamChannel } from '#relay/upstream-call/channel.ts'
import { asBatch, askAboutBatch, BatchRefused, hasEnded, largestBatchAnswer, refusesForGood } from './ask.ts'
import { chargeRowOf, createTally, type Tally } from './charge.ts'
import { usageOfAnswer } from './estimate.ts'
import { findLostBatch, giveBackIntent } from './lost.ts'
import {
  findOwners,
  findUnsettled,
  isIntent,
  markSettled,
  noteBatch,
  noteLook,
  openHolds,
  type StoredBatch,
} from './store.ts'

export * from './ask.ts'
export { customIdsOf } from './lost.ts'
export * from './store.ts'

type BatchServices = TaskServices & Pick<Services, 'ledger'>

/** Nothing is learned any more of a batch that should have ended so long ago: what was set aside is given back. */
const givenUpAfterMs = 72 * 3_600_000
/** So long its vendor keeps results, and so long one is asked that does not answer. */
const resultsStoredMs = 29 * 86_400_000
const mostInRound = 500
const longestRestMs = 600_000

/** How a batch stands now, or after a request to cancel it; stored. @throws as `askAboutBatch` does */
export async function lookAtBatch(
  services: BatchServices,
  place: UpstreamChannel,
  { batch, action = 'read' }: { batch: StoredBatch; action?: 'read' | 'cancel' },
): Promise<StoredBatch> {
  const reply = await askAboutBatch(services, place, { input: { id: batch.id, action } })
  const answer = asBatch(await reply.json(largestBatchAnswer))
  if (answer?.['id'] !== batch.id) throw new Error('the upstream did not describe the batch')
  await noteBatch(services.database.pool, { id: batch.id, answer })
  return { ...batch, answer }
}

const settling = new Map<string, Promise<void>>()

/**
 * Charges a batch that has ended by what its results say, and gives back what was set aside beyond that. Once, whoever calls it
 * and however often: a hold that is gone has been settled.
 * @throws when the results cannot be read; nothing is charged then.
 */
export function settleBatch(services: BatchServices, place: UpstreamChannel, batch: StoredBatch): Promise<void> {
  if (batch.settledAt !== null || !hasEnded(batch)) return Promise.resolve()
  const running = settling.get(batch.id) ?? settleOnce(services, batch, () => tallyResults(services, place, batch))
  settling.set(batch.id, running)
  return running.finally(() => settling.delete(batch.id))
}

type Tallies = ReadonlyMap<string, Tally>

const emptyTallies = ({ facts }: StoredBatch): Tallies =>
  new Map(facts.shares.map((share) => [share.holdId, createTally(share)]))

async function settleOnce(services: BatchServices, batch: StoredBatch, read: () => Promise<Tallies>): Promise<void> {
  const { database, options, ledger } = services
  const { shares } = batch.facts
  const ids = shares.map(({ holdId }) => holdId)
  if ((await openHolds(database.pool, ids)).size > 0) {
    const tallies = await read()
    // Somebody else may have settled it while the results were read.
    const open = await openHolds(database.pool, ids)
    for (const share of shares.filter(({ holdId }) => open.has(holdId))) {
      const tally = tallies.get(share.holdId) as Tally
      await ledger.settle(chargeRowOf(batch, share, { tally, log: options.get('LogConsumeEnabled') }), 'go-on')
    }
  }
  await markSettled(database.pool, batch.id)
}

const succeeded = ({ answer }: StoredBatch): number | undefined => {
  const counts = answer['request_counts']
  const count: unknown =
    typeof counts === 'object' && counts !== null && 'succeeded' in counts ? counts.succeeded : null
  return typeof count === 'number' ? count : undefined
}

/** What an upstream counts may be wrong, and results that are there are served; nothing where it counts none and has none. */
async function resultsOf(
  services: BatchServices,
  place: UpstreamChannel,
  batch: StoredBatch,
): Promise<UpstreamReply | undefined> {
  try {
    return await askAboutBatch(services, place, { input: { id: batch.id, action: 'results' } })
  } catch (error) {
    const hasNone = error instanceof BatchRefused && [400, 404, 410].includes(error.reply.status)
    if (succeeded(batch) !== 0 || !hasNone) throw error
    error.reply.cancel()
    return undefined
  }
}

async function tallyResults(services: BatchServices, place: UpstreamChannel, batch: StoredBatch): Promise<Tallies> {
  const tallies = emptyTallies(batch)
  const ownerOf = await findOwners(services.database.pool, batch)
  const reply = await resultsOf(services, place, batch)
  if (!reply) return tallies
  const seen = new Set<string>()
  const made = new Set<string>()
  const reader = createJsonLineReader()
  const take = async (lines: readonly { data: string }[]): Promise<void> => {
    for (const { data } of lines) {
      const result = readBatchResult(data)
      // Who counts none and has none may say so in any form.
      if (!result && succeeded(batch) === 0) continue
      if (!result) throw new Error('a line of the results is no result')
      const { customId, answered } = result
      const owner = ownerOf(customId)
      // A request is paid once, and nothing that was never asked.
      if (!answered || !owner || seen.has(customId)) continue
      seen.add(customId)
      for (const id of answered.made) made.add(id)
      const { promptTokens } = owner
      tallies.get(owner.holdId)?.add(await usageOfAnswer(services, { ...answered, promptTokens }))
    }
  }
  for await (const chunk of reply.body) await take(reader.push(chunk))
  await take(reader.end())
  // Cut off between two lines, a file looks whole; what still lacks them after days will not get them.
  const counted = succeeded(batch) ?? 0
  if (seen.size < counted) {
    const isFinal = services.ambient.now().getTime() - batch.createdAt.getTime() >= givenUpAfterMs
    if (!isFinal) throw new Error('the results have fewer answers than their batch counts')
    services.log.error(
      { batch: batch.id, channel: batch.channelId, counted, found: seen.size },
      'a batch is charged for fewer answers than it counts: its results have no more',
    )
  }
  // Before its maker can read of it, or name it.
  await rememberAnswers(services.database.pool, { ...batch, ids: [...made], model: '' })
  return tallies
}

/** One round over the batches that are not settled: looks how they stand, charges those that have ended. */
export async function pollBatches(services: BatchServices): Promise<number> {
  const { database, log } = services
  const batches = await findUnsettled(database.pool, mostInRound)
  if (batches.length === 0) return 0
  const channels = await findTaskChannels(services, [...new Set(batches.map(({ channelId }) => channelId))])
  /** How long a key is left alone that has made too many requests. */
  const restMs = new Map<string, number>()
  await inParts(batches, async (batch) => {
    const place = channels.get(batch.channelId)?.(batch.keyHmac)
    const rest = restMs.get(batch.keyHmac)
    if (rest !== undefined) return noteLook(database.pool, [batch.id], rest)
    try {
      if (!place) throw new Error('its channel is gone')
      const named = isIntent(batch)
        ? await findLostBatch(services, place, batch)
        : await lookAtBatch(services, place, { batch })
      if (named) await settleBatch(services, place, named)
    } catch (error) {
      if (error instanceof BatchRefused) error.reply.cancel()
      const reason = place ? reasonOf(error, place) : String(error)
      const waitMs = askedRestMs(services, error)
      if (waitMs > 0) restMs.set(batch.keyHmac, waitMs)
      await noteLook(database.pool, [batch.id], waitMs)
      if (services.ambient.now().getTime() - batch.createdAt.getTime() < longestAskedMs(error, place)) {
        log.warn({ reason, batch: batch.id, channel: batch.channelId }, 'a batch could not be looked at')
        return
      }
      log.error({ reason, batch: batch.id, channel: batch.channelId }, 'a batch is given up, nothing is charged for it')
      if (isIntent(batch)) await giveBackIntent(services, batch)
      else await settleOnce(services, batch, () => Promise.resolve(emptyTallies(batch)))
    }
  })
  return batches.length
}

/** How long an upstream asks to be left alone. */
const askedRestMs = ({ ambient }: BatchServices, error: unknown): number => {
  if (!(error instanceof BatchRefused) || error.reply.status !== 429) return 0
  return Math.min(retryAfterMs(error.reply.headers, ambient.now().getTime()) ?? 0, longestRestMs)
}

/** A channel that is gone is so for good. */
const longestAskedMs = (error: unknown, place: UpstreamChannel | undefined): number =>
  !place || refusesForGood(error) ? givenUpAfterMs : resultsStoredMs
