import { setImmediate as nextTurn } from 'node:timers/promises'
import { buyingTermsAt } from '#core/pricing/buying-price.ts'
import { DomainError } from '#core/errors.ts'
import { costOfTools, estimateOf } from '#core/pricing/estimate.ts'
import { emptyUsage } from '#core/usage.ts'
import type { BatchShare } from '#features/message-batches/facts.ts'
import {
  askAboutBatch,
  asBatch,
  customIdsOf,
  forgetIntent,
  intentOf,
  largestBatchAnswer,
  nameBatch,
  storeIntent,
} from '#features/message-batches/service.ts'
import { attemptAll, type AttemptPlan } from '#relay/attempt/attempts.ts'
import { AttemptFailed, failureOfDomainError, unsupportedHere } from '#relay/attempt/failure.ts'
import { attemptFailureAt } from '#relay/attempt/shape-failure.ts'
import { sendRequest } from '#relay/attempt/send-request.ts'
import { providerCallOf, upstreamChannelOf } from '#relay/attempt/upstream-channel.ts'
import { attemptKeys, attemptRecord, priceText, usageKeys, userGroupKeys } from '#relay/billing/log-row.ts'
import { mostReadAt } from '#relay/billing/most-read.ts'
import { priceAttempt } from '#relay/billing/price-call.ts'
import { reserve } from '#relay/billing/reserve.ts'
import { claude } from '#relay/dialects/claude/index.ts'
import { answerLimited, type Exchange } from '#relay/limited-call.ts'
import { providerFor } from '#relay/providers/registry.ts'
import { heldIn } from '#relay/providers/shared/held-objects.ts'
import { admitCall, sessionOf } from '#relay/request/admit.ts'
import type { Attempt, CallCore, RelayServices } from '#relay/request/call.ts'
import { readBody } from '#relay/request/read-body.ts'
import { screenTexts } from '#relay/request/screen.ts'
import { attemptAt } from '#relay/routing/select.ts'
import { refuseOthers } from '#relay/routing/stored-responses.ts'
import { shownBatch } from './answer.ts'
import { batchBody } from './body.ts'
import { batchSelection } from './selection.ts'
import { nameLosses } from '#relay/chat/losses.ts'
import { type BatchRequest, readBatch } from './requests.ts'

/** The requests of one model, with what is set aside for them. */
type Share = { call: CallCore; holdId: string; requests: BatchRequest[] }

/** Hands a batch over to the vendor, once what it may cost is set aside. It is charged when it has ended. */
export const createBatch = (services: RelayServices, exchange: Exchange): Promise<void> =>
  answerLimited(services, exchange, {
    dialect: claude,
    answer: async ({ incoming, caller }) => {
      const body = await readBody(services, incoming)
      const { requests, texts, dropped } = await readBatch(body.json)
      const held = requests.flatMap(({ params }) => heldIn(params))
      await refuseOthers(services, { userId: caller.user.id, held })
      // Each is written anew, and then all of them together.
      await body.holding?.raise(body.holding.bytes() + 2 * body.bytes.length)
      const session = sessionOf({ ...incoming, body, caller })
      const shares = [...Map.groupBy(requests, ({ model }) => model)]
        .toSorted(([, left], [, right]) => right.length - left.length)
        .map(([model, own], index): Share => {
          const admitted = admitCall(services, caller, model)
          const apart = { limitedApart: 'batches', stream: false } as const
          const call = { ...incoming, caller, body, dropped, session, ...admitted, ...apart }
          return { call, holdId: index === 0 ? incoming.id : `${incoming.id}-${index}`, requests: own }
        })
      const [{ call }] = shares as [Share]
      await screenTexts(services, call, { texts, refusal: claude.refusals.sensitiveWords })
      await attempt(services, call, shares)
    },
  })

/** Each model of an attempt by its own terms. */
type PricedShare = Share & { attempt: Attempt | undefined; terms: AttemptPlan['terms'] }

