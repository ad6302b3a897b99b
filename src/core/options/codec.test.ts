import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { errors, type ErrorCode } from '#core/errors.ts'
import { decodeText, encodeValue, validateValue, textKindOf } from './codec.ts'
import { defaultOptions, type OptionKey, optionKeys, optionOf, type OptionValues } from './registry/index.ts'

const name = fc.string({ minLength: 1, maxLength: 20 }).filter((text) => text !== '__proto__')
const ratio = fc.double({ min: 0, max: 1e9, noNaN: true }).map((value) => value + 0)

const roundTrip = <Key extends OptionKey>(key: Key, value: OptionValues[Key]) => {
  const accepted = validateValue(key, value)
  expect(accepted.problem).toBeUndefined()
  expect(decodeText(key, encodeValue(key, accepted.value as OptionValues[Key])).value).toEqual(accepted.value)
}

describe('the text of an option', () => {
  it.each(optionKeys)('gives the default of %s back', (key) => {
    roundTrip(key, defaultOptions()[key])
  })

  it('gives back any number, switch, text, list and table', () => {
    fc.assert(
      fc.property(ratio, fc.boolean(), fc.string(), fc.dictionary(name, ratio), (price, flag, notice, table) => {
        roundTrip('Price', price)
        roundTrip('fallback_single_price', price)
        roundTrip('RegisterEnabled', flag)
        roundTrip('Notice', notice)
        roundTrip('ModelRatio', { ...table })
        roundTrip('AutoGroups', Object.keys(table))
        roundTrip('Chats', [{ [notice]: notice }])
      }),
      { numRuns: 200 },
    )
  })

  it('never throws, whatever the text, and always ends in a value or a refusal of the catalogue', () => {
    fc.assert(
      fc.property(fc.constantFrom(...optionKeys), fc.oneof(fc.string(), fc.json()), (key, text) => {
        const validated = decodeText(key, text)
        if (validated.problem) expect(errors[validated.problem.code]).toBeDefined()
        else expect(validateValue(key, validated.value).problem).toBeUndefined()
      }),
      { numRuns: 2000 },
    )
  })

  it('reads every text but true as off', () => {
    const read = (text: string) => decodeText('RegisterEnabled', text).value
    expect(['true', 'false', '', '1', 'TRUE', 'yes'].map(read)).toEqual([true, false, false, false, false, false])
  })

  it('reads decimal text alone as a number', () => {
    const read = (text: string) => decodeText('Price', text)
    expect([' 7.30 ', '0', '1e3', '.5', '+2'].map((text) => read(text).value)).toEqual([7.3, 0, 1000, 0.5, 2])
    for (const text of ['', ' ', '0x10', '1,5', 'NaN', 'Infinity', '七', '1_000']) {
      expect([text, read(text).problem?.code]).toEqual([text, 'option.not_number'])
    }
  })

  it('takes empty text of a fallback price as not set and writes it so', () => {
    expect(decodeText('fallback_input_ratio', '').value).toBe(0)
    expect(encodeValue('fallback_input_ratio', 0)).toBe('')
    expect(decodeText('fallback_input_ratio', '1.5').value).toBe(1.5)
  })

  it('reads the mail domains between commas', () => {
    expect(decodeText('EmailDomainWhitelist', ' a.com, ,b.org,').value).toEqual(['a.com', 'b.org'])
    expect(encodeValue('EmailDomainWhitelist', ['a.com', 'b.org'])).toBe('a.com,b.org')
  })

  it('removes the closing slash of addresses', () => {
    expect(decodeText('ServerAddress', ' https://gw.example// ').value).toBe('https://gw.example')
    expect(decodeText('PayAddress', 'https://pay.example/api/').value).toBe('https://pay.example/api')
  })

  it('puts the entry for every model back into the token limits', () => {
    expect(decodeText('claude.default_max_tokens', '{"claude-3":4096}').value).toEqual({
      default: 8192,
      'claude-3': 4096,
    })
    expect(decodeText('claude.default_max_tokens', '{"default":1}').value).toEqual({ default: 1 })
  })

  it('leaves the prototype alone', () => {
    const validated = decodeText('ModelRatio', '{"__proto__":{"polluted":1},"constructor":2,"gpt-4o":1}')
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
    expect(Object.getPrototypeOf(validated.value ?? {})).toBe(Object.prototype)
  })

  it('knows a text form for every option', () => {
    const kinds = new Set(optionKeys.map((key) => textKindOf(optionOf(key))))
    expect(kinds).toEqual(new Set(['boolean', 'number', 'text', 'list', 'json']))
  })
})

