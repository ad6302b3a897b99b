import { isChatLink } from '#core/chat-link.ts'
import type { Problem } from '#core/errors.ts'
import { z } from 'zod'
import { type OptionTable, option, type ReadOption } from '../define.ts'
import { checkAddress, flag, singleLine, text } from '../schemas.ts'

/** Asked of whoever saves the form; what an older client stored stays readable. */
function checkChatLinks(read: ReadOption): Problem | undefined {
  const links = read('Chats') as readonly Record<string, string>[]
  const entries = links.flatMap((link) => Object.entries(link))
  if (entries.some(([name, address]) => name.trim() === '' || address.trim() === ''))
    return { code: 'option.chat_link_incomplete' }
  const unusable = entries.find(([, address]) => !isChatLink(address))
  return unusable && { code: 'option.chat_link_invalid', params: { name: unusable[0] } }
}

export const brandingOptions = {
  Notice: option(text, {
    default: '',
    visibility: 'public',
    group: 'announcement',
    label: '公告',
    help: '支持 Markdown 和 HTML',
    widget: 'markdown',
  }),
  SystemName: option(singleLine, {
    default: 'Model Gateway',
    visibility: 'public',
    group: 'branding',
    label: '系统名称',
  }),
  Logo: option(singleLine, {
    default: '',
    visibility: 'public',
    group: 'branding',
    label: 'Logo 图片地址',
    widget: 'image',
  }),
  HomePageContent: option(text, {
    default: '',
    visibility: 'public',
    group: 'branding',
    label: '首页内容',
    help: '支持 Markdown 和 HTML；以 https:// 开头的内容将作为页面嵌入',
    widget: 'markdown',
  }),
  About: option(text, {
    default: '',
    visibility: 'public',
    group: 'branding',
    label: '关于',
    help: '支持 Markdown 和 HTML；以 https:// 开头的内容将作为页面嵌入',
    widget: 'markdown',
  }),
  Footer: option(text, {
    default: '',
    visibility: 'public',
    group: 'branding',
    label: '页脚',
    help: '支持 HTML，留空则使用默认页脚',
    widget: 'html',
  }),
  custom_head_html: option(text, {
    default: '',
    visibility: 'public',
    group: 'branding',
    label: '自定义 head 内容',
    help: '原样写入每个页面的 head，请只填写你信任的内容。样式表、字体和由脚本加载的脚本，仅当其来源（https://…）在此完整写出时才会加载，它们再引用的其他来源也须写出（可写在注释中，脚本的来源写在脚本的注释中）；内联事件（如 onclick）和 eval 不会运行',
    widget: 'html',
  }),
  global_css: option(text, {
    default: '',
    visibility: 'public',
    group: 'branding',
    label: '全局 CSS',
    help: '外部样式表和字体，仅当其来源（https://…）在此完整写出时才会加载，样式表再引用的其他来源也须写出（可写在注释中）',
    widget: 'css',
  }),
  global_js: option(text, {
    default: '',
    visibility: 'public',
    group: 'branding',
    label: '全局 JavaScript',
    help: '在每个页面运行，请只填写你信任的内容。由它加载的脚本、样式表和字体以及 wss:// 连接，仅当其来源在此完整写出（https://…、wss://…）时才会成功，它们再引用的其他来源也须写出（可写在注释中）；内联事件（如 onclick）和 eval 不会运行',
    widget: 'javascript',
  }),
  Chats: option(z.array(z.record(z.string(), z.string())), {
    default: [],
    visibility: 'public',
    group: 'chat',
    label: '聊天链接',
    help: '每个链接一个名称和一个地址，地址中的 {address} 和 {key} 会被替换为服务器地址和令牌；网页地址中的 {key} 只能写在 # 之后，令牌才不会发给该网页的服务器',
    widget: 'chat-links',
    formCheck: checkChatLinks,
  }),
  DefaultCollapseSidebar: option(flag, {
    default: false,
    visibility: 'public',
    group: 'general',
    label: '默认折叠侧边栏',
  }),
  TopUpLink: option(singleLine, {
    default: '',
    visibility: 'public',
    group: 'general',
    label: '充值链接',
    help: '例如发卡网站的购买链接',
    widget: 'address',
    check: checkAddress('TopUpLink', '充值链接'),
  }),
  'general_setting.release_link': option(singleLine, {
    default: '',
    visibility: 'admin',
    group: 'branding',
    label: '版本发布地址',
    help: '检查更新时读取的 https 地址，返回 JSON，tag_name 为最新版本号，body 为更新说明（Markdown）',
  }),
  'general_setting.docs_link': option(singleLine, {
    default: '',
    visibility: 'public',
    group: 'general',
    label: '文档地址',
    widget: 'address',
    check: checkAddress('general_setting.docs_link', '文档地址'),
  }),
  DemoSiteEnabled: option(flag, {
    default: false,
    visibility: 'public',
    group: 'general',
    label: '演示站点模式',
  }),
  SelfUseModeEnabled: option(flag, {
    default: false,
    visibility: 'public',
    group: 'general',
    label: '自用模式',
    help: '开启后不限制必须设置模型倍率',
  }),
} satisfies OptionTable
