import { DomainError, messageOf } from '#core/errors.ts'
import { formulaFor, quotaOfReceipt } from '#core/pricing/charge.ts'
import type { Price } from '#core/pricing/price.ts'
import { toolUses } from '#core/pricing/tools.ts'
import { maskSecrets } from '#core/masking/mask-secrets.ts'
import { resolveModelMapping } from '#core/routing/model-names.ts'
import { logType } from '#core/statuses.ts'
import { storableText } from '#core/storable-text.ts'
import { normaliseUsage, type ReportedUsage, type Usage } from '#core/usage.ts'
import { Channel } from '#db/entities/channel.ts'
import { ChannelProbe } from '#db/entities/channel-probe.ts'
import { Log } from '#db/entities/log.ts'
import { User } from '#db/entities/user.ts'
import type { Deps } from '#features/deps.ts'
import { imagePricesOf, priceOf } from '#core/pricing/price-of.ts'
import { maskFailure } from '#relay/providers/shared/mask-failure.ts'
import { providerFor } from '#relay/providers/registry.ts'
import { type ProviderCall, UpstreamRefusal } from '#relay/providers/types.ts'
import { passesThrough, secretsBesideAddress, type UpstreamChannel } from '#relay/upstream-call/channel.ts'
import { toProviderCall } from '#relay/upstream-call/provider-call.ts'
import { type ProbeKind, probeKindOf, probeModelOf, probeRequest, readProbe } from './probe-request.ts'
import { execute, findChannel } from './store.ts'
import { ask, type Refused, refusedBy, withUsableKey } from './upstream.ts'

export type ProbeResult = {
  model: string
  success: boolean
  message: string
  /** Three decimals. */
  seconds: number
  /** A failure that may pass by itself. */
  retryable: boolean
}

/** Tests are booked under the first account, without moving anything. */
const testerId = 1
const label = '模型测试'
const mostProbes = 200

type Outcome = { ok: true; usage: ReportedUsage } | Refused

export type ProbeDeps = Pick<Deps, 'em' | 'options' | 'secrets' | 'ambient' | 'transport' | 'log'> & {
  /** Ends the call at once. */
  signal?: AbortSignal
}

/** Tries one model of a channel with a real, small call. Never changes the channel's status. */
export const probeChannel = async (deps: ProbeDeps, input: { id: number; model: string }): Promise<ProbeResult> =>
  (await probe(deps, input)).result

/**
 * The same, with the upstream's own words on a failure and the credential that was used.
 * @throws {DomainError} channel.test_unsupported, channel.test_failed, channel.test_unpriced
 */
export async function probe(
  deps: ProbeDeps,
  input: { id: number; model: string },
): Promise<{ result: ProbeResult; fault: Refused['fault']; key: string }> {
  const channel = await findChannel(deps, input.id)
  const model = probeModelOf(channel, input.model)
  const mapped = resolveModelMapping(channel.modelMapping, model)
  if (!mapped.ok) throw new DomainError('channel.test_failed', { detail: mapped.problem })
  const tester = await deps.em.findOne(User, { id: testerId }, { disableIdentityMap: true })
  const priced = deps.options.get('redirect_billing_enabled') ? model : mapped.model
  const price = priceOf(deps.options, {
    model: priced,
    acceptUnset: tester?.setting?.accept_unset_model_ratio_model ?? false,
  })
  if (!price) {
    const unpriced = new DomainError('channel.test_unpriced', { model: priced })
    await keep(deps, { channelId: channel.id, model, success: false, message: unpriced.message, durationMs: 0 })
    throw unpriced
  }
  const upstream = await withUsableKey(deps, channel)
  const call = toProviderCall(deps, upstream, { model: mapped.model, originalModel: model, stream: false })
  const kind = probeKindOf(channel.type, mapped.model)
  const startedAt = performance.now()
  // Calls have no override there, so their test has none.
  const paramOverride = passesThrough(upstream.setting, deps) ? '' : channel.paramOverride
  const outcome = await attempt(deps, { upstream, call, kind, paramOverride })
  // A call that was broken off says nothing of the channel.
  deps.signal?.throwIfAborted()
  const durationMs = Math.round(performance.now() - startedAt)
  const message = outcome.ok ? '' : storableText(outcome.message.slice(0, 2000))
  await remember(deps, { channelId: channel.id, model, success: outcome.ok, message, durationMs })
  if (outcome.ok && deps.options.get('LogConsumeEnabled')) {
    const { usage } = normaliseUsage(outcome.usage)
    await logProbe(deps, { channel, call, priced, price, usage, durationMs, tester })
  }
  const retryable = !outcome.ok && outcome.retryable
  return {
    result: { model, success: outcome.ok, message, seconds: durationMs / 1000, retryable },
    fault: outcome.ok ? null : outcome.fault,
    key: call.channel.key,
  }
}

