import { boolean, seconds, text } from '#rest/read.ts'
import { binder, type CallerOf, noData, type RouteTable } from '#rest/route.ts'
import type { StatusView } from './view.ts'
import type { siteAdminRouter, siteRouter } from './router.ts'

type Api = { site: CallerOf<typeof siteRouter>; admin: { site: CallerOf<typeof siteAdminRouter> } }

const bind = binder<Api>()

const toRestStatus = (status: StatusView) => ({
  version: status.version,
  start_time: seconds(status.startedAt),
  system_name: status.systemName,
  logo: status.logo,
  footer_html: status.footerHtml,
  server_address: status.serverAddress,
  price: status.price,
  min_topup: status.minTopUp,
  top_up_link: status.topUpLink,
  docs_link: status.docsLink,
  enable_online_topup: status.onlineTopUpEnabled,
  quota_per_unit: status.quotaPerUnit,
  display_in_currency: status.displayInCurrency,
  enable_batch_update: false,
  enable_drawing: status.drawingEnabled,
  enable_task: status.taskEnabled,
  enable_data_export: status.dataExportEnabled,
  data_export_default_time: status.dataExportDefaultTime,
  default_collapse_sidebar: status.defaultCollapseSidebar,
  mj_notify_enabled: status.mjNotifyEnabled,
  chats: status.chats,
  demo_site_enabled: status.demoSiteEnabled,
  self_use_mode_enabled: status.selfUseModeEnabled,
  setup: status.setUp,
  check_in_enabled: status.checkInEnabled,
  aff_enabled: status.affEnabled,
  email_verification: status.emailVerification,
  turnstile_check: status.turnstileCheck,
  turnstile_site_key: status.turnstileSiteKey,
  github_oauth: status.githubOauth,
  github_client_id: status.githubClientId,
  linuxdo_oauth: status.linuxdoOauth,
  linuxdo_client_id: status.linuxdoClientId,
  linuxdo_minimum_trust_level: status.linuxdoMinimumTrustLevel,
  log_chat_content_enabled: status.logChatContentEnabled,
  oidc_enabled: status.oidcEnabled,
  oidc_client_id: status.oidcClientId,
  oidc_authorization_endpoint: status.oidcAuthorizationEndpoint,
  wechat_login: status.wechatLogin,
  wechat_qrcode: status.wechatQrcode,
  telegram_oauth: status.telegramOauth,
  telegram_bot_name: status.telegramBotName,
})

export const siteRoutes: RouteTable<Api> = {
  'GET /api/setup': bind((api) => api.site.setupStatus, {
    reply: ({ done, rootExists, databaseType }) => ({
      status: done,
      root_init: rootExists,
      database_type: databaseType,
    }),
  }),
  'POST /api/setup': bind((api) => api.site.setup, {
    input: ({ body, query }) => ({
      username: text(body['username']) ?? '',
      password: text(body['password']) ?? '',
      confirmPassword: text(body['confirmPassword']) ?? '',
      selfUseModeEnabled: boolean(body['SelfUseModeEnabled']) ?? false,
      demoSiteEnabled: boolean(body['DemoSiteEnabled']) ?? false,
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
  'GET /api/notice': bind((api) => api.site.notice),
  'GET /api/about': bind((api) => api.site.about),
  'GET /api/home_page_content': bind((api) => api.site.homePageContent),
}
