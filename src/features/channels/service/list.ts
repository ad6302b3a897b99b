import { type FilterQuery, type QBFilterQuery, raw } from '@mikro-orm/postgresql'
import { splitKeys } from '#core/channel-types/split-keys.ts'
import type { Page } from '#core/paging.ts'
import { Channel } from '#db/entities/channel.ts'
import { ChannelKey } from '#db/entities/channel-key.ts'
import { ChannelProbe } from '#db/entities/channel-probe.ts'
import type { UserDeps } from '#features/deps.ts'
import { unpricedModelsOf } from '#features/models/service.ts'
import type { ChannelFilters, ListChannels, SearchChannels } from '../schema.ts'
import {
  type ChannelDetail,
  type ChannelView,
  type ProbeView,
  toChannelDetail,
  toChannelView,
  toProbeView,
} from '../view.ts'
import { withProxyPassword } from '../stored-setting.ts'
import { execute, findChannel } from './store.ts'

const mostFound = 10_000
const longestNamePart = 255

const containing = (part: string) => ({ $ilike: `%${part.replace(/[\\%_]/g, '\\$&')}%` })

/** A part of a name, whatever its case. */
const servesModelLike = (part: string) => ({
  [raw('"id" in (select channel_id from channel_search where strpos(models, lower(?)) > 0)', [part])]: true,
})

/** Each filter that is given narrows the list; keys are compared by their fingerprints. */
async function whereOf(deps: UserDeps, filters: ChannelFilters): Promise<FilterQuery<Channel>> {
  const keyword = filters.keyword.trim()
  return {
    $and: [
      ...(keyword === '' ? [] : [{ $or: await keywordConditions(deps, keyword) }]),
      ...(filters.model === '' ? [] : [servesModelLike(filters.model)]),
      ...(filters.group === '' ? [] : [{ [raw(`? = any(string_to_array("group", ','))`, [filters.group])]: true }]),
      ...(filters.types.length === 0 ? [] : [{ type: { $in: filters.types } }]),
      ...(filters.statuses.length === 0 ? [] : [{ status: { $in: filters.statuses } }]),
      ...(filters.tags.length === 0 ? [] : [{ tag: { $in: filters.tags } }]),
    ],
  } as FilterQuery<Channel>
}

async function keywordConditions({ em, secrets }: UserDeps, keyword: string): Promise<FilterQuery<Channel>[]> {
  const fingerprint = secrets.hmac(keyword)
  const holders = await em.find(ChannelKey, { keyHmac: fingerprint }, { disableIdentityMap: true })
  // The number says nothing here: no documented type joins keys in another way.
  const fullKey = secrets.hmac(splitKeys(0, keyword).join(','))
  return [
    ...(/^\d{1,9}$/.test(keyword) ? [{ id: Number(keyword) }] : []),
    ...(keyword.length > longestNamePart ? [] : [{ name: containing(keyword) }]),
    { keyHmac: { $in: [fingerprint, fullKey] } },
    { id: { $in: holders.map(({ channelId }) => channelId) } },
  ]
}

type Sorting = Pick<SearchChannels, 'sort' | 'ascending'>

const orderOf = ({ sort, ascending }: Sorting) => [{ [sort]: ascending ? 'asc' : 'desc' }, { id: 'desc' as const }]

async function find(deps: UserDeps, where: FilterQuery<Channel>, wanted: Sorting & { limit: number; offset?: number }) {
  const channels = await deps.em.find(Channel, where, {
    orderBy: orderOf(wanted),
    limit: wanted.limit,
    offset: wanted.offset ?? 0,
    disableIdentityMap: true,
  })
  return channels.map(toChannelView)
}

/** One look through the table says how many there are and which of them the page shows; past the end it takes another. */
async function pageOfIds(
  deps: UserDeps,
  where: FilterQuery<Channel>,
  { limit, offset, ...sorting }: Sorting & { limit: number; offset: number },
): Promise<{ ids: number[]; total: number }> {
  const rows = await deps.em
    .createQueryBuilder(Channel)
    .select(['id', raw('count(*) over () as total')])
    .where(where as QBFilterQuery<Channel>)
    .orderBy(orderOf(sorting))
    .limit(limit, offset)
    .execute<{ id: number; total: string }[]>('all')
  const total = rows[0] ? Number(rows[0].total) : offset === 0 ? 0 : await deps.em.count(Channel, where)
  return { ids: rows.map(({ id }) => id), total }
}

