import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { validateValue } from '../codec.ts'
import { describeOption, settingsSections } from '../describe.ts'
import { optionGroups, settingsTabs, type SettingsTab } from '../groups.ts'
import { snapshotOf } from '../snapshot.ts'
import { defaultOptions, isOptionKey, optionKeys, optionOf, options } from './index.ts'

/** Every key of the documented interface with the text of its default; `undefined` where the default is a table. */
const documented: Record<string, string | undefined> = {
  SystemName: undefined,
  Logo: '',
  Footer: '',
  Notice: '',
  About: '',
  HomePageContent: '',
  custom_head_html: '',
  global_css: '',
  global_js: '',
  DefaultCollapseSidebar: 'false',
  TopUpLink: '',
  'general_setting.docs_link': '',
  Chats: '[]',
  DemoSiteEnabled: 'false',
  SelfUseModeEnabled: 'false',
  ServerAddress: '',
  WorkerUrl: '',
  WorkerValidKey: '',
  ReverseProxyEnabled: 'false',
  ReverseProxyProvider: 'nginx',
  PayAddress: '',
  EpayId: '',
  CustomCallbackAddress: '',
  EpayKey: '',
  Price: '7.3',
  MinTopUp: '1',
  TopupGroupRatio: undefined,
  PasswordLoginEnabled: 'true',
  PasswordRegisterEnabled: 'true',
  RegisterEnabled: 'true',
  EmailVerificationEnabled: 'false',
  EmailDomainRestrictionEnabled: 'false',
  EmailAliasRestrictionEnabled: 'false',
  EmailDomainWhitelist: 'gmail.com,163.com,126.com,qq.com,outlook.com,hotmail.com,icloud.com,yahoo.com,foxmail.com',
  TurnstileCheckEnabled: 'false',
  TurnstileSiteKey: '',
  TurnstileSecretKey: '',
  GitHubOAuthEnabled: 'false',
  GitHubClientId: '',
  GitHubClientSecret: '',
  'oidc.enabled': 'false',
  'oidc.client_id': '',
  'oidc.well_known': '',
  'oidc.authorization_endpoint': '',
  'oidc.token_endpoint': '',
  'oidc.user_info_endpoint': '',
  'oidc.client_secret': '',
  LinuxDOOAuthEnabled: 'false',
  LinuxDOClientId: '',
  LinuxDOClientSecret: '',
  LinuxDOMinimumTrustLevel: '0',
  WeChatAuthEnabled: 'false',
  WeChatServerAddress: '',
  WeChatAccountQRCodeImageURL: '',
  WeChatServerToken: '',
  TelegramOAuthEnabled: 'false',
  TelegramBotName: '',
  TelegramBotToken: '',
  SMTPServer: '',
  SMTPAccount: '',
  SMTPFrom: '',
  SMTPPort: '587',
  SMTPSSLEnabled: 'false',
  SMTPToken: '',
  QuotaPerUnit: '500000',
  QuotaForNewUser: '0',
  QuotaForInviter: '0',
  QuotaForInvitee: '0',
  PreConsumedQuota: '500',
  QuotaRemindThreshold: '1000',
  AffEnabled: 'true',
  RebateEnabled: 'false',
  RebatePercentage: '0',
  CheckInEnabled: 'false',
  CheckInQuota: '1000',
  CheckInMaxQuota: '0',
  ModelRatio: undefined,
  ModelPrice: undefined,
  CompletionRatio: undefined,
  CacheRatio: undefined,
  CreateCacheRatio: undefined,
  GroupRatio: undefined,
  UserUsableGroups: '{"default":"默认分组","vip":"vip分组"}',
  GroupGroupRatio: '{}',
  AutoGroups: '["default"]',
  fallback_pricing_enabled: 'false',
  fallback_single_price: '',
  fallback_input_ratio: '',
  fallback_completion_ratio: '',
  redirect_billing_enabled: 'false',
  RetryTimes: '2',
  DisplayInCurrencyEnabled: 'true',
  DisplayTokenStatEnabled: 'true',
  LogConsumeEnabled: 'true',
  LogChatContentEnabled: 'false',
  LogErrorEnabled: 'true',
  DataExportEnabled: 'true',
  DataExportInterval: '5',
  DataExportDefaultTime: 'hour',
  StreamCacheQueueLength: '0',
  FileUploadPermission: '0',
  FileDownloadPermission: '0',
  ImageUploadPermission: '0',
  ImageDownloadPermission: '0',
  DrawingEnabled: 'true',
  TaskEnabled: 'true',
  MjNotifyEnabled: 'false',
  MjAccountFilterEnabled: 'false',
  MjModeClearEnabled: 'false',
  MjForwardUrlEnabled: 'true',
  MjActionCheckSuccessEnabled: 'true',
  CheckSensitiveEnabled: 'true',
  CheckSensitiveOnPromptEnabled: 'true',
  StopOnSensitiveEnabled: 'true',
  SensitiveWords: 'test_sensitive',
  ChannelDisableThreshold: '5',
  AutomaticDisableChannelEnabled: 'false',
  AutomaticEnableChannelEnabled: 'false',
  AutomaticDisableKeywords: undefined,
  ModelRequestRateLimitEnabled: 'false',
  ModelRequestRateLimitCount: '0',
  ModelRequestRateLimitSuccessCount: '1000',
  ModelRequestRateLimitDurationMinutes: '1',
  ModelRequestRateLimitGroup: '{}',
  'gemini.safety_settings': undefined,
  'gemini.version_settings': '{"default":"v1beta","gemini-1.0-pro":"v1beta"}',
  'gemini.supported_imagine_models': '["gemini-2.0-flash-exp-image-generation","gemini-2.0-flash-exp"]',
  'gemini.thinking_adapter_enabled': 'false',
  'gemini.thinking_adapter_budget_tokens_percentage': '0.6',
  'gemini.models_supported_thinking_budget': undefined,
  'claude.model_headers_settings': '{}',
  'claude.default_max_tokens': '{"default":8192}',
  'claude.thinking_adapter_enabled': 'true',
  'claude.thinking_adapter_budget_tokens_percentage': '0.8',
  'claude.batch_price_ratio': '0.5',
  'global.pass_through_request_enabled': 'false',
  'global.hide_upstream_error_enabled': 'false',
  'global.block_browser_extension_enabled': 'false',
  'global.finish_after_hangup_enabled': 'false',
  'global.stored_responses_days': '30',
  'global.stored_responses_megabytes': '100',
  'global.rate_limit_exempt_enabled': 'false',
  'global.rate_limit_exempt_group': 'bulk-ok',
  'global.safe_check_exempt_enabled': 'false',
  'global.safe_check_exempt_group': 'nsfw-ok',
  'global.auto_retry_enabled': 'false',
  'global.auto_retry_count': '3',
  'global.auto_retry_force_channel_switch': 'false',
  'global.auto_retry_status_codes': '5xx,4xx',
  'general_setting.ping_interval_enabled': 'false',
  'general_setting.ping_interval_seconds': '60',
  global_model_mapping: '{"mapping":{}}',
}

