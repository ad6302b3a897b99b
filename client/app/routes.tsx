import {
  Activity,
  BadgePercent,
  Brush,
  ChartColumn,
  CircleUserRound,
  FlaskConical,
  Inbox,
  KeyRound,
  ListTodo,
  Mail,
  MessagesSquare,
  Network,
  Package,
  Receipt,
  ScrollText,
  ShieldCheck,
  SlidersHorizontal,
  Tags,
  Ticket,
  Users,
  Wallet,
} from 'lucide-react'
import type { LucideIcon } from 'lucide-react'
import type { Role } from '#core/roles.ts'
import { roles } from '#core/roles.ts'
import type { PlainText } from '../i18n/t.ts'
import { text } from '../i18n/t.ts'
import type { SiteStatus } from '../lib/status.ts'

export type NavGroup = 'playground' | 'console' | 'admin' | 'personal'

export type Nav = {
  icon: LucideIcon
  /** Where in the sidebar; without it the page is only in the palette. */
  group?: NavGroup
  /** When the entry is for fewer than may open the page. */
  role?: Role
  shown?: (status: SiteStatus) => boolean
}

export type AppRoute = {
  /** Every address of the page; the first is the one that links use. */
  paths: readonly [string, ...string[]]
  /** See `pageOf`. */
  page: string
  title: PlainText
  role: Role
  /** `site` has the top bar alone, `bare` nothing around it. */
  frame?: 'console' | 'site' | 'bare'
  /** Other words by which the palette finds the page. */
  keywords?: string
  nav?: Nav
  /** Where it leads whoever may not open it; else the page says so. */
  refusal?: 'home'
}

export const navGroups: readonly { id: NavGroup; title: PlainText }[] = [
  { id: 'playground', title: text('体验') },
  { id: 'console', title: text('控制台') },
  { id: 'admin', title: text('管理员') },
  { id: 'personal', title: text('个人中心') },
]

