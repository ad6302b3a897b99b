import type { FilterQuery } from '@mikro-orm/postgresql'
import { channelTypeOf } from '#core/channel-types/index.ts'
import { driftOf, mappedNames } from '#core/channel-types/drift.ts'
import { isDomainError } from '#core/errors.ts'
import { isDatabaseUnavailable } from '#core/database-errors.ts'
import { splitList } from '#core/routing/abilities.ts'
import { shouldDisable, shouldEnable } from '#core/routing/disable.ts'
import { mapStatus } from '#core/routing/status-mapping.ts'
import { channelStatus } from '#core/statuses.ts'
import { storableText } from '#core/storable-text.ts'
import { Channel } from '#db/entities/channel.ts'
import { ChannelDrift } from '#db/entities/channel-drift.ts'
import type { Deps } from '#features/deps.ts'
import { type NoticeDeps, notifyRoot } from '#features/notifications/service.ts'
import { plainNotice } from '#features/notifications/notice.ts'
import { disableAutomatically, disableChannelAutomatically, enableAutomatically } from './automatic.ts'
import { balanceTypes, updateBalance } from './balance.ts'
import { probe } from './probe.ts'
import { untestableTypes } from './probe-request.ts'
import { fetchModelsOfRow } from './upstream.ts'

/** What runs over all channels has no person behind it. */
export type AllDeps = NoticeDeps & Pick<Deps, 'barrier'>

export type AllRun = {
  signal: AbortSignal
  byHand: boolean
  progress: (done: number, total: number) => void
}

/** One channel after another; one that cannot be worked on does not keep the others from it. Returns how many failed. */
async function forEachChannel(
  deps: AllDeps,
  run: AllRun & { where: FilterQuery<Channel> },
  work: (channel: Channel) => Promise<void>,
): Promise<number> {
  const channels = await deps.database.orm.em
    .fork()
    .find(Channel, run.where, { orderBy: { id: 'asc' }, disableIdentityMap: true })
  let failed = 0
  for (const [index, channel] of channels.entries()) {
    run.progress(index, channels.length)
    if (run.signal.aborted) break
    await work(channel).catch((error: unknown) => {
      if (run.signal.aborted) return
      if (isDatabaseUnavailable(error)) throw error
      if (isDomainError(error) && error.code === 'channel.test_unsupported') return
      if (!isDomainError(error)) deps.log.error({ err: error, channel: channel.id }, 'a channel could not be worked on')
      failed += 1
    })
  }
  if (!run.signal.aborted) run.progress(channels.length, channels.length)
  return failed
}

const withFork = (deps: AllDeps, signal: AbortSignal) => ({ ...deps, em: deps.database.orm.em.fork(), signal })

export type TestCounts = { tested: number; failed: number; disabled: number; enabled: number }

/**
 * Tests every channel and draws the consequences: off goes what fails for good or is too slow, on comes what went off by
 * itself and answers again. Nobody's own switching off is ever undone; a scheduled run leaves those channels alone.
 */
export async function testAllChannels(deps: AllDeps, run: AllRun): Promise<TestCounts> {
  const counts: TestCounts = { tested: 0, failed: 0, disabled: 0, enabled: 0 }
  const where = {
    type: { $nin: [...untestableTypes] },
    ...(run.byHand ? {} : { status: { $in: [channelStatus.enabled, channelStatus.autoDisabled] } }),
  }
  const refused = await forEachChannel(deps, { ...run, where }, async (channel) => {
    const { passed, change } = await testOne(deps, channel, run.signal)
    counts.tested += 1
    if (!passed) counts.failed += 1
    if (change) counts[change] += 1
  })
  counts.tested += refused
  counts.failed += refused
  if (run.byHand && !run.signal.aborted) {
    const { tested, failed, disabled, enabled } = counts
    await notifyRoot(deps, {
      zh: plainNotice(
        'channel_test',
        '渠道测试完成',
        `已测试 ${tested} 个渠道：${failed} 个失败，${disabled} 个被禁用，${enabled} 个重新启用`,
      ),
      en: plainNotice(
        'channel_test',
        'The channel test has ended',
        `${tested} channels tested: ${failed} failed, ${disabled} disabled, ${enabled} enabled again`,
      ),
    })
  }
  return counts
}

type Tested = { passed: boolean; change: 'disabled' | 'enabled' | null }

