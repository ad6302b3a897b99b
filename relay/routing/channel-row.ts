import { parseJson } from '#core/exact-json.ts'
import { splitList } from '#core/routing/abilities.ts'
import { type BuyingPriceIndex, buyingPrices, indexBuyingPrices } from '#core/pricing/buying-price.ts'
import { withoutTrailingSlashes } from '#core/trailing.ts'
import { settingOf } from '#features/channels/stored-setting.ts'
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
  buyingPrices: BuyingPriceIndex
  createdAt: Date
}

/** What reading a row needs, and who is notified of what is wrong in one. */
export type RowReader = {
  secrets: Secrets
  splitKeys: (type: number, text: string) => string[]
  onBadChannel: (id: number, error: unknown) => void
  /** A text of an operator that is no JSON object, and is ignored. */
  onIgnored: (id: number, field: string) => void
}

/** A row as a channel, with each name given through `one`; null where it cannot be used. */
export function readRow(deps: RowReader, row: Columns, one: (text: string) => string): ChannelRow | null {
  try {
    for (const field of ['setting', 'param_override'] as const)
      if (row[field].trim() !== '' && readObject(row[field]) === null) deps.onIgnored(row.id, field)
    const setting = settingOf(deps.secrets, { setting: row.setting, proxyEncrypted: row.proxy_encrypted })
    const channel = toChannelRow({ ...row, setting }, deps.splitKeys(row.type, deps.secrets.decrypt(row.key_encrypted)))
    return { ...channel, models: channel.models.map(one), groups: channel.groups.map(one) }
  } catch (error) {
    deps.onBadChannel(row.id, error)
    return null
  }
}

/** Of `channels`, with the places of the keys that are out. */
export type Columns = {
  id: number
  revision: string | number
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
  proxy_encrypted: string
  param_override: string
  system_prompt: string
  priority: number
  weight: number
  auto_ban: boolean
  buying_prices: unknown
  /** Text: the driver is asked to leave instants alone. */
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
  buyingPrices: readBuyingPrices(row.buying_prices),
  createdAt: new Date(row.created_at),
})

/** JSON text of an operator; what is no object is ignored. */
function readObject(text: string): Record<string, unknown> | null {
  if (text.trim() === '') return null
  try {
    const value: unknown = parseJson(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null
  } catch {
    return null
  }
}

const noBuyingPrices = indexBuyingPrices([])

/** Most channels have none, and share the empty index. */
function readBuyingPrices(stored: unknown): BuyingPriceIndex {
  const given: unknown = typeof stored === 'string' ? JSON.parse(stored) : stored
  if (!Array.isArray(given) || given.length === 0) return noBuyingPrices
  const read = buyingPrices.safeParse(given)
  return read.success ? indexBuyingPrices(read.data) : noBuyingPrices
}
