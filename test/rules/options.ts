import type { OptionKey } from '#core/options/registry/index.ts'
import type { RuleList } from './rule.ts'

/** File, test, and the options whose effect it asserts. */
type Effects = Readonly<Record<string, Readonly<Record<string, readonly OptionKey[]>>>>

const effects: Effects = {
  'test/rest/site.test.ts': {
    '%s is "" while unset, then what root wrote': ['Notice', 'HomePageContent', 'About'],
    'refuses every change with 405 but for those of root, and lets people come and go': ['DemoSiteEnabled'],
  },
  'test/browser/console-files.test.ts': {
    'what root writes for the head of every page stands in it, and its script runs under the policy’s nonce': [
      'custom_head_html',
      'global_css',
      'global_js',
    ],
  },
  'test/browser/option-effects.test.ts': {
    'is what a guest sees: name, logo, footer, documents, and the ways in': [
      'SystemName',
      'Logo',
      'Footer',
      'general_setting.docs_link',
      'TurnstileSiteKey',
      'WeChatAccountQRCodeImageURL',
      'TelegramBotName',
    ],
    'is what a reader sees: pages, chat links, the shop for codes, the sidebar and the interval of the dashboard': [
      'TopUpLink',
      'Chats',
      'DataExportDefaultTime',
      'DataExportEnabled',
      'DrawingEnabled',
      'TaskEnabled',
      'DefaultCollapseSidebar',
    ],
  },
  'test/browser/settings.test.ts': {
    'looks for a newer version where root says that they are published, and says when it cannot': [
      'general_setting.release_link',
    ],
  },
  'test/relay/models.test.ts': {
    'sees models without a price where they may be used all the same': ['SelfUseModeEnabled'],
  },
  'test/trpc/options.test.ts': {
    'keep what older clients read and nothing here needs, and give it back': [
      'StreamCacheQueueLength',
      'FileUploadPermission',
      'FileDownloadPermission',
      'ImageUploadPermission',
      'ImageDownloadPermission',
      'StopOnSensitiveEnabled',
    ],
  },
  'test/realtime/handshake.test.ts': {
    'behind a reverse proxy a token’s list of addresses means the caller’s, for a whole session': [
      'ReverseProxyEnabled',
      'ReverseProxyProvider',
    ],
    'while extensions of browsers are kept out, for that concerns chats alone': [
      'global.block_browser_extension_enabled',
    ],
  },
  'test/jobs/notifications.test.ts': {
    'goes by the worker where there is one, with its key and the whole posting, to https alone': [
      'WorkerUrl',
      'WorkerValidKey',
    ],
    'is measured by what the user chose, else by what root saved, else at 500000': ['QuotaRemindThreshold'],
  },
  'test/payments/epay.test.ts': {
    'asks the other way for what is not called zfb, is notified at the callback address, and costs by group': [
      'CustomCallbackAddress',
      'TopupGroupRatio',
    ],
    'is for the least amount that root allows, and more': ['MinTopUp'],
    'is none while the gateway is not set up, or its key is one that everybody knows': [
      'EpayKey',
      'EpayId',
      'PayAddress',
    ],
    'costs what is said before, as a text of two decimals': ['Price'],
    'brings the inviter one rebate, however often it is sent': ['RebatePercentage'],
  },
  'test/payments/stripe.test.ts': {
    'is refused under %j, and so is every event': ['stripe.secret_key'],
    'counts under any of several secrets and signatures while they are exchanged': ['stripe.webhook_secret'],
    'costs whole units in a currency that has no smaller ones': [
      'stripe.currency',
      'stripe.price',
      'stripe.api_address',
    ],
  },
  'test/rest/auth.test.ts': {
    'can be switched off': ['PasswordLoginEnabled'],
    'is closed by %s': ['PasswordRegisterEnabled', 'RegisterEnabled'],
    'stands before the login and is remembered until it': ['TurnstileCheckEnabled', 'TurnstileSecretKey'],
    'rewards inviter and invitee once each': ['QuotaForInviter', 'QuotaForInvitee'],
  },
  'test/rest/mail.test.ts': {
    'let through the domains of the list alone, and their subdomains not': [
      'EmailDomainRestrictionEnabled',
      'EmailDomainWhitelist',
    ],
    'under %j is refused to %s': ['EmailAliasRestrictionEnabled'],
    'goes out by the saved settings, and says what the mail server said when it does not': ['SMTPServer'],
    'speak TLS from the first byte where they say so, which a plain server does not answer': ['SMTPSSLEnabled'],
    'sign in with account and credential where there is an account, and name the account as sender': [
      'SMTPAccount',
      'SMTPFrom',
      'SMTPToken',
    ],
  },
  'test/rest/oauth.test.ts': {
    'is asked for under the id that the provider gave this site': [
      'GitHubClientId',
      'oidc.client_id',
      'LinuxDOClientId',
    ],
    'is refused while it is switched off, at the start and at the end': [
      'GitHubOAuthEnabled',
      'oidc.enabled',
      'LinuxDOOAuthEnabled',
    ],
  },
  'test/rest/provider-answers.test.ts': {
    'is tried with a code that cannot be good: a provider that knows us refuses the code, one that does not refuses us':
      ['oidc.client_secret'],
    'says that its configuration cannot be read, be it away, of another issuer or no configuration': [
      'oidc.well_known',
    ],
    'signs in by its three endpoints': [
      'oidc.authorization_endpoint',
      'oidc.token_endpoint',
      'oidc.user_info_endpoint',
    ],
    'needs the trust level that the site asks for, which the profile alone has': ['LinuxDOMinimumTrustLevel'],
  },
  'test/rest/messengers.test.ts': {
    'lets in nobody who is banned, who left, or whom a closed site does not know': ['WeChatAuthEnabled'],
    'lets in nobody who is banned or who left, and never binds what belongs to somebody': ['TelegramOAuthEnabled'],
  },
  'test/rest/users.test.ts': {
    'makes an ordinary user with the gift of a new one': ['QuotaForNewUser'],
  },
  'test/trpc/groups.test.ts': {
    'are named to administrators in order, and described to whoever may use them': ['UserUsableGroups'],
  },
  'test/rest/rewards.test.ts': {
    'is not given while invitations are off': ['AffEnabled'],
    'is refused under %j': ['CheckInEnabled'],
    'gives something between both bounds': ['CheckInQuota', 'CheckInMaxQuota'],
  },
  'test/relay/channel-settings.test.ts': {
    'a balance is reported in dollars or units, of the token or of its owner, as the site has it': [
      'QuotaPerUnit',
      'DisplayInCurrencyEnabled',
      'DisplayTokenStatEnabled',
    ],
    'what is written to a cache costs what the table of cache writes says, 1.25 without a row': ['CreateCacheRatio'],
    'the log has the system prompt as the channel set it, where contents are logged': ['LogChatContentEnabled'],
    'the site’s own switch passes every body through, whatever its channel says': [
      'global.pass_through_request_enabled',
    ],
    'Gemini is asked under its safety levels, version, shares and lists of models': [
      'gemini.safety_settings',
      'gemini.version_settings',
      'gemini.supported_imagine_models',
      'gemini.thinking_adapter_enabled',
      'gemini.thinking_adapter_budget_tokens_percentage',
      'gemini.models_supported_thinking_budget',
    ],
    'Claude is asked under its headers, limit and share for thinking, and by the full name without the adapter': [
      'claude.model_headers_settings',
      'claude.default_max_tokens',
      'claude.thinking_adapter_enabled',
      'claude.thinking_adapter_budget_tokens_percentage',
    ],
  },
  'test/payments/redeeming.test.ts': {
    'is none under %j': ['RebateEnabled'],
    'waits for the first payment where that is chosen': ['RebateAfterPaymentEnabled'],
  },
  'test/relay/price-changes.test.ts': {
    'leaves a call that was admitted before under its own price, whole': ['ModelRatio'],
  },
  'test/relay/charges.test.ts': {
    'a hundred random usages at random prices cost what the documented formulas say, here and in the browser': [
      'CacheRatio',
      'CompletionRatio',
    ],
  },
  'test/trpc/models.test.ts': {
    'are what the operator says of their name or of a family, else what the tables and the catalogue know': [
      'ModelCapabilities',
    ],
  },
  'test/tasks/rules.test.ts': {
    'is multiplied by the group’s ratio and rounded down': ['GroupRatio'],
    'leaves out account filter and notice address, unless the site lets them through': [
      'MjNotifyEnabled',
      'MjAccountFilterEnabled',
    ],
    'is taken also where consumption is not logged': ['LogConsumeEnabled'],
    'is the table’s price, the built-in one where the table has none, and 0.1 dollars for what nobody has priced': [
      'ModelPrice',
    ],
    'loses the lane in its prompt where the site wants that': ['MjModeClearEnabled'],
    'carries no sensitive words': ['CheckSensitiveEnabled'],
  },
  'test/relay/log-keys.test.ts': {
    'has the ratio of the caller’s own group where that is the one charged, and no key that does not apply': [
      'GroupGroupRatio',
    ],
    'of a model without a price is charged by the fallback, a single price or both ratios': [
      'fallback_pricing_enabled',
      'fallback_single_price',
      'fallback_input_ratio',
      'fallback_completion_ratio',
    ],
    'of a long prompt is charged by the step it is in; the receipts of all kinds above still give their charges when every price has changed':
      ['LongContextRatio'],
  },
  'test/routing/auto-group.test.ts': {
    'a model that no open group of the list serves is refused, and so is auto where it stands for none': ['AutoGroups'],
  },
  'test/relay/names.test.ts': {
    'the one sent upstream, or the caller’s where the operator bills so': ['redirect_billing_enabled'],
    'a virtual name goes to its models in their order, to the next when one has failed everywhere': [
      'global_model_mapping',
    ],
  },
  'test/relay/failures.test.ts': {
    'to each once before to any twice': ['RetryTimes'],
    'counts failures that the operator does not want logged': ['LogErrorEnabled'],
    'less, where the operator hides it': ['global.hide_upstream_error_enabled'],
    'on the same channel once all were tried, unless the operator wants another one each time': [
      'global.auto_retry_force_channel_switch',
    ],
  },
  'test/jobs/retention.test.ts': {
    'go when they are older than root wants, while sums, grants and open holds stay': ['LogRetentionDays'],
  },
  'test/tasks/lists.test.ts': {
    'the upstream’s address is shown where the site does not forward': ['MjForwardUrlEnabled'],
  },
  'test/tasks/follow-ups.test.ts': {
    'waits for the image to be done, unless the site does not mind, or it is a modal': ['MjActionCheckSuccessEnabled'],
  },
  'test/relay/checks.test.ts': {
    'a call that every check would refuse gets each refusal in the documented order': ['SensitiveWords'],
    'words are looked for where both switches say so, and not in the calls of the exempt group': [
      'CheckSensitiveOnPromptEnabled',
      'global.safe_check_exempt_enabled',
      'global.safe_check_exempt_group',
    ],
  },
  'test/routing/poisoning.test.ts': {
    'by the phrases that root lists': ['AutomaticDisableKeywords'],
  },
  'test/jobs/channels.test.ts': {
    'switches off what answers too slowly, with both figures': ['ChannelDisableThreshold'],
    'takes out the key alone where the channel has others': ['AutomaticDisableChannelEnabled'],
    'balances are asked for and ended hours added up as often as root wants, and never at 0': [
      'ChannelUpdateFrequency',
      'DataExportInterval',
    ],
    'brings back what went off by itself once it answers, and never what a person switched off': [
      'AutomaticEnableChannelEnabled',
    ],
  },
  'test/jobs/killed-node.test.ts': {
    'of two products on one database one does a due job, and the other goes on with it when that one is killed': [
      'ChannelTestFrequency',
      'ChannelModelsFrequency',
    ],
  },
  'test/limits/requests.test.ts': {
    'does not hold for model lists, balances and the playground, nor where it is switched off or has no duration': [
      'ModelRequestRateLimitEnabled',
      'ModelRequestRateLimitDurationMinutes',
    ],
    'has numbers of its own for a group, and none for the exempt one': [
      'ModelRequestRateLimitGroup',
      'global.rate_limit_exempt_enabled',
      'global.rate_limit_exempt_group',
    ],
  },
  'test/tasks/batches.test.ts': {
    'models of one batch are charged each at its own price, and the ratio is the operator’s': [
      'claude.batch_price_ratio',
    ],
  },
  'test/relay/explain.test.ts': {
    'explain reports what is left of both limits and counts towards neither': [
      'ModelRequestRateLimitCount',
      'ModelRequestRateLimitSuccessCount',
    ],
  },
  'test/relay/hang-ups.test.ts': {
    'where the operator wants it the answer is read to its end and charged as reported': [
      'global.finish_after_hangup_enabled',
    ],
  },
  'test/relay/local-responses.test.ts': {
    'is not kept where the caller or the operator says no, and the answer says so': ['global.stored_responses_days'],
    'is sealed in the database, expires, and makes room for later ones': ['global.stored_responses_megabytes'],
  },
  'test/routing/retries.test.ts': {
    'leads to another channel by the operator’s list alone, where automatic retries are on': [
      'global.auto_retry_enabled',
      'global.auto_retry_count',
      'global.auto_retry_status_codes',
    ],
  },
  'test/relay/cut-streams.test.ts': {
    'a long gap does not end a stream; the caller is sent keep-alive comments': [
      'general_setting.ping_interval_enabled',
      'general_setting.ping_interval_seconds',
    ],
  },
}