async function attempt(
  deps: ProbeDeps,
  given: { upstream: UpstreamChannel; call: ProviderCall; kind: ProbeKind; paramOverride: string },
): Promise<Outcome> {
  const { upstream, kind, paramOverride } = given
  const provider = providerFor(upstream.type)
  let { call } = given
  try {
    const answer = await ask(deps, upstream, (token) => {
      call = { ...call, token }
      return probeRequest(provider, call, { kind, paramOverride })
    })
    return answer.ok ? { ok: true, usage: readProbe(provider, call, { kind, answer }) } : answer
  } catch (error) {
    if (error instanceof DomainError) throw error
    const secrets = secretsBesideAddress(upstream, call.token)
    if (error instanceof UpstreamRefusal) return refusedBy(maskFailure(error.failure, secrets))
    const reason = error instanceof SyntaxError ? 'invalid JSON' : maskSecrets(String(error), secrets)
    deps.log.warn({ channel: upstream.id, reason }, 'the answer to a channel test cannot be used')
    return { ok: false, message: messageOf({ code: 'relay.reply_malformed' }), retryable: false, fault: null }
  }
}

type Probe = { channelId: number; model: string; success: boolean; message: string; durationMs: number }

/** The result for the channel's row and its health strip. */
async function remember(deps: ProbeDeps, probe: Probe): Promise<void> {
  const tested = { responseTimeMs: probe.durationMs, testedAt: deps.ambient.now() }
  await deps.em.nativeUpdate(Channel, { id: probe.channelId }, tested)
  await keep(deps, probe)
}

/** The health strip has the newest, also those that never got as far as the upstream. */
async function keep({ em, ambient }: ProbeDeps, probe: Probe): Promise<void> {
  await em.insert(ChannelProbe, { ...probe, createdAt: ambient.now() })
  await execute(
    em,
    `delete from channel_probes where channel_id = ? and id <=
       (select id from channel_probes where channel_id = ? order by id desc limit 1 offset ?)`,
    [probe.channelId, probe.channelId, mostProbes],
  )
}

type Finished = {
  channel: Channel
  call: ProviderCall
  /** The name that the price is of. */
  priced: string
  price: Price
  usage: Usage
  durationMs: number
  tester: User | null
}

/** A consumption of quota 0; what it would have cost stands beside it. */
async function logProbe(
  deps: ProbeDeps,
  { channel, call, priced, price, usage, durationMs, tester }: Finished,
): Promise<void> {
  const claude = providerFor(channel.type).pricedAsClaude?.(call.model) === true
  const receipt = {
    formula: formulaFor({ claude, realtime: false, usage }),
    usage,
    tools: toolUses({ model: priced, sentAs: call.model, usage, imagePrices: imagePricesOf(deps.options) }),
    price,
    groupRatio: 1,
    quotaPerUnit: deps.options.get('QuotaPerUnit'),
  }
  const ratio = price.kind === 'ratio' ? price : null
  await deps.em.insert(Log, {
    userId: testerId,
    type: logType.consume,
    content: label,
    username: tester?.username ?? '',
    tokenName: label,
    modelName: call.originalModel,
    promptTokens: usage.promptTokens,
    completionTokens: usage.completionTokens,
    useTimeMs: durationMs,
    channelId: channel.id,
    group: tester?.group ?? '',
    other: {
      model_ratio: ratio?.modelRatio ?? 0,
      group_ratio: 1,
      completion_ratio: ratio?.completionRatio ?? 0,
      model_price: price.kind === 'call' ? price.modelPrice : -1,
      cache_tokens: usage.cachedTokens,
      cache_ratio: ratio?.cacheRatio ?? 1,
      frt: -1000,
      admin_info: { use_channel: [String(channel.id)] },
      ...(call.model === call.originalModel ? {} : { is_model_mapped: true, upstream_model_name: call.model }),
      test_quota: quotaOfReceipt(receipt),
    },
  })
}
