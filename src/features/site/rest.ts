import { givenFlag, text } from '#rest/read.ts'
import {
  always,
  asFlag,
  asInteger,
  asListOf,
  asNumber,
  asObject,
  asRecord,
  asSeconds,
  asText,
  noData,
  replyOfPart,
  sameText,
} from '#rest/reply.ts'
import { binder, type CallerOf, type RouteTable } from '#rest/route.ts'
import type { StatusView } from './view.ts'
import type { siteAdminRouter, siteRouter } from './router.ts'

type Api = { site: CallerOf<typeof siteRouter>; admin: { site: CallerOf<typeof siteAdminRouter> } }

const bind = binder<Api>()

/** One name with its address. */
const chatLink = asRecord((link: Record<string, string>) => Object.entries(link), sameText)

const toRestStatus = asObject<StatusView>({
  version: asText('version'),
  start_time: asSeconds('startedAt'),
  system_name: asText('systemName'),
  logo: asText('logo'),
  footer_html: asText('footerHtml'),
  server_address: asText('serverAddress'),
  price: asNumber('price'),
  min_topup: asInteger('minTopUp'),
  top_up_link: asText('topUpLink'),
  docs_link: asText('docsLink'),
  enable_online_topup: asFlag('onlineTopUpEnabled'),
  quota_per_unit: asNumber('quotaPerUnit'),
  display_in_currency: asFlag('displayInCurrency'),
  enable_batch_update: always(false),
  enable_drawing: asFlag('drawingEnabled'),
  enable_task: asFlag('taskEnabled'),
  enable_data_export: asFlag('dataExportEnabled'),
  data_export_default_time: asText('dataExportDefaultTime'),
  default_collapse_sidebar: asFlag('defaultCollapseSidebar'),
  mj_notify_enabled: asFlag('mjNotifyEnabled'),
  chats: replyOfPart(asListOf(chatLink), ({ chats }) => chats),
  demo_site_enabled: asFlag('demoSiteEnabled'),
  self_use_mode_enabled: asFlag('selfUseModeEnabled'),
  setup: asFlag('setUp'),
  check_in_enabled: asFlag('checkInEnabled'),
  aff_enabled: asFlag('affEnabled'),
  email_verification: asFlag('emailVerification'),
  turnstile_check: asFlag('turnstileCheck'),
  turnstile_site_key: asText('turnstileSiteKey'),
  github_oauth: asFlag('githubOauth'),
  github_client_id: asText('githubClientId'),
  linuxdo_oauth: asFlag('linuxdoOauth'),
  linuxdo_client_id: asText('linuxdoClientId'),
  linuxdo_minimum_trust_level: asInteger('linuxdoMinimumTrustLevel'),
  log_chat_content_enabled: asFlag('logChatContentEnabled'),
  oidc_enabled: asFlag('oidcEnabled'),
  oidc_client_id: asText('oidcClientId'),
  oidc_authorization_endpoint: asText('oidcAuthorizationEndpoint'),
  wechat_login: asFlag('wechatLogin'),
  wechat_qrcode: asText('wechatQrcode'),
  telegram_oauth: asFlag('telegramOauth'),
  telegram_bot_name: asText('telegramBotName'),
})

export const siteRoutes: RouteTable<Api> = {
  'GET /api/setup': bind((api) => api.site.setupStatus, {
    reply: asObject<{ done: boolean; rootExists: boolean; databaseType: string }>({
      status: asFlag('done'),
      root_init: asFlag('rootExists'),
      database_type: asText('databaseType'),
    }),
  }),
  'POST /api/setup': bind((api) => api.site.setup, {
    input: ({ body, query }) => ({
      username: text(body['username']) ?? '',
      password: text(body['password']) ?? '',
      confirmPassword: text(body['confirmPassword']) ?? '',
      selfUseModeEnabled: givenFlag(body, 'SelfUseModeEnabled') ?? false,
      demoSiteEnabled: givenFlag(body, 'DemoSiteEnabled') ?? false,
      token: query['token'] ?? text(body['token']) ?? '',
    }),
    reply: noData,
    message: '系统初始化成功',
    status: {
      'input.invalid': 400,
      'input.unreadable': 400,
      'user.username_taken': 400,
      'user.username_similar': 400,
      'user.username_confusing': 400,
    },
  }),
  'GET /api/status': bind((api) => api.site.status, { reply: toRestStatus }),
  // The database is asked for the caller's rights first, so its silence may show there.
  'GET /api/status/test': bind((api) => api.admin.site.probe, {
    reply: noData,
    message: '数据库连接正常',
    status: { internal: 503 },
  }),
  'GET /api/notice': bind((api) => api.site.notice, { reply: sameText }),
  'GET /api/about': bind((api) => api.site.about, { reply: sameText }),
  'GET /api/home_page_content': bind((api) => api.site.homePageContent, { reply: sameText }),
}
