import { describe, expect, it } from 'vitest'
import { messageOf, type Problem } from '#core/errors.ts'
import { encodeValue, textKindOf } from '#core/options/codec.ts'
import { describeOption } from '#core/options/describe.ts'
import { type OptionKey, optionKeys, optionOf } from '#core/options/registry/index.ts'
import { isHiddenInLists } from '#core/options/rules.ts'
import {
  changedFields,
  changeOf,
  fields,
  type FieldValue,
  formValuesOf,
  kindOf,
  nameOf,
  problemIn,
  toFieldValue,
} from '../../client/features/options/values.ts'
import { startFileConsole } from '#test/support/console-app.ts'

const app = await startFileConsole()
// Passwords are switched off among the others, and nobody may lock themselves out.
const root = await app.person({ role: 100, telegramId: '1' })
const browser = await app.signedIn(root)

const api = async () => (await app.trpc(root)).admin.options

/** What cannot be found by looking at the schema. */
const chosen: Partial<Record<OptionKey, unknown>> = {
  Chats: [{ Reader: 'https://reader.example/#/?key={key}' }],
  UserUsableGroups: { default: 'Everybody' },
  GroupRatio: { default: 2, vip: 0.5 },
  GroupGroupRatio: { vip: { default: 0.9 } },
  AutoGroups: ['vip', 'default'],
  ModelRequestRateLimitGroup: { vip: [10, 5] },
  'claude.model_headers_settings': { 'claude-3-7-sonnet': { 'anthropic-beta': ['one'] } },
  'claude.default_max_tokens': { default: 4096 },
  'gemini.safety_settings': { default: 'BLOCK_NONE' },
  'gemini.version_settings': { default: 'v1' },
  'global.auto_retry_status_codes': '429,5xx',
  global_model_mapping: { mapping: { fast: [{ model: 'gpt-4o', priorities: 0, weight: 0 }] } },
  'stripe.currency': 'eur',
  ModelCapabilities: { 'house-*': { images: false, context: 32_000 } },
  LongContextRatio: { 'gpt-4o': [{ above: 128_000, input: 2, output: 1.5 }] },
}

type Schema = { minimum?: number; maximum?: number; exclusiveMinimum?: number; enum?: unknown[] }
const schemaOf = (key: OptionKey): Schema => describeOption(key).schema as Schema

/** A good value that is not the default. */
function sampleOf(key: OptionKey): unknown {
  if (key in chosen) return chosen[key]
  const { default: standard, widget } = optionOf(key)
  const { maximum = Number.MAX_SAFE_INTEGER, enum: choices } = schemaOf(key)
  switch (typeof standard) {
    case 'boolean':
      return !standard
    case 'number':
      return Math.max(standard, 0) + 1 <= maximum ? Math.max(standard, 0) + 1 : maximum
    case 'string':
      return choices ? choices.find((choice) => choice !== standard) : `https://${key.toLowerCase()}.example`
    default:
      return Array.isArray(standard) || widget === 'tags' ? ['one.example'] : { 'gpt-4o': 3 }
  }
}

/** Either a price or ratios, never both: these are set by themselves. */
const alone: readonly OptionKey[] = ['fallback_single_price']

/** Addresses before the secrets that go there, and what a switch needs before the switch. */
const inOrder = optionKeys
  .filter((key) => !alone.includes(key))
  .toSorted((one, other) => lateness(one) - lateness(other))

function lateness(key: OptionKey): number {
  const { boundTo, requires, formRequires } = optionOf(key)
  return requires ? 3 : boundTo ? 2 : formRequires ? 1 : 0
}

type Api = Awaited<ReturnType<typeof api>>

async function expectStored(options: Api, keys: readonly OptionKey[]): Promise<void> {
  const rows = await app.sql('select key, value from options')
  const texts = (await browser.get('/api/option/')).data as { key: string; value: string }[]
  const views = await options.list()
  const found = keys.map((key) => ({
    key,
    inForce: app.services.options.get(key),
    stored: rows.find((row) => row['key'] === key)?.['value'],
    view: views.find((view) => view.key === key),
    listed: texts.find((row) => row.key === key)?.value,
  }))
  const expected = keys.map((key) => {
    const value = sampleOf(key)
    const text = encodeValue(key, value as never)
    const isSecret = optionOf(key).visibility === 'secret'
    return {
      key,
      inForce: value,
      stored: isSecret ? (expect.not.stringContaining(text) as unknown) : text,
      view: { key, value: isSecret ? null : value, isSet: true, isStored: true },
      listed: isHiddenInLists(key) ? undefined : text,
    }
  })
  expect(found).toEqual(expected)
}

type Way = (options: Api, keys: readonly OptionKey[]) => Promise<unknown>

