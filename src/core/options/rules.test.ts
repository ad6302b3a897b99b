import { describe, expect, it } from 'vitest'
import { checkModelMapping, type ModelMapping } from './model-mapping.ts'
import { defaultOptions, type OptionKey, type OptionValues } from './registry/index.ts'
import { checkForm, checkPrerequisites, inSavingOrder, isHiddenInLists, isSecretKey } from './rules.ts'
import { snapshotOf } from './snapshot.ts'
import { includesStatus, parseStatusCodes } from './status-codes.ts'

const reading = (changes: Partial<OptionValues>) => {
  const values: Record<string, unknown> = defaultOptions(changes)
  return (key: string) => values[key]
}

describe('a switch', () => {
  it.each<[OptionKey, Partial<OptionValues>]>([
    ['GitHubOAuthEnabled', { GitHubClientId: 'id' }],
    ['oidc.enabled', { 'oidc.client_id': 'id' }],
    ['LinuxDOOAuthEnabled', { LinuxDOClientId: 'id' }],
    ['EmailDomainRestrictionEnabled', { EmailDomainWhitelist: ['a.com'] }],
    ['WeChatAuthEnabled', { WeChatServerAddress: 'https://wx.example' }],
    ['TurnstileCheckEnabled', { TurnstileSiteKey: 'key', TurnstileSecretKey: 'secret' }],
    ['TelegramOAuthEnabled', { TelegramBotToken: 'token' }],
  ])('%s cannot be turned on without its prerequisite', (key, filled) => {
    const emptied = Object.fromEntries(
      Object.entries(filled).map(([name, value]) => [name, Array.isArray(value) ? [] : '']),
    )
    expect(checkPrerequisites(key, reading({ ...emptied, [key]: true }))?.code).toBe('option.requires')
    for (const [name, value] of Object.entries(emptied))
      expect(checkPrerequisites(key, reading({ ...filled, [name]: value, [key]: true }))?.code).toBe('option.requires')
    expect(checkPrerequisites(key, reading({ ...filled, [key]: true }))).toBeUndefined()
    expect(checkPrerequisites(key, reading({ ...emptied, [key]: false }))).toBeUndefined()
  })
})

describe('a form', () => {
  it('wants the server address before payment is configured', () => {
    for (const key of ['PayAddress', 'EpayId', 'EpayKey', 'stripe.secret_key', 'stripe.webhook_secret'] as const) {
      const read = reading({ [key]: 'https://pay.example' })
      expect(checkForm(key, read)?.code, key).toBe('option.requires_server_address')
      const filled = reading({ [key]: 'https://pay.example', ServerAddress: 'https://gw.example' })
      expect(checkForm(key, filled), key).toBeUndefined()
      expect(checkForm(key, reading({})), key).toBeUndefined()
    }
  })

  it.each([
    [1, 0, 0, true],
    [0, 1, 1, true],
    [0, 0, 0, true],
    [1, 1, 0, false],
    [1, 1, 1, false],
    [0, 1, 0, false],
    [0, 0, 1, false],
  ])('with fallback price %d, input %d, completion %d is allowed: %s', (single, input, completion, allowed) => {
    const read = reading({
      fallback_single_price: single,
      fallback_input_ratio: input,
      fallback_completion_ratio: completion,
    })
    expect(checkForm('fallback_single_price', read)?.code).toBe(allowed ? undefined : 'option.fallback_pricing')
  })

  it('saves switches before everything else', () => {
    const keys = ['GitHubClientId', 'unknown', 'GitHubOAuthEnabled', 'Logo', 'oidc.enabled', 'fallback_pricing_enabled']
    const order = inSavingOrder(keys.map((key) => ({ key }))).map(({ key }) => key)
    expect(order).toEqual([
      'GitHubOAuthEnabled',
      'oidc.enabled',
      'fallback_pricing_enabled',
      'Logo',
      'GitHubClientId',
      'unknown',
    ])
  })
})

describe('hidden keys', () => {
  it('are those that end like a credential, and every secret', () => {
    const hidden = ['TurnstileSiteKey', 'EpayKey', 'SMTPToken', 'GitHubClientSecret', 'oidc.client_secret', 'MyApiKey']
    expect(hidden.filter((key) => !isHiddenInLists(key))).toEqual([])
    expect(['SystemName', 'EpayId', 'TelegramBotName', 'monkey'].filter(isHiddenInLists)).toEqual([])
  })

  it('are encrypted unless they are shown in public anyway', () => {
    expect(['EpayKey', 'oidc.client_secret', 'my_secret'].map(isSecretKey)).toEqual([true, true, true])
    expect(['TurnstileSiteKey', 'Notice', 'my_note'].map(isSecretKey)).toEqual([false, false, false])
  })
})

describe('a snapshot', () => {
  it('stands at the default where the stored text cannot be read, and says so', () => {
    const snapshot = snapshotOf([
      { key: 'ModelRatio', value: '{' },
      { key: 'RetryTimes', value: '5' },
      { key: 'SomethingElse', value: 'kept' },
    ])
    expect(snapshot.get('ModelRatio')).toEqual(defaultOptions().ModelRatio)
    expect(snapshot.unreadable).toEqual(['ModelRatio'])
    expect(snapshot.get('RetryTimes')).toBe(5)
    expect([...snapshot.stored]).toEqual(['RetryTimes'])
    expect(snapshot.texts.get('SomethingElse')).toBe('kept')
    expect(snapshot.texts.get('RetryTimes')).toBe('5')
  })

  it('gives out objects that nobody can change', () => {
    const snapshot = snapshotOf([])
    expect(() => {
      snapshot.get('ModelRatio')['gpt-4o'] = 0
    }).toThrow(TypeError)
    expect(() => {
      snapshot.get('AutoGroups').push('vip')
    }).toThrow(TypeError)
  })
})

describe('retry status codes', () => {
  it('name single codes, classes and ranges, in any spacing', () => {
    const codes = parseStatusCodes(' 429, 5XX ,400 - 404,, x')
    const included = [399, 400, 404, 405, 429, 430, 500, 599].map((status) => includesStatus(codes, status))
    expect(included).toEqual([false, true, true, false, true, false, true, true])
  })

  it('mean every failure when the list is empty', () => {
    expect(includesStatus(parseStatusCodes(' , '), 418)).toBe(true)
  })
})

describe('a model mapping', () => {
  const entry = (model: string, priorities = 0, weight = 0) => ({ model, priorities, weight })

  it.each<[string, ModelMapping, string | undefined]>([
    ['a virtual name with two models', { fast: [entry('a', 1), entry('b')] }, undefined],
    ['a blank virtual name', { ' ': [entry('a')] }, 'mapping.name_required'],
    ['the same virtual name twice', { fast: [entry('a')], ' fast': [entry('b')] }, 'mapping.name_taken'],
    ['no model', { fast: [] }, 'mapping.entries_required'],
    ['a blank model', { fast: [entry(' ')] }, 'mapping.model_required'],
    ['the same model twice', { fast: [entry('a'), entry(' a ')] }, 'mapping.model_duplicate'],
    ['a negative priority', { fast: [entry('a', -1)] }, 'mapping.priority_invalid'],
    ['a broken priority', { fast: [entry('a', 1.5)] }, 'mapping.priority_invalid'],
    ['a negative weight', { fast: [entry('a', 0, -1)] }, 'mapping.priority_invalid'],
  ])('with %s', (_, mapping, code) => {
    expect(checkModelMapping(mapping)?.code).toBe(code)
  })
})