describe('a change is refused', () => {
  it.each<[OptionKey, string, ErrorCode]>([
    ['RebatePercentage', '101', 'option.rebate_percentage'],
    ['RebatePercentage', '-0.1', 'option.rebate_percentage'],
    ['TopupGroupRatio', '{', 'option.topup_ratio_not_json'],
    ['TopupGroupRatio', '{"default":"1"}', 'option.topup_ratio_not_json'],
    ['ModelRatio', '', 'option.not_json'],
    ['ModelRatio', '[]', 'option.json_shape'],
    ['ModelRatio', '{"gpt-4o":"1"}', 'option.json_shape'],
    ['ModelRatio', '{"gpt-4o":-1}', 'option.json_shape'],
    ['ModelPrice', 'x', 'option.not_json'],
    ['CacheRatio', '1 2', 'option.not_json'],
    ['CompletionRatio', '"', 'option.not_json'],
    [
      'LongContextRatio',
      '{"a":[{"above":9,"input":1,"output":1},{"above":9,"input":2,"output":2}]}',
      'option.long_context_order',
    ],
    ['LongContextRatio', '{"a":[{"above":0,"input":1,"output":1}]}', 'option.json_shape'],
    ['ModelCapabilities', '{"a":{"vision":true}}', 'option.json_shape'],
    ['GroupRatio', '{"vip":-1}', 'option.group_ratio_negative'],
    ['GroupRatio', 'vip', 'option.not_json'],
    ['UserUsableGroups', '{"vip":1}', 'option.json_shape'],
    ['GroupGroupRatio', '{"vip":1}', 'option.json_shape'],
    ['AutoGroups', '{}', 'option.json_shape'],
    ['Chats', '{}', 'option.json_shape'],
    ['Chats', '[1]', 'option.json_shape'],
    ['gemini.safety_settings', '{"default":1}', 'option.json_shape'],
    ['gemini.version_settings', '', 'option.not_json'],
    ['gemini.supported_imagine_models', '"a"', 'option.json_shape'],
    ['gemini.thinking_adapter_budget_tokens_percentage', '0.001', 'option.too_small'],
    ['gemini.thinking_adapter_budget_tokens_percentage', '1.1', 'option.too_large'],
    ['claude.thinking_adapter_budget_tokens_percentage', '0.09', 'option.too_small'],
    ['claude.thinking_adapter_budget_tokens_percentage', '1.1', 'option.too_large'],
    ['claude.default_max_tokens', '{"default":0}', 'option.json_shape'],
    ['claude.model_headers_settings', '{"a":{"b":"c"}}', 'option.json_shape'],
    ['global.auto_retry_count', '0', 'option.too_small'],
    ['global.auto_retry_count', '11', 'option.too_large'],
    ['global.auto_retry_count', '2.5', 'option.not_integer'],
    ['global.auto_retry_status_codes', '5xx,6xx', 'option.status_codes_invalid'],
    ['global.auto_retry_status_codes', '503-500', 'option.status_codes_invalid'],
    ['general_setting.ping_interval_seconds', '0', 'option.too_small'],
    ['ModelRequestRateLimitDurationMinutes', '-1', 'option.too_small'],
    ['ModelRequestRateLimitCount', '-2', 'option.too_small'],
    ['ModelRequestRateLimitSuccessCount', '0', 'option.too_small'],
    ['ModelRequestRateLimitGroup', '{"vip":[1]}', 'option.json_shape'],
    ['LinuxDOMinimumTrustLevel', '-1', 'option.too_small'],
    ['LinuxDOMinimumTrustLevel', '5', 'option.too_large'],
    ['DataExportInterval', '0', 'option.too_small'],
    ['DataExportDefaultTime', 'month', 'option.not_listed'],
    ['ReverseProxyProvider', 'apache', 'option.not_listed'],
    ['CheckInQuota', '-1', 'option.too_small'],
    ['CheckInMaxQuota', '-1', 'option.too_small'],
    ['QuotaRemindThreshold', '-1', 'option.too_small'],
    ['QuotaForInviter', '-1', 'option.too_small'],
    ['QuotaForInvitee', '-1', 'option.too_small'],
    ['PreConsumedQuota', '-1', 'option.too_small'],
    ['fallback_single_price', '-0.001', 'option.too_small'],
    ['fallback_input_ratio', '-0.1', 'option.too_small'],
    ['fallback_completion_ratio', '-0.1', 'option.too_small'],
    ['QuotaForNewUser', '1.5', 'option.not_integer'],
    ['QuotaForNewUser', '1e30', 'option.too_large'],
    ['QuotaPerUnit', '0', 'option.not_above'],
    ['QuotaPerUnit', '-1', 'option.not_above'],
    ['Price', '1e999', 'option.not_number'],
    ['ChannelDisableThreshold', '-1', 'option.too_small'],
    ['SMTPPort', '70000', 'option.too_large'],
    ['ServerAddress', 'gw.example', 'option.not_address'],
    ['ServerAddress', 'javascript:alert(1)', 'option.not_address'],
    ['WorkerUrl', 'http://169.254.169.254/latest', 'option.link_local_address'],
    ['oidc.token_endpoint', 'http://[fe80::1]/token', 'option.link_local_address'],
    ['oidc.well_known', 'ftp://id.example', 'option.not_address'],
    ['TopUpLink', 'javascript:alert(1)', 'option.not_address'],
    ['general_setting.docs_link', 'docs.example', 'option.not_address'],
    ['EmailDomainWhitelist', 'a.com,b', 'option.domain_invalid'],
    ['EmailDomainWhitelist', 'a.com,A.com', 'option.domain_duplicate'],
    ['global_model_mapping', '{"mapping":{"fast":[]}}', 'mapping.entries_required'],
    ['global_model_mapping', '{}', 'option.json_shape'],
  ])('%s = %s with %s', (key, text, code) => {
    expect(decodeText(key, text).problem?.code).toBe(code)
  })

  it('but private addresses, empty addresses and free models are not', () => {
    expect(decodeText('WorkerUrl', 'http://10.0.0.2:8080').value).toBe('http://10.0.0.2:8080')
    expect(decodeText('ServerAddress', '').value).toBe('')
    expect(decodeText('ModelRatio', '{"free":0}').value).toEqual({ free: 0 })
    expect(decodeText('global.auto_retry_status_codes', '').value).toBe('')
    expect(decodeText('ModelRequestRateLimitCount', '-1').value).toBe(-1)
  })
})
