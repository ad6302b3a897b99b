import { hideProxyPassword, proxyOf, withProxy } from '#core/proxy-setting.ts'
import { splitKeys } from '#core/channel-types/split-keys.ts'
import { DomainError } from '#core/errors.ts'
import { roles } from '#core/roles.ts'
import { channelStatus } from '#core/statuses.ts'
import { Channel } from '#db/entities/channel.ts'
import type { UserDeps } from '#features/deps.ts'
import { refuseOvertaken } from '#features/overtaken.ts'
import { requireRecentVerification } from '#features/second-factor/verification.ts'
import { unpricedModelsOf } from '#features/models/service.ts'
import { movesKey, toColumns } from '../rules.ts'
import type { CreateChannel, UpdateChannel } from '../schema.ts'
import { type ChannelView, toChannelView } from '../view.ts'
import { indexChannels } from './abilities.ts'
import { channelAct, recordChannels } from './acts.ts'
import { bringBackKeys, writeStatus } from './status.ts'
import { settingColumns, settingOf } from '../stored-setting.ts'
import { findChannel, keyColumns, lockChannel, readKeys, replaceKeyStates } from './store.ts'

/** `unpriced`: models of the channel that nobody could call for want of a price. */
export type SavedChannel = ChannelView & { unpriced: string[] }

async function saved(deps: UserDeps, id: number): Promise<SavedChannel> {
  const channel = await findChannel(deps, id)
  return { ...toChannelView(channel), unpriced: unpricedModelsOf(deps.options, channel) }
}

/** @throws {DomainError} channel.name_and_key_required */
export async function createChannel(deps: UserDeps, input: CreateChannel): Promise<SavedChannel> {
  const { key, status = channelStatus.enabled, ...fields } = input
  if (fields.name === '' || key.trim() === '') throw new DomainError('channel.name_and_key_required')
  const columns = toColumns(fields, null)
  const keys = readKeys(fields.type, key)
  const id = await deps.em.transactional(async (em) => {
    const secret = { ...columnsOfSetting(deps, columns), ...keyColumns(deps.secrets, keys) }
    const row = { ...columns, name: fields.name, type: fields.type, status, ...secret }
    const created = await em.insert(Channel, row)
    await replaceKeyStates(em, deps, { id: created, keys })
    await indexChannels(em, [created])
    const act = channelAct('create', { after: await findChannel({ em }, created), newKey: true })
    await recordChannels(deps, em, [act])
    return created
  })
  return saved(deps, id)
}

/**
 * Only what is given changes. A stored key goes to another host by root's word alone, who may read it anyway; others who aim
 * it elsewhere type it again.
 * @throws {DomainError} channel.name_and_key_required, input.changed_meanwhile, channel.key_needed_for_address
 */
export async function updateChannel(deps: UserDeps, input: UpdateChannel): Promise<SavedChannel> {
  const { id, key = '', status, expected, ...given } = input
  if (given.name === '') throw new DomainError('channel.name_and_key_required')
  await deps.em.transactional(async (em) => {
    const row = await lockChannel(em, id)
    const stored = { ...row, setting: settingOf(deps.secrets, row) }
    refuseOvertaken(
      { ...toChannelView(stored), ...(deps.actor.role >= roles.root && { setting: stored.setting }) },
      given,
      expected,
    )
    const setting = given.setting === undefined ? {} : { setting: withStoredPassword(given.setting, stored.setting) }
    const columns = toColumns({ ...given, ...setting }, stored)
    const keys = key.trim() === '' ? undefined : readKeys(columns.type ?? stored.type, key)
    if (!keys && movesKey(stored, columns)) await allowMovingKey({ ...deps, em })
    const secret = { ...columnsOfSetting(deps, columns), ...(keys ? keyColumns(deps.secrets, keys) : {}) }
    const changes = { ...columns, ...secret }
    if (Object.keys(changes).length > 0) await em.nativeUpdate(Channel, { id }, changes)
    if (keys) await replaceKeyStates(em, deps, { id, keys })
    if (status !== undefined && status !== stored.status) {
      await writeStatus(em, [id], { status })
    } else {
      if (keys) await bringBackKeys(em, [id])
      await indexChannels(em, [id])
    }
    const act = channelAct('update', { before: stored, after: await findChannel({ em }, id), newKey: !!keys })
    await recordChannels(deps, em, [act])
  })
  return saved(deps, id)
}

const columnsOfSetting = ({ secrets }: Pick<UserDeps, 'secrets'>, { setting }: Partial<Channel>) =>
  setting === undefined ? {} : settingColumns(secrets, setting)

/**
 * Sending a key elsewhere shows it as much as reading it does, and wants as much.
 * @throws {DomainError} channel.key_needed_for_address, second_factor.required
 */
export async function allowMovingKey(deps: UserDeps): Promise<void> {
  if (deps.actor.role < roles.root) throw new DomainError('channel.key_needed_for_address')
  await requireRecentVerification(deps)
}

/** Who may not see the proxy's password sends back what was shown in its place. */
function withStoredPassword(given: string, stored: string): string {
  const shown = proxyOf(hideProxyPassword(stored))
  return shown !== proxyOf(stored) && proxyOf(given) === shown ? withProxy(given, proxyOf(stored)) : given
}

/** A second channel like the first, with its key, and nothing of what the first has done. */
export async function copyChannel(deps: UserDeps, { id }: { id: number }): Promise<SavedChannel> {
  const source = await findChannel(deps, id)
  const keys = splitKeys(source.type, deps.secrets.decrypt(source.keyEncrypted))
  const created = await deps.em.transactional(async (em) => {
    const copy = await em.insert(Channel, { ...settingsOf(source), ...keyColumns(deps.secrets, keys) })
    await replaceKeyStates(em, deps, { id: copy, keys })
    await indexChannels(em, [copy])
    const act = channelAct('copy', { after: await findChannel({ em }, copy) })
    await recordChannels(deps, em, [act && { ...act, after: { ...act.after, copied_from: source.id } }])
    return copy
  })
  return saved(deps, created)
}

const settingsOf = (source: Channel) => ({
  name: `${source.name}_复制`,
  type: source.type,
  status: source.status === channelStatus.enabled ? channelStatus.enabled : channelStatus.disabled,
  models: source.models,
  group: source.group,
  baseUrl: source.baseUrl,
  openaiOrganization: source.openaiOrganization,
  testModel: source.testModel,
  maxInputTokens: source.maxInputTokens,
  other: source.other,
  modelPrefix: source.modelPrefix,
  tag: source.tag,
  modelMapping: source.modelMapping,
  statusCodeMapping: source.statusCodeMapping,
  setting: source.setting,
  proxyEncrypted: source.proxyEncrypted,
  paramOverride: source.paramOverride,
  systemPrompt: source.systemPrompt,
  priority: source.priority,
  weight: source.weight,
  autoBan: source.autoBan,
  buyingPrices: source.buyingPrices,
})
