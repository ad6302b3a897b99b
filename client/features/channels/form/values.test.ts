import { expect, test } from 'vitest'
import { channelTypeOf } from '#core/channel-types/index.ts'
import { keyHint } from '../types.ts'
import { changesOf, channelForm, emptyValues, needsKeyAgain } from './values.ts'

const good = { ...emptyValues(), name: 'main', key: 'sk-1', models: ['gpt-4o'] }

const complaints = (values: object, stored?: typeof good) => {
  const result = channelForm({ stored }).safeParse({ ...good, ...values })
  return Object.fromEntries((result.error?.issues ?? []).map((issue) => [issue.path.join('.'), issue.message]))
}

test('a complete channel has nothing against it', () => {
  expect(complaints({})).toEqual({})
})

test('a new channel needs name, key and a model, each said at its field', () => {
  expect(complaints({ name: ' ', key: '', models: [] })).toEqual({
    name: 'channel.name_and_key_required',
    key: 'channel.name_and_key_required',
    models: 'channel.models_required',
  })
})

test('a stored channel keeps its key unless it is aimed elsewhere', () => {
  expect(complaints({ key: '' }, good)).toEqual({})
  expect(complaints({ key: '', baseUrl: 'https://elsewhere.example' }, good)).toEqual({
    key: 'channel.key_needed_for_address',
  })
  expect(complaints({ key: '', type: 14 }, good)).toEqual({ key: 'channel.key_needed_for_address' })
})

test('root aims a stored key elsewhere without typing it again', () => {
  const moved = { ...good, key: '', baseUrl: 'https://elsewhere.example' }
  expect(channelForm({ stored: good, movesKeys: true }).safeParse(moved).success).toBe(true)
})

test('spelling out the preset address moves no key', () => {
  expect(needsKeyAgain({ type: 1, baseUrl: 'https://api.openai.com/' }, { type: 1, baseUrl: '' })).toBe(false)
})

test('keys of several parts are validated by their type', () => {
  expect(complaints({ type: 15, key: 'only-one' })).toHaveProperty('key')
  expect(complaints({ type: 15, key: 'one|two' })).toEqual({})
})

test('texts that must be JSON say so in the words of their field', () => {
  expect(
    complaints({ modelMapping: '{', setting: '[]', paramOverride: 'x', statusCodeMapping: '{"429": 503}' }),
  ).toEqual({
    modelMapping: 'channel.model_mapping_invalid',
    setting: 'channel.setting_invalid',
    paramOverride: 'channel.param_override_invalid',
  })
})

test('a region that begins with a brace must be JSON with a default', () => {
  const key = '{"client_email":"a","private_key":"b","project_id":"c"}'
  expect(complaints({ type: 41, key, other: '' })).toEqual({ other: 'channel.region_required' })
  expect(complaints({ type: 41, key, other: '{oops' })).toEqual({ other: 'channel.region_invalid' })
  expect(complaints({ type: 41, key, other: '{"x":"us"}' })).toEqual({ other: 'channel.region_default_missing' })
  expect(complaints({ type: 41, key, other: 'us-east5' })).toEqual({})
})

test('a type without an address of its own asks for one', () => {
  expect(complaints({ type: 3 })).toHaveProperty('baseUrl')
  expect(complaints({ type: 3, baseUrl: 'https://x.openai.azure.com' })).toEqual({})
})

test('only what was changed is sent', () => {
  expect(changesOf({ ...good, weight: 5 }, good)).toEqual({ weight: 5 })
})

test('a new channel is of the group default and switches off by itself', () => {
  expect(emptyValues()).toMatchObject({ groups: ['default'], autoBan: true })
})

test('the key field says the parts that a type’s key is made of, and else how several are separated', () => {
  const hintOf = (type: number): string => keyHint(channelTypeOf(type)!)
  for (const [type, parts] of Object.entries({
    15: 'APIKey|SecretKey',
    18: 'APPID|APISecret|APIKey',
    22: 'APIKey-AppId',
    23: 'AppId|SecretId|SecretKey',
    33: 'Ak|Sk|Region',
  })) {
    expect(hintOf(Number(type))).toContain(parts)
  }
  expect(hintOf(1)).toContain('用英文逗号或换行分隔')
})
