import { createHash } from 'node:crypto'
import type { Services } from '#features/deps.ts'
import { listedAtOnce, readBatchResult } from '#relay/providers/anthropic/batches.ts'
import { createJsonLineReader } from '#relay/providers/shared/json-lines.ts'
import type { UpstreamChannel } from '#relay/upstream-call/channel.ts'
import { asBatch, askAboutBatch, BatchRefused, hasEnded, refusesForGood } from './ask.ts'
import { adoptBatch, forgetIntent, countTwins, type Json, knownBatches, noteLook, type StoredBatch } from './store.ts'

type LostServices = Parameters<typeof askAboutBatch>[0] & Pick<Services, 'database' | 'ledger' | 'log'>

/** Until then whoever sent it may still hear of it. */
const askedAfterMs = 60_000
/** So long an upstream may take to take a batch, and so far may two clocks be apart. */
const takenWithinMs = 3_600_000
const clocksApartMs = 600_000
const mostPages = 20
const largestList = 4 * 1024 * 1024

/** The names of a batch's requests as one word, whatever their order. */
export const customIdsOf = (ids: readonly string[]): string =>
  createHash('sha256').update(ids.toSorted().join('\n')).digest('base64url')

/**
 * Looks for the batch of a call whose answer never arrived among those of its key: one of that time that is nobody's and whose
 * results have the very names of its requests. It becomes its caller's, and is charged as any other; where there is none after
 * an hour, none was taken, and what was set aside is given back. Nothing yet is an answer too.
 */
export async function findLostBatch(
  services: LostServices,
  place: UpstreamChannel,
  intent: StoredBatch,
): Promise<StoredBatch | undefined> {
  const { pool } = services.database
  const age = services.ambient.now().getTime() - intent.createdAt.getTime()
  if (age >= askedAfterMs) {
    const listed = await possible(services, place, intent)
    const known = await knownBatches(
      pool,
      listed.map(({ id }) => id),
    )
    const candidates = listed.filter(({ id }) => !known.has(id))
    if (candidates.some((answer) => !hasEnded({ answer }))) {
      await noteLook(pool, [intent.id])
      return undefined
    }
    const found = await withItsNames(services, place, { intent, candidates })
    const [first] = found
    const twins = await countTwins(pool, intent)
    // Of several that its caller sent alike, any is this one.
    if (first && twins.others === 0 && found.length <= twins.own) return adoptBatch(pool, intent, first)
    if (first) services.log.error({ batch: first.id, call: intent.id }, 'whose lost batch this is cannot be said')
  }
  if (age < takenWithinMs) await noteLook(pool, [intent.id])
  else await giveBackIntent(services, intent)
  return undefined
}

/** Gives back what is set aside for a batch that no upstream has taken. */
export async function giveBackIntent(
  { ledger, database }: Pick<LostServices, 'ledger' | 'database'>,
  { id, userId, tokenId, facts }: Pick<StoredBatch, 'id' | 'userId' | 'tokenId' | 'facts'>,
): Promise<void> {
  await Promise.all(facts.shares.map(({ holdId }) => ledger.release({ id: holdId, userId, tokenId })))
  await forgetIntent(database.pool, id)
}

type Listed = Json & { id: string }

/** The key's batches of that time, with as many requests. */
async function possible(services: LostServices, place: UpstreamChannel, intent: StoredBatch): Promise<Listed[]> {
  const sentAt = intent.createdAt.getTime()
  const found: Listed[] = []
  let after = ''
  for (let page = 0; page < mostPages; page += 1) {
    const reply = await askAboutBatch(services, place, { input: { id: after, action: 'list' } })
    const json: unknown = await reply.json(largestList)
    const data: unknown = typeof json === 'object' && json !== null && 'data' in json ? json.data : undefined
    if (!Array.isArray(data)) throw new Error('the upstream did not list its batches')
    const batches = data.map(asBatch).filter((batch) => batch !== undefined)
    const times = batches.map((batch) => Date.parse(String(batch['created_at'])))
    found.push(
      ...batches.filter((batch, index) => {
        const at = times[index] ?? Number.NaN
        const isOfThatTime = at >= sentAt - clocksApartMs && at <= sentAt + takenWithinMs
        return isOfThatTime && requestsOf(batch) === intent.facts.intent?.requests
      }),
    )
    after = batches.at(-1)?.id ?? ''
    if (data.length < listedAtOnce || after === '' || (times.at(-1) ?? 0) < sentAt - clocksApartMs) return found
  }
  throw new Error('too many batches of one hour to find a lost one among them')
}

function requestsOf(batch: Json): number {
  const { request_counts: counts } = batch
  let sum = 0
  for (const count of Object.values(Object(counts))) sum += typeof count === 'number' ? count : 0
  return sum
}

type Among = { intent: StoredBatch; candidates: Listed[] }

/**
 * What cannot be read of one candidate hides no other: it matters where none of the others is the lost one. What may be read
 * the next time is waited for, since it may be the lost one and another of its names somebody else's.
 */
async function withItsNames(
  services: LostServices,
  place: UpstreamChannel,
  { intent, candidates }: Among,
): Promise<Listed[]> {
  const found: Listed[] = []
  let unread: Error | undefined
  for (const candidate of candidates) {
    try {
      if ((await namesIn(services, place, candidate)) === intent.facts.intent?.customIds) found.push(candidate)
    } catch (error) {
      if (!(error instanceof ResultsShort || refusesForGood(error))) throw error
      if (error instanceof BatchRefused) error.reply.cancel()
      unread = error
    }
  }
  if (unread && found.length === 0) throw unread
  return found
}

class ResultsShort extends Error {
  override name = 'ResultsShort'
}

/** Results do not change any more, and those of another batch are met in each round. */
const read = new Map<string, string>()
const mostRead = 1000

async function namesIn(services: LostServices, place: UpstreamChannel, batch: Listed): Promise<string> {
  const { id } = batch
  const known = read.get(id)
  if (known !== undefined) return known
  const reply = await askAboutBatch(services, place, { input: { id, action: 'results' } })
  const reader = createJsonLineReader()
  const ids: string[] = []
  const take = (lines: readonly { data: string }[]): void => {
    for (const { data } of lines) ids.push(readBatchResult(data)?.customId ?? '')
  }
  for await (const chunk of reply.body) take(reader.push(chunk))
  take(reader.end())
  // Cut off between two lines, a file looks whole.
  if (ids.length < requestsOf(batch))
    throw new ResultsShort('the results have fewer lines than their batch has requests')
  const names = customIdsOf(ids)
  if (read.size >= mostRead) read.clear()
  read.set(id, names)
  return names
}
