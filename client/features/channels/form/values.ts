import { withoutTrailingSlashes } from '#core/trailing.ts'
import type { ChannelDetail } from '../channel-detail.ts'
import type { z } from 'zod'
import { checkOther } from '#core/channel-types/check-other.ts'
import { checkKeys } from '#core/channel-types/check-keys.ts'
import { channelTypeOf, defaultBaseUrlOf } from '#core/channel-types/index.ts'
import { splitKeys } from '#core/channel-types/split-keys.ts'
import type { ErrorCode } from '#core/errors.ts'
import type { CreateChannel } from '#features/channels/schema.ts'
import { createChannel } from '#features/channels/schema.ts'
import { refusalText } from '../../../i18n/refusal-text.ts'
import { t } from '../../../i18n/t.ts'

export type ChannelValues = CreateChannel

export const regionalType = 41
const fullUrlType = 8
const defaultType = 1

export const emptyValues = (): ChannelValues => ({
  name: '',
  type: defaultType,
  key: '',
  models: [],
  groups: ['default'],
  baseUrl: '',
  openaiOrganization: '',
  testModel: '',
  maxInputTokens: 0,
  other: '',
  modelPrefix: '',
  tag: '',
  modelMapping: '',
  statusCodeMapping: '',
  setting: '',
  paramOverride: '',
  systemPrompt: '',
  priority: 0,
  weight: 0,
  autoBan: true,
})

export function valuesOf(channel: ChannelDetail): ChannelValues {
  const names = Object.keys(emptyValues()) as (keyof ChannelValues)[]
  const values = Object.fromEntries(names.map((name) => [name, channel[name]])) as ChannelValues
  const keys = splitKeys(channel.type, channel.key)
  // Several keys are read a line each.
  return { ...values, key: keys.join('\n') }
}

/** What differs from what is stored, so that a save overwrites nothing that somebody else changed meanwhile. */
export function changesOf(values: ChannelValues, stored: ChannelValues): Partial<ChannelValues> {
  const changed = Object.entries(values).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(stored[name as keyof ChannelValues]),
  )
  return Object.fromEntries(changed)
}

/** What stands where the changes go, so that one of somebody else in the same place is not overwritten unseen. */
export function replacedBy(values: ChannelValues, stored: ChannelValues): Partial<Omit<ChannelValues, 'key'>> {
  const { key: _, ...changed } = changesOf(values, stored)
  const names = Object.keys(changed) as (keyof typeof changed)[]
  return Object.fromEntries(names.map((name) => [name, stored[name]]))
}

type Aim = Pick<ChannelValues, 'type' | 'baseUrl'>

export const cleanAddress = (address: string): string => withoutTrailingSlashes(address.trim())

/** Calls add the version by themselves. */
export const endsWithVersion = (address: string): boolean => cleanAddress(address).endsWith('/v1')

const addressOf = ({ type, baseUrl }: Aim): string => cleanAddress(baseUrl) || defaultBaseUrlOf(type)

/** The stored key follows its channel to another type or address by root's word only: others type it again. */
export const needsKeyAgain = (values: Aim, stored: Aim): boolean =>
  values.type !== stored.type || addressOf(values) !== addressOf(stored)

type Complaint = (field: keyof ChannelValues, problem: ErrorCode | { text: string }) => void

function validateKey(values: ChannelValues, { stored, movesKeys = false }: FormOf, complain: Complaint): void {
  if (values.key.trim() === '') {
    if (!stored) complain('key', 'channel.name_and_key_required')
    else if (!movesKeys && needsKeyAgain(values, stored)) complain('key', 'channel.key_needed_for_address')
    return
  }
  const problem = checkKeys(values.type, splitKeys(values.type, values.key))
  if (problem) complain('key', { text: refusalText(problem) })
}

const objectIn = (text: string): Record<string, unknown> | undefined => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined
  } catch {
    return undefined
  }
}

const jsonFields = {
  modelMapping: 'channel.model_mapping_invalid',
  statusCodeMapping: 'channel.status_code_mapping_invalid',
  setting: 'channel.setting_invalid',
  paramOverride: 'channel.param_override_invalid',
} as const satisfies Partial<Record<keyof ChannelValues, ErrorCode>>

function validateJson(values: ChannelValues, complain: Complaint): void {
  for (const [field, code] of Object.entries(jsonFields)) {
    const name = field as keyof typeof jsonFields
    if (values[name].trim() !== '' && !objectIn(values[name])) complain(name, code)
  }
}

function validateOther({ type, other, key }: ChannelValues, complain: Complaint): void {
  // The account may stand before the token in the key instead.
  if (type === 39 && other.trim() === '' && !key.includes('|')) complain('other', { text: t('请填写账户 ID') })
  const problem = checkOther(type, other.trim())
  if (problem) complain('other', { text: refusalText(problem) })
  if (type !== regionalType) return
  const region = other.trim()
  if (region === '') return complain('other', 'channel.region_required')
  if (!region.startsWith('{')) return
  const regions = objectIn(region)
  if (!regions) complain('other', 'channel.region_invalid')
  else if (!('default' in regions)) complain('other', 'channel.region_default_missing')
}

function validateAddress({ type, baseUrl }: ChannelValues, complain: Complaint): void {
  if (baseUrl.trim() === '') {
    if (channelTypeOf(type)?.requiresBaseUrl === true) {
      complain('baseUrl', { text: t('此类型需要填写接口地址') })
    }
    return
  }
  const url = URL.parse(baseUrl)
  if (!url || !/^https?:$/.test(url.protocol)) complain('baseUrl', 'url.invalid')
  else if (/[?#]/.test(type === fullUrlType ? url.hash : baseUrl)) complain('baseUrl', 'channel.address_query')
}

type FormOf = {
  stored?: ChannelValues | undefined
  /** May aim a stored key elsewhere without typing it again: root, who can read it anyway. */
  movesKeys?: boolean
}

/** The server's own rules, each said beside its field before anything is sent. */
export const channelForm = (of: FormOf = {}) =>
  createChannel.superRefine((values, context) => {
    const complain: Complaint = (field, problem) =>
      context.addIssue({
        code: 'custom',
        path: [field],
        message: typeof problem === 'string' ? problem : problem.text,
      })
    if (values.name === '') complain('name', 'channel.name_and_key_required')
    if (values.models.length === 0) complain('models', 'channel.models_required')
    if (values.groups.length === 0) complain('groups', 'channel.groups_required')
    validateKey(values, of, complain)
    validateAddress(values, complain)
    validateOther(values, complain)
    validateJson(values, complain)
  }) satisfies z.ZodType

/** Where a refusal of the server belongs. */
export const fieldOfRefusal: Partial<Record<ErrorCode, keyof ChannelValues>> = {
  'channel.key_required': 'key',
  'channel.key_invalid': 'key',
  'channel.key_needed_for_address': 'key',
  'channel.models_required': 'models',
  'channel.model_name_too_long': 'models',
  'channel.groups_required': 'groups',
  'channel.type_unknown': 'type',
  'channel.other_required': 'other',
  'channel.other_invalid': 'other',
  'channel.address_query': 'baseUrl',
  'channel.region_required': 'other',
  'channel.region_invalid': 'other',
  'channel.region_default_missing': 'other',
  'channel.model_mapping_invalid': 'modelMapping',
  'channel.status_code_mapping_invalid': 'statusCodeMapping',
  'channel.setting_invalid': 'setting',
  'channel.param_override_invalid': 'paramOverride',
  'channel.param_override_protected': 'paramOverride',
  'channel.address_forbidden': 'baseUrl',
  'url.invalid': 'baseUrl',
}
