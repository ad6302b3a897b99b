import type { Objects } from './objects.ts'

export type RestSending = { id?: number | string; query?: Record<string, string>; body?: unknown }
type MakeSending = (make: Objects) => RestSending | Promise<RestSending>

const range = { start_timestamp: '1767225600', end_timestamp: '1767312000' }

const byMessage: MakeSending = async (make) => ({ id: await make.message() })
const byChannel: MakeSending = async (make) => ({ id: await make.channel() })
const byRedemption: MakeSending = async (make) => ({ id: (await make.redemption()).id })
const byToken: MakeSending = async (make) => ({ id: (await make.token()).id })
const byUser: MakeSending = async (make) => ({ id: await make.user() })
const byCode: MakeSending = () => ({ body: { code: '000000' } })

/** What each documented path is called with where a bare request reaches nothing. */
export const restCalls: Readonly<Record<string, MakeSending>> = {
  'DELETE /api/admin/messages/:id': byMessage,
  'GET /api/admin/messages/:id': byMessage,
  'GET /api/admin/messages/:id/recipients': byMessage,
  'POST /api/admin/messages': async (make) => ({
    body: { title: 't', content: 'c', format: 'markdown', user_ids: [await make.user()] },
  }),
  'PUT /api/admin/messages/:id': async (make) => ({
    id: await make.message(),
    body: { title: 't', content: 'c', format: 'html' },
  }),
  'POST /api/channel/': (make) => ({ body: { name: make.name(), type: 1, key: 'sk-new', models: 'gpt-4o-mini' } }),
  'PUT /api/channel/': async (make) => ({ body: { id: await make.channel(), priority: 3 } }),
  'DELETE /api/channel/:id': byChannel,
  'GET /api/channel/:id': byChannel,
  'POST /api/channel/batch': async (make) => ({ body: { ids: [await make.channel()] } }),
  'POST /api/channel/batch/tag': async (make) => ({ body: { ids: [await make.channel()], tag: 'sample' } }),
  'POST /api/channel/fetch_models': () => ({ body: { type: 1, key: 'sk-x', base_url: 'http://127.0.0.1:1' } }),
  'GET /api/channel/fetch_models/:id': byChannel,
  'PUT /api/channel/tag': () => ({ body: { tag: 'sample' } }),
  'POST /api/channel/tag/disabled': () => ({ body: { tag: 'sample' } }),
  'POST /api/channel/tag/enabled': () => ({ body: { tag: 'sample' } }),
  'GET /api/channel/test/:id': byChannel,
  'GET /api/channel/update_balance': async (make) => (await make.noChannels()) ?? {},
  'GET /api/channel/update_balance/:id': byChannel,
  'GET /api/data/': () => ({ query: range }),
  'GET /api/data/self': () => ({ query: range }),
  'DELETE /api/log/': () => ({ query: { target_timestamp: '1' } }),
  'GET /api/log/search': () => ({ query: { keyword: '2' } }),
  'GET /api/log/self/search': () => ({ query: { keyword: '2' } }),
  'GET /api/log/token': async (make) => ({ query: { key: (await make.token()).key } }),
  'PUT /api/model_mapping/': () => ({ body: { mapping: {} } }),
  'GET /api/oauth/email/bind': () => ({ query: { email: 'someone@example.com', code: '000000' } }),
  'GET /api/oauth/github': () => ({ query: { code: 'c', state: 's' } }),
  'GET /api/oauth/linuxdo': () => ({ query: { code: 'c', state: 's' } }),
  'GET /api/oauth/oidc': () => ({ query: { code: 'c', state: 's' } }),
  'PUT /api/option/': () => ({ body: { key: 'Notice', value: 'n' } }),
  'POST /api/redemption/': (make) => ({ body: { name: make.name(), quota: 5, count: 1 } }),
  'PUT /api/redemption/': async (make) => ({ body: { id: (await make.redemption()).id, name: 'n', quota: 5 } }),
  'DELETE /api/redemption/:id': byRedemption,
  'GET /api/redemption/:id': byRedemption,
  'PUT /api/redemption/batch-disable': async (make) => ({ body: { ids: [(await make.redemption()).id] } }),
  'GET /api/redemption/count-by-name': () => ({ query: { name: 'nobody' } }),
  'DELETE /api/redemption/delete-by-name': () => ({ query: { name: 'nobody' } }),
  'GET /api/reset_password': () => ({ query: { email: 'someone@example.com' } }),
  'POST /api/token/': (make) => ({ body: { name: make.name(), expired_time: -1, unlimited_quota: true } }),
  'PUT /api/token/': async (make) => ({
    body: { id: (await make.token()).id, name: 'n', expired_time: -1, unlimited_quota: true },
  }),
  'DELETE /api/token/:id': byToken,
  'GET /api/token/:id': byToken,
  'POST /api/user/': (make) => ({ body: { username: make.name(), password: 'a long password' } }),
  'PUT /api/user/': async (make) => ({ body: { id: await make.user(), display_name: 'changed' } }),
  'DELETE /api/user/:id': byUser,
  'GET /api/user/:id': byUser,
  'POST /api/user/2fa/backup_codes': byCode,
  'POST /api/user/2fa/disable': byCode,
  'POST /api/user/2fa/enable': byCode,
  'POST /api/user/aff_transfer': () => ({ body: { quota: 1 } }),
  'POST /api/user/amount': () => ({ body: { amount: 10 } }),
  'POST /api/user/login': () => ({ body: { username: 'nobody', password: 'wrong' } }),
  'POST /api/user/login/2fa': byCode,
  'POST /api/user/manage': async (make) => ({ body: { id: await make.user(), action: 'disable' } }),
  'PUT /api/user/messages/:id/read': byMessage,
  'POST /api/user/pay': () => ({ body: { amount: 10, payment_method: 'zfb' } }),
  'POST /api/user/register': (make) => ({ body: { username: make.name(), password: 'a long password' } }),
  'POST /api/user/reset': () => ({ body: { email: 'someone@example.com', token: 'x' } }),
  'PUT /api/user/self': () => ({ body: { display_name: 'changed' } }),
  'PUT /api/user/setting': () => ({ body: { notify_type: 'email', quota_warning_threshold: 1000 } }),
  'POST /api/user/topup': async (make) => ({ body: { key: (await make.redemption()).key } }),
  'GET /api/verification': () => ({ query: { email: 'someone@example.com' } }),
  'POST /api/verify': byCode,
}
