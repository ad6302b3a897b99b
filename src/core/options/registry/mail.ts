import { z } from 'zod'
import { type OptionTable, option } from '../define.ts'
import { flag, singleLine } from '../schemas.ts'

export const mailOptions = {
  SMTPServer: option(singleLine, {
    default: '',
    visibility: 'admin',
    group: 'mail',
    label: 'SMTP 服务器地址',
  }),
  SMTPPort: option(z.int().min(0).max(65_535), {
    default: 587,
    visibility: 'admin',
    group: 'mail',
    label: 'SMTP 端口',
  }),
  SMTPSSLEnabled: option(flag, {
    default: false,
    visibility: 'admin',
    group: 'mail',
    label: '启用 SMTP SSL',
    help: '端口 465 始终使用 SSL',
  }),
  SMTPAccount: option(singleLine, {
    default: '',
    visibility: 'admin',
    group: 'mail',
    label: 'SMTP 账户',
  }),
  SMTPFrom: option(singleLine, {
    default: '',
    visibility: 'admin',
    group: 'mail',
    label: 'SMTP 发送者邮箱',
    help: '留空则与 SMTP 账户相同',
  }),
  SMTPToken: option(singleLine, {
    default: '',
    visibility: 'secret',
    group: 'mail',
    label: 'SMTP 访问凭证',
    boundTo: ['SMTPServer', 'SMTPPort'],
    widget: 'password',
  }),
} satisfies OptionTable