async function attempt(services: RelayServices, call: CallCore, shares: Share[]): Promise<void> {
  const taken = new Set<string>()
  let priced: PricedShare[] = []
  const outcome = { isUnknown: false }
  const hold = {
    get taken() {
      return taken.has(call.id)
    },
    get remains() {
      return outcome.isUnknown
    },
    finish: () => {},
    take: async (plan: AttemptPlan) => {
      priced = shares.map((share) => pricedAt(services, { share, call, plan }))
      for (const share of priced) {
        const amount = await amountOf(services, share)
        await reserve(services, { ...share.call, id: share.holdId }, { amount, lasting: true })
        taken.add(share.holdId)
      }
    },
  }
  try {
    await attemptAll(services, call, {
      hold,
      selection: batchSelection(services, call),
      forward: (plan) => forward(services, { call, plan, shares: priced, outcome }),
    })
  } catch (error) {
    // Where it may have been taken, the periodic job looks for it.
    if (outcome.isUnknown) services.ledger.handOver([...taken])
    else await giveBackAll(services, call, taken)
    throw error
  }
}

/** The first hold is given back with the call itself. What is written of the batch goes last: without it nobody knew of its holds. */
async function giveBackAll(services: RelayServices, call: CallCore, taken: ReadonlySet<string>): Promise<void> {
  const { user, token } = call.caller
  const holds = [...taken].map((id) => ({ id, userId: user.id, tokenId: token?.id ?? 0 }))
  await Promise.all(holds.map((hold) => services.ledger.release(hold)))
  if (taken.size > 0) await forgetIntent(services.database.pool, intentOf(call.id))
}

/** The model by which the place was found is asked for there; the others of the batch are looked up at the same place. */
function pricedAt(
  services: RelayServices,
  { share, call, plan: { attempt } }: { share: Share; call: CallCore; plan: AttemptPlan },
): PricedShare {
  const { channel, key } = attempt
  const own = share.call === call ? attempt : attemptAt(services, share.call, { channel, key })
  const { model } = share.call
  const terms = priceAttempt(services, share.call, own ?? { channel, model, upstreamModel: model })
  return { ...share, attempt: own, terms }
}

const turnEvery = 500

/**
 * What the requests may come to, at the batch's price: all of it, for nobody can follow the answers, and where the upstream reads what
 * nobody here has seen, as much as the model can. Tools cost what they always do.
 */
async function amountOf(services: RelayServices, { call, requests, attempt, terms }: PricedShare): Promise<number> {
  const preConsumedQuota = services.options.get('PreConsumedQuota')
  const most = mostReadAt(terms, attempt?.upstreamModel ?? call.model)
  let ofModel = 0
  let ofTools = 0
  for (const [index, { tools, ...request }] of requests.entries()) {
    if (index % turnEvery === turnEvery - 1) await nextTurn()
    const promptTokens = request.readsUnseen ? Math.max(request.promptTokens, most) : request.promptTokens
    ofModel += estimateOf({ ...request, ...terms, promptTokens, formula: 'claude', preConsumedQuota })
    ofTools += costOfTools(tools, terms)
  }
  return Math.ceil(ofModel * services.options.get('claude.batch_price_ratio')) + ofTools
}

type BatchAttempt = {
  call: CallCore
  plan: AttemptPlan
  shares: PricedShare[]
  /** Set here: the upstream may have the batch although the call fails. */
  outcome: { isUnknown: boolean }
}

