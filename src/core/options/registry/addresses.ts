import { z } from 'zod'
import type { Problem } from '#core/errors.ts'
import { type OptionTable, option, type ReadOption } from '../define.ts'
import { address, checkAddress, flag, singleLine } from '../schemas.ts'

/** With these filled in, payers are sent to a gateway. */
const gateways = [
  ['PayAddress', 'EpayId', 'EpayKey'],
  ['stripe.secret_key', 'stripe.webhook_secret'],
]

/** Payers come back to this address, and so does the notice that they have paid. */
function checkServerAddress(read: ReadOption): Problem | undefined {
  const takesPayments = gateways.some((keys) => keys.every((key) => Boolean(read(key))))
  return takesPayments && !read('ServerAddress') ? { code: 'option.requires_server_address' } : undefined
}

export const addressOptions = {
  ServerAddress: option(address, {
    default: '',
    visibility: 'public',
    group: 'addresses',
    label: '服务器地址',
    help: '用于邮件、支付回调和绘图图片中的链接',
    widget: 'address',
    check: checkAddress('ServerAddress', '服务器地址'),
    formCheck: checkServerAddress,
  }),
  ReverseProxyEnabled: option(flag, {
    default: false,
    visibility: 'admin',
    group: 'reverse-proxy',
    label: '启用反向代理',
    help: '从反向代理的请求头中读取客户端 IP',
  }),
  ReverseProxyProvider: option(z.enum(['nginx', 'cloudflare']), {
    default: 'nginx',
    visibility: 'admin',
    group: 'reverse-proxy',
    label: '反向代理类型',
  }),
  WorkerUrl: option(address, {
    default: '',
    visibility: 'admin',
    group: 'worker',
    label: 'Worker 地址',
    help: '设置后，通知和图片下载通过该 Worker 代理，仅支持 https 目标',
    widget: 'address',
    check: checkAddress('WorkerUrl', 'Worker 地址'),
  }),
  WorkerValidKey: option(singleLine, {
    default: '',
    visibility: 'secret',
    group: 'worker',
    label: 'Worker 密钥',
    boundTo: ['WorkerUrl'],
    widget: 'password',
  }),
} satisfies OptionTable
