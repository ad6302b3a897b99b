import { DomainError } from '#core/errors.ts'
import {
  askAboutBatch,
  BatchRefused,
  findBatch,
  forgetBatch,
  hasEnded,
  largestBatchAnswer,
  listBatches,
  lookAtBatch,
  settleBatch,
  type StoredBatch,
} from '#features/message-batches/service.ts'
import { attemptFailureAt } from '#relay/attempt/shape-failure.ts'
import { failedReply } from '#relay/attempt/send-request.ts'
import { upstreamChannelOf } from '#relay/attempt/upstream-channel.ts'
import { claude } from '#relay/dialects/claude/index.ts'
import type { Attempt, Incoming, RelayServices } from '#relay/request/call.ts'
import { answerLimited, type Exchange } from '#relay/limited-call.ts'
import { drained } from '#relay/response/caller-stream.ts'
import type { UpstreamChannel } from '#relay/upstream-call/channel.ts'
import { shownBatch } from './answer.ts'
import { placeOfBatch } from './place.ts'
import { createShownResults } from './shown-results.ts'

const word = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)
const mostListed = 1000

/** The caller's own batches as they stood when they were looked at last, the latest first. */
export const listOwnBatches = (services: RelayServices, exchange: Exchange): Promise<void> =>
  answerLimited(services, exchange, {
    dialect: claude,
    isFree: true,
    answer: async ({ incoming, caller: { user } }) => {
      const { limit: wanted, after_id: after, before_id: before } = incoming.req.query
      const most = Math.min(mostListed, Math.max(1, Number.parseInt(String(wanted ?? '20'), 10) || 20))
      const page = { userId: user.id, limit: most, after: word(after), before: word(before) }
      const { answers, hasMore } = await listBatches(services.database.pool, page)
      const data = answers.map((batch) => shownBatch(services, incoming, batch))
      incoming.res.json({
        data,
        has_more: hasMore,
        first_id: data[0]?.['id'] ?? null,
        last_id: data.at(-1)?.['id'] ?? null,
      })
    },
  })

/**
 * What a caller wants of a batch of its own, asked where it is. One that is found to have ended is charged before the caller
 * reads so, and before its results can be deleted.
 */
export const answerAboutBatch = (
  services: RelayServices,
  action: 'read' | 'results' | 'cancel' | 'delete',
  exchange: Exchange,
): Promise<void> =>
  answerLimited(services, exchange, {
    dialect: claude,
    isFree: true,
    answer: async ({ incoming, caller: { user } }) => {
      const id = String(exchange.req.params['id'])
      const batch = await findBatch(services.database.pool, { id, userId: user.id })
      const made = batch && placeOfBatch(services, batch)
      if (!made) throw new DomainError('relay.batch_unknown', { id })
      const place = upstreamChannelOf(made)
      try {
        await actions[action](services, incoming, { batch, place, made })
      } catch (error) {
        throw await asFailure(services, error, { made, id })
      }
    },
  })

type Place = Pick<Attempt, 'channel' | 'key'>
type At = { batch: StoredBatch; place: UpstreamChannel; made: Place }

type Made = { made: Place; id: string }

async function asFailure(services: RelayServices, error: unknown, { made, id }: Made): Promise<unknown> {
  if (error instanceof DomainError) return error
  if (!(error instanceof BatchRefused)) return attemptFailureAt(services, { place: made }, error)
  const failed = await failedReply(services, { attempt: made, providerCall: {} }, error.reply)
  return error.reply.status === 404 ? new DomainError('relay.batch_unknown', { id }) : failed
}

const describe =
  (action: 'read' | 'cancel') =>
  async (services: RelayServices, incoming: Incoming, { batch, place }: At): Promise<void> => {
    const now = await lookAtBatch(services, place, { batch, action })
    await settled(services, place, now)
    incoming.res.json(shownBatch(services, incoming, now.answer))
  }

/** @throws {DomainError} relay.batch_unsettled when its results cannot be read now. */
async function settled(services: RelayServices, place: UpstreamChannel, batch: StoredBatch): Promise<void> {
  try {
    await settleBatch(services, place, batch)
  } catch (cause) {
    if (cause instanceof BatchRefused) cause.reply.cancel()
    throw new DomainError('relay.batch_unsettled', {}, { cause })
  }
}

const actions = {
  read: describe('read'),
  cancel: describe('cancel'),
  results: async (services: RelayServices, incoming: Incoming, { batch, place, made }: At) => {
    const now = hasEnded(batch) ? batch : await lookAtBatch(services, place, { batch })
    await settled(services, place, now)
    const { signal } = incoming.upstreamAbort
    const reply = await askAboutBatch(services, place, { input: { id: batch.id, action: 'results' }, signal })
    const { res, callerAborted } = incoming
    res.status(200).setHeader('content-type', String(reply.headers['content-type'] ?? 'application/x-jsonl'))
    const shown = createShownResults(services, { incoming, made })
    try {
      for await (const chunk of reply.body) {
        // Whoever has gone aborts nothing where answers are finished all the same; of this one all is charged already.
        if (callerAborted.signal.aborted) break
        const text = shown.push(chunk)
        if (text !== '' && !res.write(text)) await drained(incoming)
      }
      res.end(shown.end())
    } catch (error) {
      // What has begun cannot become another answer; the reader sees that it was cut.
      services.log.warn({ err: error, batch: batch.id }, 'the results of a batch were cut')
      res.destroy()
    }
  },
  delete: async (services: RelayServices, incoming: Incoming, { batch, place }: At) => {
    const now = batch.settledAt ? batch : await lookAtBatch(services, place, { batch })
    // An upstream refuses to delete what goes on.
    await settled(services, place, now)
    const reply = await askAboutBatch(services, place, { input: { id: batch.id, action: 'delete' } })
    const json = await reply.json(largestBatchAnswer)
    await forgetBatch(services.database.pool, batch.id)
    incoming.res.json(json)
  },
}