async function tagsOf(deps: UserDeps, where: FilterQuery<Channel>): Promise<string[]> {
  const tagged = await deps.em
    .createQueryBuilder(Channel, 'c')
    .select('tag', true)
    .where({ $and: [where, { tag: { $ne: '' } }] } as QBFilterQuery<Channel>)
    .execute<{ tag: string }[]>('all')
  return tagged.map(({ tag }) => tag).toSorted()
}

/** A page of channels, or all channels of a page of tags. */
export async function listChannels(deps: UserDeps, input: ListChannels): Promise<Page<ChannelView>> {
  const { page, pageSize } = input
  const where = await whereOf(deps, input)
  const offset = (page - 1) * pageSize
  if (!input.tagMode) {
    const { ids, total } = await pageOfIds(deps, where, { ...input, limit: pageSize, offset })
    return { items: await find(deps, { id: { $in: ids } }, { ...input, limit: pageSize }), total, page, pageSize }
  }
  const tags = await tagsOf(deps, where)
  const shown = tags.slice(offset, offset + pageSize)
  const items = await find(deps, { tag: { $in: shown } }, { ...input, limit: mostFound })
  return { items, total: tags.length, page, pageSize }
}

/** All channels that match, or all channels of the tags that match. */
export async function searchChannels(deps: UserDeps, input: SearchChannels): Promise<ChannelView[]> {
  const where = await whereOf(deps, input)
  const found = input.tagMode ? { tag: { $in: await tagsOf(deps, where) } } : where
  return find(deps, found, { ...input, limit: mostFound })
}

/** Number and name of everything that matches, so that it can be chosen as a whole. */
export async function matchingChannels(
  deps: UserDeps,
  filters: ChannelFilters,
): Promise<Pick<ChannelView, 'id' | 'name'>[]> {
  return deps.em
    .createQueryBuilder(Channel, 'c')
    .select(['id', 'name'])
    .where((await whereOf(deps, filters)) as QBFilterQuery<Channel>)
    .orderBy({ id: 'asc' })
    .limit(mostFound)
    .execute<{ id: number; name: string }[]>('all')
}

/** Models of these channels that nobody could call for want of a price; channels that have none are left out. */
export async function listUnpriced(
  deps: UserDeps,
  { ids }: { ids: number[] },
): Promise<{ channelId: number; models: string[] }[]> {
  if (ids.length === 0) return []
  const channels = await deps.em.find(
    Channel,
    { id: { $in: ids } },
    { fields: ['id', 'type', 'models', 'modelMapping'], disableIdentityMap: true },
  )
  return channels
    .map((channel) => ({ channelId: channel.id, models: unpricedModelsOf(deps.options, channel) }))
    .filter(({ models }) => models.length > 0)
}

export async function getChannel(deps: UserDeps, { id }: { id: number }): Promise<ChannelDetail> {
  const channel = await findChannel(deps, id)
  const keys = await deps.em.find(
    ChannelKey,
    { channelId: id },
    { orderBy: { position: 'asc' }, disableIdentityMap: true },
  )
  return toChannelDetail(withProxyPassword(deps.secrets, channel), {
    role: deps.actor.role,
    key: deps.secrets.decrypt(channel.keyEncrypted),
    keys,
  })
}

/** The newest probes of each channel, newest first. */
export async function channelHealth(
  deps: UserDeps,
  input: { ids: number[]; limit: number },
): Promise<{ channelId: number; probes: ProbeView[] }[]> {
  if (input.ids.length === 0) return []
  const newest = await execute<{ id: string }>(
    deps.em,
    `select p.id from channels c
     cross join lateral (select id from channel_probes where channel_id = c.id order by id desc limit ?) p
     where c.id in (?)`,
    [input.limit, input.ids],
  )
  const probes = await deps.em.find(
    ChannelProbe,
    { id: { $in: newest.map(({ id }) => Number(id)) } },
    { orderBy: { id: 'desc' }, disableIdentityMap: true },
  )
  return input.ids.map((channelId) => ({
    channelId,
    probes: probes.filter((probe) => probe.channelId === channelId).map(toProbeView),
  }))
}