/** The one list of pages: router, guard, sidebar and palette are drawn from it. */
export const routes: readonly AppRoute[] = [
  { paths: ['/'], page: 'site/home', title: text('首页'), role: roles.guest, frame: 'site' },
  { paths: ['/setup'], page: 'setup', title: text('系统初始化'), role: roles.guest, frame: 'bare' },
  { paths: ['/login'], page: 'auth/login', title: text('登录'), role: roles.guest, frame: 'site' },
  { paths: ['/register'], page: 'auth/register', title: text('注册'), role: roles.guest, frame: 'site' },
  { paths: ['/reset'], page: 'auth/reset', title: text('密码重置'), role: roles.guest, frame: 'site' },
  { paths: ['/user/reset'], page: 'auth/reset-confirm', title: text('密码重置确认'), role: roles.guest, frame: 'site' },
  { paths: ['/oauth/:provider'], page: 'auth/oauth', title: text('第三方登录'), role: roles.guest, frame: 'bare' },
  {
    paths: ['/pricing'],
    page: 'pricing',
    keywords: 'price prices cost ratio 价格 倍率 费用',
    title: text('模型价格'),
    role: roles.guest,
    frame: 'site',
    nav: { icon: BadgePercent },
  },
  { paths: ['/about'], page: 'site/about', title: text('关于'), role: roles.guest, frame: 'site' },
  {
    paths: ['/playground'],
    page: 'playground',
    title: text('操练场'),
    role: roles.user,
    nav: { icon: FlaskConical, group: 'playground' },
  },
  {
    paths: ['/chat2link'],
    page: 'chat/links',
    title: text('聊天'),
    role: roles.user,
    nav: { icon: MessagesSquare, group: 'playground' },
  },
  { paths: ['/app/chat/:id', '/chat/:id?'], page: 'chat', title: text('聊天'), role: roles.user },
  {
    paths: ['/app/dashboard'],
    page: 'stats',
    keywords: 'statistics usage charts spend 统计 用量',
    title: text('数据看板'),
    role: roles.user,
    nav: { icon: ChartColumn, group: 'console', shown: (status) => status.dataExportEnabled },
  },
  {
    paths: ['/app/tokens'],
    page: 'tokens',
    keywords: 'token tokens key keys api sk secret 密钥 令牌',
    title: text('API令牌'),
    role: roles.user,
    nav: { icon: KeyRound, group: 'console' },
  },
  {
    paths: ['/app/logs/api-usage'],
    page: 'logs',
    keywords: 'usage requests history billing receipts 日志 账单 请求',
    title: text('使用日志'),
    role: roles.user,
    nav: { icon: ScrollText, group: 'console' },
  },
  {
    paths: ['/app/logs/drawing'],
    page: 'tasks/drawing',
    keywords: 'drawing images midjourney 绘图 图片',
    title: text('绘图日志'),
    role: roles.user,
    nav: { icon: Brush, group: 'console', shown: (status) => status.drawingEnabled },
  },
  {
    paths: ['/app/logs/tasks'],
    page: 'tasks',
    keywords: 'tasks music suno jobs 音乐 任务',
    title: text('任务日志'),
    role: roles.user,
    nav: { icon: ListTodo, group: 'console', shown: (status) => status.taskEnabled },
  },
  {
    paths: ['/admin/channels', '/channel/add', '/channel/edit/:id'],
    page: 'channels',
    keywords: 'channel channels provider upstream vendor 供应商 上游',
    title: text('渠道'),
    role: roles.admin,
    nav: { icon: Network, group: 'admin', role: roles.root },
  },
  {
    paths: ['/admin/prices'],
    page: 'prices',
    keywords: 'price prices models cost ratio margin buying 价格 倍率 定价 成本',
    title: text('模型与价格'),
    role: roles.admin,
    nav: { icon: Tags, group: 'admin', role: roles.root },
  },
  {
    paths: ['/admin/coupons'],
    page: 'redemptions',
    keywords: 'redemption codes coupons gift voucher 卡密 礼品',
    title: text('兑换码'),
    role: roles.admin,
    nav: { icon: Ticket, group: 'admin', role: roles.root },
  },
  {
    paths: ['/admin/plans'],
    page: 'plans',
    keywords: 'subscription plan 订阅 套餐',
    title: text('套餐管理'),
    role: roles.admin,
    nav: { icon: Package, group: 'admin', role: roles.root },
  },
  {
    paths: ['/admin/orders'],
    page: 'orders',
    keywords: 'orders payments top-up 订单 支付 充值',
    title: text('充值订单'),
    role: roles.admin,
    nav: { icon: Receipt, group: 'admin', role: roles.root },
  },
  {
    paths: ['/admin/messages'],
    page: 'messages/admin',
    keywords: 'messages announcement broadcast 公告 通知',
    title: text('消息管理'),
    role: roles.admin,
    refusal: 'home',
    nav: { icon: Mail, group: 'admin', role: roles.root },
  },
  {
    paths: ['/admin/users', '/user/edit', '/user/edit/:id'],
    page: 'users',
    keywords: 'users accounts members quota 账号 成员 额度',
    title: text('用户管理'),
    role: roles.admin,
    nav: { icon: Users, group: 'admin' },
  },
  { paths: ['/app/users/:id'], page: 'users/detail', title: text('用户'), role: roles.admin },
  {
    paths: ['/admin/audit'],
    page: 'audit',
    keywords: 'audit trail history acts 操作 记录',
    title: text('审计日志'),
    role: roles.admin,
    nav: { icon: ShieldCheck, group: 'admin', role: roles.root },
  },
  {
    paths: ['/admin/system'],
    page: 'system',
    keywords: 'nodes status health jobs queue database disk 节点 监控 健康 数据库',
    title: text('运行状态'),
    role: roles.root,
    nav: { icon: Activity, group: 'admin' },
  },
  {
    paths: ['/admin/settings'],
    page: 'options',
    keywords: 'configuration smtp mail oauth price 配置 邮件',
    title: text('系统设置'),
    role: roles.admin,
    nav: { icon: SlidersHorizontal, group: 'admin' },
  },
  {
    paths: ['/app/wallet'],
    page: 'wallet',
    keywords: 'balance top up credit redeem payment 余额 充值 兑换',
    title: text('钱包'),
    role: roles.user,
    nav: { icon: Wallet, group: 'personal' },
  },
  { paths: ['/app/wallet/receipt'], page: 'wallet/receipt', title: text('收据'), role: roles.user },
  { paths: ['/app/wallet/topup-success'], page: 'wallet/topup-success', title: text('充值成功'), role: roles.user },
  {
    paths: ['/app/me'],
    page: 'account',
    keywords: 'profile password passkey security notifications 密码 安全 通知',
    title: text('个人设置'),
    role: roles.user,
    nav: { icon: CircleUserRound, group: 'personal' },
  },
  {
    paths: ['/app/inbox', '/app/inbox/:id'],
    page: 'messages',
    title: text('收件箱'),
    role: roles.user,
    nav: { icon: Inbox },
  },
]
