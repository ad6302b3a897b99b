import { withoutTrailingSlashes } from '#core/trailing.ts'
import type { Pool } from 'pg'
import { splitList } from '#core/routing/abilities.ts'
import { type Route, type Tiers, tiersOf } from '#core/routing/candidates.ts'
import { channelStatus } from '#core/statuses.ts'
import type { Secrets } from '#features/secrets/service.ts'

/** A channel as calls need it: texts parsed once, keys decrypted once. */
export type ChannelRow = {
  id: number
  type: number
  name: string
  status: number
  keys: { position: number; value: string; enabled: boolean }[]
  openaiOrganization: string
  maxInputTokens: number
  baseUrl: string
  other: string
  models: string[]
  groups: string[]
  modelPrefix: string
  modelMapping: string
  statusCodeMapping: string
  setting: Record<string, unknown>
  paramOverride: Record<string, unknown> | null
  systemPrompt: string
  priority: number
  weight: number
  autoBan: boolean
  createdAt: Date
}

/**
 * Which enabled channel serves which model in which group, kept up to date channel by channel: one change touches that
 * channel's own entries only.
 */
export type ChannelTable = {
  channel: (id: number) => ChannelRow | undefined
  /** Enabled channels of a model in a group, sorted into tiers; with a prefix only that prefix's, in one tier. */
  tiers: (group: string, model: string, prefix?: string) => Tiers
  /** Model names that a group can use, without prefixes. */
  modelsOf: (group: string) => string[]
  /** Non-empty prefixes of a group's enabled channels, longest first. */
  prefixesOf: (group: string) => string[]
  enabledChannels: () => ChannelRow[]
  all: () => ChannelRow[]
  /** Reads one channel again, or all. */
  reload: (id?: number) => Promise<void>
}

export function createChannelTable(deps: {
  pool: Pool
  secrets: Secrets
  splitKeys: (type: number, text: string) => string[]
  onBadChannel: (id: number, error: unknown) => void
  /** A text of an operator that is no JSON object, and is ignored. */
  onIgnored: (id: number, field: string) => void
}): ChannelTable {
  const channels = new Map<number, ChannelRow>()
  const table = new Map<string, Map<string, Route[]>>()

  // A change replaces a model's list of routes, so the list itself is the key of its sorted form.
  const tiersOfRoutes = new WeakMap<readonly Route[], Tiers>()
  const sorted = (routes: readonly Route[]): Tiers => {
    const known = tiersOfRoutes.get(routes)
    if (known) return known
    const tiers = tiersOf(routes)
    tiersOfRoutes.set(routes, tiers)
    return tiers
  }

  const prefixes = new Map<string, string[]>()

  const remove = (id: number): void => {
    const old = channels.get(id)
    channels.delete(id)
    prefixes.clear()
    if (!old) return
    for (const group of old.groups) {
      const models = table.get(group)
      for (const model of old.models) {
        const rest = models?.get(model)?.filter((route) => route.channelId !== id) ?? []
        if (rest.length > 0) models?.set(model, rest)
        else models?.delete(model)
      }
    }
  }
  const add = (channel: ChannelRow): void => {
    channels.set(channel.id, channel)
    prefixes.clear()
    if (channel.status !== channelStatus.enabled) return
    const route: Route = {
      channelId: channel.id,
      priority: channel.priority,
      weight: channel.weight,
      keys: channel.keys.filter((key) => key.enabled).map((key) => key.position),
    }
    for (const group of channel.groups) {
      const models = table.get(group) ?? new Map<string, Route[]>()
      table.set(group, models)
      for (const model of channel.models) models.set(model, [...(models.get(model) ?? []), route])
    }
  }
  const read = (row: Columns): ChannelRow | undefined => {
    try {
      for (const field of ['setting', 'param_override'] as const)
        if (row[field].trim() !== '' && readObject(row[field]) === null) deps.onIgnored(row.id, field)
      return toChannelRow(row, deps.splitKeys(row.type, deps.secrets.decrypt(row.key_encrypted)))
    } catch (error) {
      deps.onBadChannel(row.id, error)
      return undefined
    }
  }

  return {
    channel: (id) => channels.get(id),
    tiers: (group, model, prefix) => {
      const routes = table.get(group)?.get(model) ?? []
      if (prefix === undefined) return sorted(routes)
      const prefixed = routes.filter((route) => channels.get(route.channelId)?.modelPrefix === prefix)
      return tiersOf(prefixed, { ignorePriority: true })
    },
    modelsOf: (group) => [...(table.get(group)?.keys() ?? [])],
    prefixesOf: (group) => {
      const known = prefixes.get(group) ?? prefixesIn(group, channels.values())
      prefixes.set(group, known)
      return known
    },
    all: () => [...channels.values()],
    enabledChannels: () => [...channels.values()].filter((channel) => channel.status === channelStatus.enabled),
    reload: async (id) => {
      const { rows } = await deps.pool.query<Columns>(
        `select c.*, coalesce((select array_agg(k.position) from channel_keys k where k.channel_id = c.id and k.status <> 1), '{}') as disabled_keys
         from channels c ${id === undefined ? '' : 'where c.id = $1'}`,
        id === undefined ? [] : [id],
      )
      const read1 = rows.map(read).filter((channel) => channel !== undefined)
      for (const known of id === undefined ? [...channels.keys()] : [id]) remove(known)
      for (const channel of read1) add(channel)
    },
  }
}

const prefixesIn = (group: string, channels: Iterable<ChannelRow>): string[] =>
  [
    ...new Set(
      [...channels]
        .filter((channel) => channel.status === channelStatus.enabled && channel.groups.includes(group))
        .map((channel) => channel.modelPrefix)
        .filter((prefix) => prefix !== ''),
    ),
  ].toSorted((left, right) => right.length - left.length)

type Columns = {
  id: number
  type: number
  name: string
  status: number
  key_encrypted: string
  disabled_keys: number[]
  openai_organization: string
  max_input_tokens: number
  base_url: string
  other: string
  models: string
  group: string
  model_prefix: string
  model_mapping: string
  status_code_mapping: string
  setting: string
  param_override: string
  system_prompt: string
  priority: number
  weight: number
  auto_ban: boolean
  /** Text: the driver is told to leave instants alone. */
  created_at: string
}

const toChannelRow = (row: Columns, keys: string[]): ChannelRow => ({
  id: row.id,
  type: row.type,
  name: row.name,
  status: row.status,
  keys: keys.map((value, position) => ({ position, value, enabled: !row.disabled_keys.includes(position) })),
  openaiOrganization: row.openai_organization,
  maxInputTokens: row.max_input_tokens,
  baseUrl: withoutTrailingSlashes(row.base_url),
  other: row.other,
  models: splitList(row.models),
  groups: splitList(row.group),
  modelPrefix: row.model_prefix,
  modelMapping: row.model_mapping,
  statusCodeMapping: row.status_code_mapping,
  setting: readObject(row.setting) ?? {},
  paramOverride: readObject(row.param_override),
  systemPrompt: row.system_prompt,
  priority: row.priority,
  weight: row.weight,
  autoBan: row.auto_ban,
  createdAt: new Date(row.created_at),
})

/** JSON text of an operator; what is no object is ignored. */
function readObject(text: string): Record<string, unknown> | null {
  if (text.trim() === '') return null
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null
  } catch {
    return null
  }
}