const ways: Record<string, Way> = {
  'the procedure': async (options, keys) => {
    for (const key of keys) await options.update({ key, value: encodeValue(key, sampleOf(key) as never) })
  },
  'the documented path': async (_, keys) => {
    for (const key of keys) {
      const reply = await browser.put('/api/option/', { key, value: encodeValue(key, sampleOf(key) as never) })
      expect([key, reply.body]).toMatchObject([key, { success: true }])
    }
  },
  'the form of the settings page': async (options, keys) => {
    const own = fields.filter(({ key }) => keys.includes(key))
    const stored = formValuesOf(await options.list())
    const typed = own.map((field): [string, FieldValue] => {
      const value = sampleOf(field.key)
      return [nameOf(field.key), field.visibility === 'secret' ? String(value) : toFieldValue(field, value)]
    })
    const values = { ...stored, ...Object.fromEntries(typed) }
    expect(own.filter(({ key }) => problemIn(key, values[nameOf(key)]))).toEqual([])
    const changed = changedFields(values, stored)
    const result = await options.save({ changes: changed.map((field) => changeOf(field, values)) })
    expect(result).toMatchObject({ failed: [] })
    const elsewhere = keys.filter((key) => !result.saved.includes(key))
    for (const key of elsewhere) {
      // The mapping is a table that saves by itself; what is kept for older clients has no field.
      if (key === 'global_model_mapping') await options.mapping.update(sampleOf(key) as never)
      else expect([key, optionOf(key).group]).toEqual([key, 'legacy'])
    }
    await options.save({
      changes: elsewhere
        .filter((key) => key !== 'global_model_mapping')
        .map((key) => ({ key, value: sampleOf(key) as never })),
    })
  },
}

describe('every option', () => {
  it.each(Object.entries(ways))(
    'is set through %s, stands in the database, is in force at once, and goes back',
    async (_, set) => {
      const options = await api()
      for (const keys of [alone, inOrder]) {
        await set(options, keys)
        await expectStored(options, keys)
        await options.reset({ keys: [...keys] })
        const back = keys.map((key) => [key, app.services.options.get(key)])
        expect(back).toEqual(keys.map((key) => [key, optionOf(key).default]))
      }
    },
  )
})

type Bad = { text: string; value: unknown }

/** What breaks the rules of an option, as text and as the form holds it. */
function badValues(key: OptionKey): Bad[] {
  const option = optionOf(key)
  const { minimum, maximum, exclusiveMinimum, enum: choices } = schemaOf(key)
  const asText = (value: number): Bad => ({ text: String(value), value })
  switch (textKindOf(option)) {
    case 'number':
      return [
        { text: 'many', value: 'many' },
        ...(minimum === undefined ? [] : [asText(minimum - 1)]),
        ...(exclusiveMinimum === undefined ? [] : [asText(exclusiveMinimum)]),
        ...(maximum === undefined || maximum === Number.MAX_SAFE_INTEGER ? [] : [asText(maximum + 1)]),
      ]
    case 'json':
      return [{ text: '5', value: 5 }]
    case 'boolean':
      return option.requires?.some((other) => optionOf(other as OptionKey).default === '')
        ? [{ text: 'true', value: true }]
        : []
    default:
      if (choices) return [{ text: 'nonsense', value: 'nonsense' }]
      return [
        ...(Array.isArray(option.default) ? [] : [{ text: 'a\0b', value: 'a\0b' }]),
        ...(option.widget === 'address' && option.check ? [{ text: 'ftp://host', value: 'ftp://host' }] : []),
      ]
  }
}

async function wordsOf(call: Promise<unknown>): Promise<string> {
  const error = await call.then(
    () => new Error('was taken'),
    (thrown: unknown) => thrown,
  )
  const cause = (error as { cause?: unknown }).cause as Problem | undefined
  return cause?.code ? messageOf(cause) : String(error)
}

describe('a value that breaks the rules of an option', () => {
  it('is refused by the procedure, the documented path and the form in the same words, and changes nothing', async () => {
    await app.sql('truncate options')
    await app.services.options.reload()
    const options = await api()
    const refusals: { key: string; words: string; path: unknown; form: string; field: string }[] = []
    for (const key of optionKeys) {
      for (const { text, value } of badValues(key)) {
        const words = await wordsOf(options.update({ key, value: text }))
        const reply = await browser.put('/api/option/', { key, value: text })
        const saved = await options.save({ changes: [{ key, value: value as never }] })
        const inForm = problemIn(key, typeof value === 'object' ? JSON.stringify(value) : (value as never))
        refusals.push({
          key,
          words,
          path: reply.body['message'],
          form: saved.failed.map(({ message }) => message).join(),
          // Zeros and prerequisites are validated where all of it is known.
          field: inForm ? messageOf(inForm) : words,
        })
      }
      if (textKindOf(optionOf(key)) !== 'json') continue
      const words = await wordsOf(options.update({ key, value: '{' }))
      const reply = await browser.put('/api/option/', { key, value: '{' })
      const field = fields.find((each) => each.key === key)
      const inForm = field && kindOf(field) === 'json' ? problemIn(key, '{') : undefined
      refusals.push({ key, words, path: reply.body['message'], form: words, field: inForm ? messageOf(inForm) : words })
    }
    expect(
      refusals.filter(({ words, path, form, field }) => [path, form, field].some((other) => other !== words)),
    ).toEqual([])
    expect(refusals.filter(({ words }) => words === 'Error: was taken')).toEqual([])
    expect(refusals.length).toBeGreaterThan(120)
    expect(await app.sql('select key from options')).toEqual([])
  })
})

it('one of fifty forms that began with the same value wins', async () => {
  await (await api()).reset({ keys: ['About'] })
  const results = await Promise.all(
    Array.from({ length: 50 }, async (_, index) =>
      (await api()).save({ changes: [{ key: 'About', value: `word${index}`, expected: '' }] }),
    ),
  )
  const winners = results.flatMap(({ saved }, index) => (saved.length > 0 ? [`word${index}`] : []))
  expect(winners).toHaveLength(1)
  const about = (await (await api()).texts()).find(({ key }) => key === 'About')
  expect(about?.value).toBe(winners[0])
})
