import type { RouterOutputs } from '#server/app-router.ts'

export type Channel = RouterOutputs['admin']['channels']['list']['items'][number]

/** Channels under one tag, as one line that unfolds. */
export type TagRow = {
  kind: 'tag'
  id: string
  tag: string
  channels: readonly Channel[]
  groups: readonly string[]
  usedQuota: number
  /** Of the channels that were tested; 0 where none was. */
  responseTimeMs: number
  /** Undefined where the channels differ. */
  priority: number | undefined
  weight: number | undefined
  enabled: number
  unfolded: boolean
}
export type ChannelRow = { kind: 'channel'; id: number; channel: Channel; nested: boolean }
export type Row = ChannelRow | TagRow

const sameOf = (values: readonly number[]): number | undefined =>
  values.every((value) => value === values[0]) ? values[0] : undefined

const averageOf = (values: readonly number[]): number =>
  values.length === 0 ? 0 : Math.round(values.reduce((sum, value) => sum + value, 0) / values.length)

export const toChannelRow = (channel: Channel, nested = false): ChannelRow => ({
  kind: 'channel',
  id: channel.id,
  channel,
  nested,
})

export function toTagRow(tag: string, channels: readonly Channel[], unfolded: boolean): TagRow {
  return {
    kind: 'tag',
    id: `tag:${tag}`,
    tag,
    channels,
    groups: [...new Set(channels.flatMap((channel) => channel.groups))],
    usedQuota: channels.reduce((sum, channel) => sum + channel.usedQuota, 0),
    responseTimeMs: averageOf(channels.map((channel) => channel.responseTimeMs).filter((time) => time > 0)),
    priority: sameOf(channels.map((channel) => channel.priority)),
    weight: sameOf(channels.map((channel) => channel.weight)),
    enabled: channels.filter((channel) => channel.status === 1).length,
    unfolded,
  }
}

/** One row a tag, in the order of names, with its channels below where it is unfolded. */
export function foldByTag(channels: readonly Channel[], unfolded: readonly string[]): Row[] {
  const byTag = Map.groupBy(channels, (channel) => channel.tag)
  return [...byTag.keys()].toSorted().flatMap((tag): Row[] => {
    const members = byTag.get(tag) ?? []
    const row = toTagRow(tag, members, unfolded.includes(tag))
    return row.unfolded ? [row, ...members.map((channel) => toChannelRow(channel, true))] : [row]
  })
}

/** The channels that chosen rows stand for, each once. */
export function channelsOf(rows: readonly Row[]): Channel[] {
  const all = rows.flatMap((row) => (row.kind === 'tag' ? row.channels : [row.channel]))
  return [...new Map(all.map((channel) => [channel.id, channel])).values()]
}

export const nameOf = (row: Row): string => (row.kind === 'tag' ? row.tag : row.channel.name)