async function testOne(deps: AllDeps, channel: Channel, signal: AbortSignal): Promise<Tested> {
  const { id: channelId } = channel
  const { result, fault, key } = await probe(withFork(deps, signal), { id: channelId, model: '' })
  const limitSeconds = deps.options.get('ChannelDisableThreshold')
  const isSlow = limitSeconds > 0 && result.seconds > limitSeconds
  if (result.success && !isSlow) {
    const switches = { AutomaticEnableChannelEnabled: deps.options.get('AutomaticEnableChannelEnabled') }
    const back =
      shouldEnable({ ...switches, status: channel.status, testPassed: true }) &&
      (await enableAutomatically(withFork(deps, signal), { channelId, key }))
    return { passed: true, change: back ? 'enabled' : null }
  }
  if (channel.status !== channelStatus.enabled || !channel.autoBan) return { passed: result.success, change: null }
  const rules = {
    AutomaticDisableChannelEnabled: deps.options.get('AutomaticDisableChannelEnabled'),
    AutomaticDisableKeywords: deps.options.get('AutomaticDisableKeywords'),
    autoBan: channel.autoBan,
    requestText: () => '',
  }
  // Decided as the relay would: by the status that the channel makes of the upstream's.
  const status = fault && mapStatus(channel.statusCodeMapping, fault.status)
  if (fault && status && shouldDisable({ ...fault, status, local: false, channelType: channel.type }, rules)) {
    const what = await disableAutomatically(withFork(deps, signal), { channelId, key, reason: result.message })
    return { passed: false, change: what === 'channel' ? 'disabled' : null }
  }
  if (!isSlow) return { passed: result.success, change: null }
  const reason = `响应 ${result.seconds.toFixed(2)} 秒，超过上限 ${limitSeconds.toFixed(2)} 秒`
  const off = await disableChannelAutomatically(withFork(deps, signal), { channelId, reason })
  return { passed: result.success, change: off ? 'disabled' : null }
}

/**
 * Asks every enabled channel that can tell for its balance. A credential with nothing left goes off, and the next one is asked; a
 * channel goes off with its last one.
 */
export async function updateAllBalances(
  deps: AllDeps,
  run: AllRun,
): Promise<{ updated: number; failed: number; disabled: number }> {
  const counts = { updated: 0, disabled: 0 }
  const where = { status: channelStatus.enabled, type: { $in: [...balanceTypes] } }
  const failed = await forEachChannel(deps, { ...run, where }, async ({ id }) => {
    const ask = () => updateBalance(withFork(deps, run.signal), { id })
    let reading = await ask()
    counts.updated += 1
    while (reading.balance <= 0) {
      const fault = { channelId: id, key: reading.key, reason: '余额不足' }
      const off = await disableAutomatically(withFork(deps, run.signal), fault)
      if (off === 'channel') counts.disabled += 1
      if (off !== 'key') return
      reading = await ask()
    }
  })
  return { ...counts, failed }
}

/** Compares the models of every enabled channel with those its upstream lists, and keeps the differences. */
export async function compareAllModels(
  deps: AllDeps,
  run: AllRun,
): Promise<{ compared: number; changed: number; failed: number }> {
  const counts = { compared: 0, changed: 0 }
  const failed = await forEachChannel(deps, { ...run, where: { status: channelStatus.enabled } }, async (channel) => {
    if (!channelTypeOf(channel.type)?.modelsEndpoint) return
    const own = withFork(deps, run.signal)
    const outcome = await fetchModelsOfRow(own, channel).then(
      (listed) => ({
        drift: driftOf(splitList(channel.models), listed, mappedNames(channel.modelMapping)),
        error: null,
      }),
      (error: unknown) => ({ drift: { added: [], gone: [] }, error }),
    )
    if (run.signal.aborted) return
    await keepDrift(deps, channel.id, outcome)
    if (outcome.error !== null) throw outcome.error
    counts.compared += 1
    if (outcome.drift.added.length + outcome.drift.gone.length > 0) counts.changed += 1
  })
  return { ...counts, failed }
}

type Outcome = { drift: { added: string[]; gone: string[] }; error: unknown }

const keepDrift = (deps: AllDeps, channelId: number, { drift, error }: Outcome): Promise<unknown> =>
  deps.database.orm.em.fork().upsert(ChannelDrift, {
    channelId,
    added: storableText(drift.added.join(',')),
    missing: drift.gone.join(','),
    problem: error instanceof Error ? storableText(error.message.slice(0, 500)) : '',
    checkedAt: deps.ambient.now(),
  })
