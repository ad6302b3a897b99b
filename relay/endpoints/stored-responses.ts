import { DomainError } from '#core/errors.ts'
import { priceOf } from '#core/pricing/price-of.ts'
import { forgetAnswer } from '#features/stored-responses/service.ts'
import { forgetLocalResponse } from '#features/stored-responses/local-responses.ts'
import { isInteractionId } from '#relay/dialects/gemini-interactions/ids.ts'
import { openAiResponses } from '#relay/dialects/openai-responses/index.ts'
import { instructs } from '#relay/attempt/channel-body.ts'
import { upstreamChannelOf, providerCallOf } from '#relay/attempt/upstream-channel.ts'
import { mostReadAt } from '#relay/billing/most-read.ts'
import { mostRead } from '#relay/counting/unseen-input.ts'
import type { CallCore, Incoming, RelayServices } from '#relay/request/call.ts'
import { readStored } from '#relay/routing/local-responses.ts'
import { placeOfAnswer, placeStoredAt, recountStored } from '#relay/routing/stored-responses.ts'
import { attemptFailureAt } from '#relay/attempt/shape-failure.ts'
import { failedReply } from '#relay/attempt/send-request.ts'
import { providerFor } from '#relay/providers/registry.ts'
import type { NativeDialect, StoredCall } from '#relay/providers/types.ts'
import { tryRecord } from '#relay/providers/shared/json.ts'
import { withTextAt, withValueAt } from '#relay/chat/text-at.ts'
import { isGood } from '#relay/upstream-call/send.ts'
import { timeoutsOf } from '#relay/upstream-call/timeouts.ts'
import { sendWithToken } from '#relay/upstream-call/tokens.ts'
import { answerLimited, type Exchange } from '../limited-call.ts'
import { itemPage, pageAsked } from './item-page.ts'
import { shownAnswer } from './shown-answer.ts'

const largestAnswer = 64 * 1024 * 1024

type Input = Pick<StoredCall, 'method' | 'path'>

/** Reads or deletes an answer that an upstream keeps for its maker; neither charged nor logged. Another's is unknown. */
export async function storedAnswer(
  services: RelayServices,
  { method, path }: Input,
  exchange: Exchange,
): Promise<void> {
  const { req, res } = exchange
  await answerLimited(services, exchange, {
    dialect: openAiResponses,
    isFree: true,
    answer: async ({ caller, incoming }) => {
      const id = String(req.params['id'])
      const core = {
        caller,
        model: '',
        stream: false,
        body: { bytes: Buffer.alloc(0), json: {} },
        group: caller.group,
      }
      const own = await ownAnswer(services, { method, path, id, userId: caller.user.id, query: req.query, incoming })
      if (own !== undefined) {
        res.json(own)
        return
      }
      const { status, text } = await ask(
        services,
        { ...incoming, ...core, pinnedChannel: null, session: {} },
        { method, path, id },
      )
      if (method === 'DELETE' && status < 300) {
        await forgetAnswer(services.database.pool, { id, userId: caller.user.id })
      }
      res.status(status).setHeader('content-type', 'application/json; charset=utf-8').end(text)
    },
  })
}

type Stored = Input & { id: string; userId: number; query: Record<string, unknown>; incoming: Incoming }

/** What the gateway keeps itself; nothing where it does not. */
async function ownAnswer(services: RelayServices, stored: Stored): Promise<unknown> {
  const { method, path, id, userId, query, incoming } = stored
  if (isInteractionId(id)) return undefined
  if (method === 'DELETE') {
    const removed = await forgetLocalResponse(services.database.pool, { id, userId })
    return removed ? { id, object: 'response', deleted: true } : undefined
  }
  const found = await readStored(services, { id, userId, path, incoming })
  return Array.isArray(found) ? askedItems(found, query) : found
}

/** The items that a caller asks for. */
function askedItems(items: Record<string, unknown>[], query: Record<string, unknown>) {
  const { ascending, limit } = pageAsked(query)
  const sorted = ascending ? items : items.toReversed()
  const start = sorted.findIndex(({ id }) => id === query['after']) + 1
  return itemPage(sorted.slice(start, start + limit), start + limit < sorted.length)
}

/** Asks the channel that made it, with the key that made it. */
async function ask(services: RelayServices, call: CallCore, { method, path, id }: Input & { id: string }) {
  const storedAt = await placeOfAnswer(services, { userId: call.caller.user.id, id })
  const place = storedAt && placeStoredAt(services, storedAt)
  const native = place && providerFor(place.channel.type).native['openai-responses']
  const stored = place && native?.stored
  if (!stored) throw new DomainError('relay.stored_item_unknown')
  const attempt = { ...place, model: '', upstreamModel: '', mapped: false }
  const upstream = upstreamChannelOf(attempt)
  const providerCall = providerCallOf(services, call, { attempt, stream: false })
  const query = new URLSearchParams(call.req.url.split('?', 2)[1] ?? '')
  // What is read is returned in full.
  query.delete('stream')
  query.delete('key')
  try {
    const { reply, token } = await sendWithToken(services, upstream, {
      build: (token) => stored({ method, path, id, query: query.toString() }, { ...providerCall, token }),
      limits: timeoutsOf(place.channel.setting, 'unstreamed'),
      signal: call.upstreamAbort.signal,
    })
    if (isGood(reply)) {
      const received = await reply.text(largestAnswer)
      // An answer that was not whole when it was paid says only here what it came to.
      if (method === 'GET' && path === '') {
        const { usage, keeps: ids = [] } = inspect(native, received)
        const items = { ids, most: () => mostReadOf(services, storedAt.model) }
        await recountStored(services, call, { id, storedAt, items, usage })
      }
      const text = withModel(received, storedAt.model)
      // The caller's own are not known any more.
      const own = instructs(services, place.channel) ? withValueAt(text, ['instructions'], null) : text
      return { status: reply.status, text: shownAnswer(services, { call, attempt, token }, own) }
    }
    const failed = await failedReply(services, { attempt, providerCall: { ...providerCall, token } }, reply)
    throw reply.status === 404 ? new DomainError('relay.stored_item_unknown') : failed
  } catch (error) {
    throw error instanceof DomainError ? error : attemptFailureAt(services, { place: attempt }, error)
  }
}

/** What an answer says of its usage and of what is kept, where it is one. */
function inspect(native: NativeDialect, text: string): Partial<ReturnType<NativeDialect['inspect']>> {
  try {
    return native.inspect(tryRecord(text))
  } catch {
    return {}
  }
}

/** By the price of today, if it has one. */
function mostReadOf({ options }: RelayServices, model: string): number {
  const price = priceOf(options, { model, acceptUnset: true })
  return price ? mostReadAt({ price }, model) : mostRead(model, false)
}

/** With the name by which its maker called the model. */
const withModel = (text: string, model: string): string =>
  model !== '' && tryRecord(text)?.['model'] !== undefined ? withTextAt(text, ['model'], model) : text