describe('the registry', () => {
  it('holds every documented key', () => {
    expect(Object.keys(documented).filter((key) => !isOptionKey(key))).toEqual([])
  })

  it('shows the documented default of every key as text', () => {
    const { texts } = snapshotOf([])
    const differing = Object.entries(documented).filter(([key, text]) => text !== undefined && texts.get(key) !== text)
    expect(differing.map(([key]) => [key, texts.get(key)])).toEqual([])
  })

  it('has defaults that meet their own rules', () => {
    const refused = optionKeys.map((key) => [key, validateValue(key, options[key].default).problem] as const)
    expect(refused.filter(([, problem]) => problem)).toEqual([])
  })

  const secretKeys = optionKeys.filter((key) => optionOf(key).visibility === 'secret')

  it('says of every secret, and of nothing else, to which address it goes', () => {
    const bound = optionKeys.filter((key) => optionOf(key).boundTo !== undefined)
    expect(bound.toSorted()).toEqual(secretKeys.toSorted())
    expect(bound.flatMap((key) => optionOf(key).boundTo ?? []).filter((key) => !isOptionKey(key))).toEqual([])
  })

  it('keeps the documented secrets and nothing public secret', () => {
    expect(secretKeys.toSorted()).toEqual([
      'EpayKey',
      'GitHubClientSecret',
      'LinuxDOClientSecret',
      'SMTPToken',
      'TelegramBotToken',
      'TurnstileSecretKey',
      'WeChatServerToken',
      'WorkerValidKey',
      'oidc.client_secret',
      'stripe.secret_key',
      'stripe.webhook_secret',
    ])
  })

  it('names only existing options as prerequisites', () => {
    const named = optionKeys.flatMap((key) => [
      ...(optionOf(key).requires ?? []),
      ...(optionOf(key).formRequires?.keys ?? []),
    ])
    expect(named.filter((key) => !isOptionKey(key))).toEqual([])
    expect(named.length).toBeGreaterThan(6)
  })

  it('hands out defaults that do not share objects', () => {
    const first = defaultOptions()
    first.ModelRatio['gpt-4o'] = 99
    expect(defaultOptions().ModelRatio['gpt-4o']).not.toBe(99)
  })

  it('does not take names of the prototype for options', () => {
    expect(['constructor', '__proto__', 'toString'].map(isOptionKey)).toEqual([false, false, false])
  })
})

describe('the settings page', () => {
  it.each(optionKeys)('can draw %s from its JSON schema', (key) => {
    const field = describeOption(key)
    const accepted = z.fromJSONSchema(field.schema as Parameters<typeof z.fromJSONSchema>[0])
    expect(accepted.safeParse(field.default).success).toBe(true)
    expect(field.schema.type).toBeDefined()
  })

  it('distinguishes switches, numbers, choices and tables by schema', () => {
    expect(describeOption('RegisterEnabled').schema.type).toBe('boolean')
    expect(describeOption('RetryTimes').schema).toMatchObject({ type: 'integer', minimum: 0 })
    expect(describeOption('ReverseProxyProvider').schema.enum).toEqual(['nginx', 'cloudflare'])
    expect(describeOption('ModelRatio').schema).toMatchObject({
      type: 'object',
      additionalProperties: { type: 'number' },
    })
    expect(describeOption('claude.thinking_adapter_budget_tokens_percentage').schema).toMatchObject({
      minimum: 0.1,
      maximum: 1,
    })
  })

  it('draws every option once, except what is kept for old clients', () => {
    const drawn = (Object.keys(settingsTabs) as SettingsTab[])
      .flatMap(settingsSections)
      .flatMap((section) => section.fields.map((field) => field.key))
    const hidden = optionKeys.filter((key) => optionGroups[optionOf(key).group].tab === null)
    expect([...drawn, ...hidden].toSorted()).toEqual([...optionKeys].toSorted())
    expect(hidden.length).toBe(5)
  })
})