/** The same of options that are set where a file sets its stage, which the test itself does not name. */
const given: Effects = {
  'test/rest/mail.test.ts': {
    'never writes the caller’s own host into the link': ['ServerAddress'],
    'proves an address at sign-up, once': ['EmailVerificationEnabled'],
  },
  'test/rest/provider-answers.test.ts': {
    'is identified by the id that never changes, not by a name that somebody else can take over': [
      'GitHubClientSecret',
    ],
    'needs the trust level that the site asks for, which the profile alone has': ['LinuxDOClientSecret'],
  },
  'test/rest/messengers.test.ts': {
    'lets in nobody who is banned, who left, or whom a closed site does not know': [
      'WeChatServerAddress',
      'WeChatServerToken',
    ],
    'lets in nobody who is banned or who left, and never binds what belongs to somebody': ['TelegramBotToken'],
  },
  'test/jobs/notifications.test.ts': {
    'is mailed to the address chosen for it, else to the account, with the way to the wallet': ['SMTPPort'],
  },
  'test/relay/overspend.test.ts': {
    'on a user who can pay for two: two are served, and the balance ends where it should': ['PreConsumedQuota'],
  },
}

const takeEffect = (from: Effects, isNamed: boolean): RuleList['sections'][string] =>
  Object.fromEntries(
    Object.entries(from).map(([file, tests]) => [
      file,
      Object.fromEntries(
        Object.entries(tests).map(([test, keys]) => [
          test,
          keys.map((key) => ({ rule: `${key}: takes effect.`, ...(isNamed && { asserts: key }) })),
        ]),
      ),
    ]),
  )

/** Every option, each with the test of what it changes where it acts. */
export const rules: RuleList = {
  title: 'Options',
  sections: {
    Effects: takeEffect(effects, true),
    'Effects of what a file sets at its start': takeEffect(given, false),
  },
}
