/** The tabs of the settings page, by the key in its address. */
export const settingsTabs = {
  operation: '运营设置',
  ratelimit: '速率限制设置',
  models: '模型相关设置',
  system: '基础设置',
  other: '其他设置',
} as const
export type SettingsTab = keyof typeof settingsTabs

/** Sections of the settings page, in the order they are drawn. A group without a tab is kept for clients but not drawn. */
export const optionGroups = {
  general: { tab: 'operation', label: '通用设置' },
  drawing: { tab: 'operation', label: '绘图设置' },
  screening: { tab: 'operation', label: '屏蔽词过滤设置' },
  logs: { tab: 'operation', label: '日志设置' },
  dashboard: { tab: 'operation', label: '数据看板设置' },
  monitoring: { tab: 'operation', label: '监控设置' },
  'check-in': { tab: 'operation', label: '签到设置' },
  quota: { tab: 'operation', label: '额度设置' },
  rebate: { tab: 'operation', label: '返佣设置' },
  chat: { tab: 'operation', label: '聊天链接设置' },
  groups: { tab: 'operation', label: '分组设置' },
  fallback: { tab: 'operation', label: '其他倍率设置' },
  prices: { tab: 'operation', label: '倍率设置' },
  'rate-limit': { tab: 'ratelimit', label: '模型请求速率限制' },
  global: { tab: 'models', label: '全局设置' },
  gemini: { tab: 'models', label: 'Gemini 设置' },
  claude: { tab: 'models', label: 'Claude 设置' },
  mapping: { tab: 'models', label: '模型映射' },
  addresses: { tab: 'system', label: '通用设置' },
  'reverse-proxy': { tab: 'system', label: '反向代理设置' },
  worker: { tab: 'system', label: '代理设置' },
  payment: { tab: 'system', label: '支付设置' },
  stripe: { tab: 'system', label: 'Stripe 支付' },
  login: { tab: 'system', label: '配置登录注册' },
  'email-domains': { tab: 'system', label: '配置邮箱域名白名单' },
  mail: { tab: 'system', label: '配置 SMTP' },
  oidc: { tab: 'system', label: '配置 OIDC' },
  github: { tab: 'system', label: '配置 GitHub OAuth App' },
  linuxdo: { tab: 'system', label: '配置 Linux DO OAuth' },
  wechat: { tab: 'system', label: '配置微信服务器' },
  telegram: { tab: 'system', label: '配置 Telegram 登录' },
  turnstile: { tab: 'system', label: '配置 Turnstile' },
  announcement: { tab: 'other', label: '公告' },
  branding: { tab: 'other', label: '个性化设置' },
  legacy: { tab: null, label: '旧版设置' },
} as const satisfies Record<string, { tab: SettingsTab | null; label: string }>

export type OptionGroup = keyof typeof optionGroups