async function forward(services: RelayServices, given: BatchAttempt): Promise<void> {
  const { call, plan, shares, outcome } = given
  const { attempt, attempts } = plan
  const missing = shares.find((share) => !share.attempt)
  if (missing) throw unsupportedHere(new DomainError('relay.batches_unsupported', { model: missing.call.model }))
  const sentAt = performance.now()
  const factsNow = () => {
    const ms = performance.now() - sentAt
    return {
      username: call.caller.user.username,
      tokenName: call.caller.tokenName,
      group: call.group,
      clientIp: call.caller.user.showsIpInLogs ? call.ip : '',
      shares: shares.map((share) => factsOf(services, share, { attempts, ms })),
    }
  }
  const { user, token } = call.caller
  const id = intentOf(call.id)
  const intent = { id, userId: user.id, tokenId: token?.id ?? 0, ...placeOf(services, attempt) }
  const customIds = shares.flatMap(({ requests }) => requests.map(({ customId }) => customId))
  const known = { requests: customIds.length, customIds: customIdsOf(customIds) }
  await storeIntent(services, { ...intent, facts: { ...factsNow(), intent: known } }).catch((cause: unknown) => {
    throw new DomainError('relay.unavailable', {}, { cause })
  })
  const answer = await send(services, given)
  await nameBatch(services, { intent: id, userId: user.id, facts: factsNow(), answer }).catch(
    async (cause: unknown) => {
      outcome.isUnknown = true
      // Its caller does not hear of it: what is not done yet is not to be done.
      const input = { id: answer.id, action: 'cancel' as const }
      await askAboutBatch(services, upstreamChannelOf(attempt), { input }).catch((error: unknown) =>
        services.log.error({ err: error, batch: answer.id }, 'a batch that could not be stored could not be cancelled'),
      )
      throw new DomainError('relay.unavailable', {}, { cause })
    },
  )
  nameLosses(call.res, call.dropped)
  call.res.status(200).json(shownBatch(services, call, answer))
}

const placeOf = (services: RelayServices, { channel, key }: Attempt) => ({
  channelId: channel.id,
  keyHmac: services.secrets.hmac(key.value),
})

/** A caller who hangs up does not stop it: the vendor may have taken the batch by then. Only the end of the process does. */
async function send(services: RelayServices, { call, plan, shares, outcome }: BatchAttempt) {
  const { attempt } = plan
  const stop = new AbortController()
  const leave = services.underWay.add(stop)
  const providerCall = providerCallOf(services, call, { attempt, stream: false })
  const sender = {
    services,
    call: { ...call, upstreamAbort: stop },
    attempt,
    providerCall,
    asked: false,
    answered: false,
  }
  let isGood = false
  try {
    const create = providerFor(attempt.channel.type).batches?.create
    if (!create) throw new DomainError('relay.batches_unsupported', { model: call.model })
    const body = await batchBody(services, call.body, shares)
    const reply = await sendRequest(sender, create(body, providerCall), 'unstreamed')
    isGood = true
    const answer = asBatch(await reply.json(largestBatchAnswer))
    if (answer) return answer
    const refusal = failureOfDomainError(new DomainError('relay.reply_malformed'))
    throw new AttemptFailed(refusal, { local: false })
  } catch (error) {
    const failed = attemptFailureAt(services, { place: attempt, token: providerCall.token }, unsupportedHere(error))
    outcome.isUnknown = isGood || (sender.asked && !sender.answered)
    throw new AttemptFailed(failed.failure, { ...failed, mayBeTaken: outcome.isUnknown, cause: failed.cause })
  } finally {
    leave()
  }
}

function factsOf(
  services: RelayServices,
  { call, holdId, requests, attempt, terms }: PricedShare,
  { attempts, ms }: { attempts: AttemptPlan['attempts']; ms: number },
): BatchShare {
  const own = attempt as Attempt
  const { upstreamModel, channel } = own
  const names = [upstreamModel, call.model]
  return {
    holdId,
    model: call.model,
    upstreamModel,
    terms,
    batchRatio: services.options.get('claude.batch_price_ratio'),
    buying: buyingTermsAt(channel.buyingPrices, { names, at: call.receivedAt.getTime() }),
    customIds: requests.map(({ customId }) => customId),
    promptTokens: requests.map(({ promptTokens }) => promptTokens),
    requests: requests.length,
    content: priceText(terms, null),
    other: {
      ...usageKeys(terms, emptyUsage, null),
      ...userGroupKeys(services, call, terms.groupRatio),
      ...attemptKeys(own, [...attempts, attemptRecord(own, { status: 200, ms })]),
      dialect: claude.id,
      ...call.session,
    },
  }
}
