import { readObject } from '#core/json-object.ts'
import { proxyOf } from '#core/proxy-setting.ts'
import { withoutTrailingSlashes } from '#core/trailing.ts'
import { channelTypeOf, defaultBaseUrlOf } from '#core/channel-types/index.ts'
import { checkOther } from '#core/channel-types/check-other.ts'
import { DomainError, type ErrorCode, toDomainError } from '#core/errors.ts'
import { protectedNameIn } from '#core/param-override.ts'
import { splitList } from '#core/routing/abilities.ts'
import type { Channel } from '#db/entities/channel.ts'
import { isLinkLocalHost } from '#relay/transport/address.ts'
import type { ChannelFields } from './schema.ts'

const longestModelName = 255
const regionalType = 41
const versionedType = 18
const fullUrlType = 8
const defaultVersion = 'v2.1'

type Stored = Pick<Channel, 'type' | 'other'>
export type ChannelColumns = Partial<Omit<Channel, 'id'>>

/**
 * What an operator typed, as the columns to write. Only what is given is validated, so that a quick edit of an old channel is
 * not refused for the rest of it.
 * @throws {DomainError}
 */
export function toColumns(given: ChannelFields, stored: Stored | null): ChannelColumns {
  const { models, groups, baseUrl, other, ...plain } = given
  checkJsonTexts(plain)
  if (given.type !== undefined && given.type !== stored?.type) checkType(given.type)
  return {
    ...withoutAbsent(plain),
    ...(models === undefined ? {} : { models: joinModels(models) }),
    ...(groups === undefined ? {} : { group: joinGroups(groups) }),
    ...(baseUrl === undefined ? {} : { baseUrl: cleanBaseUrl(baseUrl, given.type ?? stored?.type) }),
    ...otherColumn({ type: given.type, other }, stored),
  }
}

const withoutAbsent = <Fields extends object>(fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Fields

function checkType(type: number): void {
  const known = channelTypeOf(type)
  if (!known || known.status === 'reserved') throw new DomainError('channel.type_unknown', { type })
}

function joinModels(given: readonly string[]): string {
  const models = splitList(given.join(','))
  if (models.length === 0) throw new DomainError('channel.models_required')
  const tooLong = models.find((model) => [...model].length > longestModelName)
  if (tooLong) throw new DomainError('channel.model_name_too_long', { model: tooLong })
  return models.join(',')
}

function joinGroups(given: readonly string[]): string {
  const groups = splitList(given.join(','))
  if (groups.length === 0) throw new DomainError('channel.groups_required')
  return groups.join(',')
}

/** An address of a channel may be private, never link-local. It carries no credentials, for nothing would send them. */
function cleanBaseUrl(given: string, type: number | undefined): string {
  const baseUrl = withoutTrailingSlashes(given)
  if (baseUrl === '') return ''
  const url = URL.parse(baseUrl)
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') {
    throw new DomainError('url.invalid')
  }
  // Paths are written behind an address, where a query would swallow them; only a whole address may have one.
  if (/[?#]/.test(type === fullUrlType ? url.hash : baseUrl)) throw new DomainError('channel.address_query')
  refuseForbiddenHost(url)
  return baseUrl
}

function refuseForbiddenHost(url: URL): void {
  if (isLinkLocalHost(url.hostname)) throw new DomainError('channel.address_forbidden')
}

/** The type's own field: a region that becomes part of a host name, a version with a default, or plain text. */
function otherColumn(given: { type?: number | undefined; other?: string | undefined }, stored: Stored | null) {
  if (given.type === undefined && given.other === undefined) return {}
  const type = given.type ?? stored?.type
  const other = (given.other ?? stored?.other ?? '').trim()
  if (type === regionalType) checkRegion(other)
  const problem = type === undefined ? undefined : checkOther(type, other)
  if (problem) throw toDomainError(problem)
  return { other: type === versionedType && other === '' ? defaultVersion : other }
}

const regionName = /^[a-z0-9-]+$/

function checkRegion(other: string): void {
  if (other === '') throw new DomainError('channel.region_required')
  if (!other.startsWith('{')) {
    if (!regionName.test(other)) throw new DomainError('channel.region_invalid')
    return
  }
  const regions = readObject(other)
  if (!regions) throw new DomainError('channel.region_invalid')
  if (!Object.hasOwn(regions, 'default')) throw new DomainError('channel.region_default_missing')
  const isName = (region: unknown) => typeof region === 'string' && regionName.test(region)
  if (!Object.values(regions).every(isName)) throw new DomainError('channel.region_invalid')
}

const jsonFields = [
  ['modelMapping', 'channel.model_mapping_invalid'],
  ['statusCodeMapping', 'channel.status_code_mapping_invalid'],
  ['setting', 'channel.setting_invalid'],
  ['paramOverride', 'channel.param_override_invalid'],
] as const satisfies readonly (readonly [keyof ChannelFields, ErrorCode])[]

/** Blank, or the JSON of an object; the name table links names to names only. */
function checkJsonTexts(given: ChannelFields): void {
  for (const [field, code] of jsonFields) {
    const text = given[field]
    if (text === undefined || text.trim() === '') continue
    const value = readObject(text)
    if (!value) throw new DomainError(code)
    if (field === 'modelMapping' && !Object.values(value).every((name) => typeof name === 'string')) {
      throw new DomainError(code)
    }
    if (field === 'setting') checkProxy(value['proxy'])
    if (field === 'paramOverride') checkOverride(value)
  }
}

function checkOverride(override: Record<string, unknown>): void {
  const name = protectedNameIn(override)
  if (name !== undefined) throw new DomainError('channel.param_override_protected', { name })
}

function checkProxy(proxy: unknown): void {
  if (proxy === undefined || proxy === null || proxy === '') return
  const url = typeof proxy === 'string' ? URL.parse(proxy) : null
  if (!url || !/^(https?|socks5h?):$/.test(url.protocol)) throw new DomainError('channel.setting_invalid')
  refuseForbiddenHost(url)
}

type Aim = Pick<Channel, 'type' | 'baseUrl' | 'setting'>

const addressOf = ({ type, baseUrl }: Aim): string => withoutTrailingSlashes(baseUrl) || defaultBaseUrlOf(type)

/**
 * Whether a change would send the stored key somewhere else: another type, another address, or another proxy in front of
 * an unencrypted one.
 */
export function movesKey(stored: Aim, changes: Partial<Aim>): boolean {
  const next: Aim = {
    type: changes.type ?? stored.type,
    baseUrl: changes.baseUrl ?? stored.baseUrl,
    setting: changes.setting ?? stored.setting,
  }
  if (next.type !== stored.type || addressOf(next) !== addressOf(stored)) return true
  return !addressOf(next).startsWith('https:') && proxyOf(next.setting) !== proxyOf(stored.setting)
}
