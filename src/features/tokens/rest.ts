import { csv, givenFlag, givenNumber, id, instant, number, seconds, text, zeroBasedPage } from '#rest/read.ts'
import type { SetTokenStatus } from './schema.ts'
import {
  always,
  asBarePage,
  asFlag,
  asInteger,
  asListOf,
  asNames,
  asObject,
  asSeconds,
  asText,
  noData,
} from '#rest/reply.ts'
import { binder, type CallerOf, type RestRequest, type RouteTable } from '#rest/route.ts'
import type { OwnTokenView } from './view.ts'
import type { tokensUserRouter } from './router.ts'

type Api = { user: { tokens: CallerOf<typeof tokensUserRouter> } }

const bind = binder<Api>()

const toRestToken = asObject<OwnTokenView>({
  id: asInteger('id'),
  user_id: asInteger('userId'),
  key: asText(({ key, keyMask }) => key ?? keyMask),
  status: asInteger('status'),
  name: asText('name'),
  created_time: asSeconds('createdAt'),
  accessed_time: asSeconds('accessedAt'),
  expired_time: asInteger(({ expiresAt }) => (expiresAt === null ? -1 : seconds(expiresAt))),
  remain_quota: asInteger('remainQuotaWithHolds'),
  used_quota: asInteger('usedQuota'),
  unlimited_quota: asFlag('unlimitedQuota'),
  model_limits_enabled: asFlag('modelLimitsEnabled'),
  model_limits: asNames('modelLimits'),
  allow_ips: asText('allowIps'),
  group: asText('group'),
  rate_limit_enabled: asFlag('rateLimitEnabled'),
  rate_limit_period: asInteger('rateLimitPeriod'),
  rate_limit_count: asInteger('rateLimitCount'),
  rate_limit_success: asInteger('rateLimitSuccess'),
  DeletedAt: always(null),
})

/** -1 is "never"; what is no time is left for the schema to refuse. */
function expiryOf(value: unknown): Date | null | undefined {
  if (value === undefined || value === null || value === '') return undefined
  const given = number(value)
  return given === -1 ? null : (instant(given) ?? new Date(Number.NaN))
}

/** Of a new token 0 and nothing at all are "never" too. */
const firstExpiryOf = (value: unknown): Date | null => (number(value) === 0 ? null : (expiryOf(value) ?? null))

const fieldsOf = ({ body }: RestRequest) => ({
  name: text(body['name']) ?? '',
  remainQuota: givenNumber(body, 'remain_quota') ?? 0,
  unlimitedQuota: givenFlag(body, 'unlimited_quota') ?? false,
  modelLimitsEnabled: givenFlag(body, 'model_limits_enabled') ?? false,
  modelLimits: csv(body['model_limits']),
  allowIps: text(body['allow_ips']) ?? '',
  group: text(body['group']) ?? '',
  rateLimitEnabled: givenFlag(body, 'rate_limit_enabled') ?? false,
  rateLimitPeriod: givenNumber(body, 'rate_limit_period') || undefined,
  rateLimitCount: givenNumber(body, 'rate_limit_count'),
  rateLimitSuccess: givenNumber(body, 'rate_limit_success'),
  isDocumented: true,
})

const pathId = ({ params }: RestRequest) => ({ id: id(params['id']), isDocumented: true })

const updateFields = bind((api) => api.user.tokens.update, {
  input: (request) => ({
    ...fieldsOf(request),
    expiresAt: expiryOf(request.body['expired_time']),
    id: id(request.body['id']),
    status: givenNumber(request.body, 'status'),
  }),
  reply: toRestToken,
})

const updateStatus = bind((api) => api.user.tokens.setStatus, {
  input: ({ body }) => ({
    id: id(body['id']),
    status: givenNumber(body, 'status') as SetTokenStatus['status'],
    isDocumented: true,
  }),
  reply: toRestToken,
})

export const tokenRoutes: RouteTable<Api> = {
  'GET /api/token/': bind((api) => api.user.tokens.list, {
    input: (request) => ({ ...zeroBasedPage('size')(request), isDocumented: true }),
    reply: asBarePage(toRestToken),
  }),
  'GET /api/token/search': bind((api) => api.user.tokens.search, {
    input: ({ query }) => ({ keyword: query['keyword'] ?? '', key: query['token'] ?? '', isDocumented: true }),
    reply: asListOf(toRestToken),
  }),
  'GET /api/token/:id': bind((api) => api.user.tokens.get, { input: pathId, reply: toRestToken }),
  'POST /api/token/': bind((api) => api.user.tokens.create, {
    input: (request) => ({ ...fieldsOf(request), expiresAt: firstExpiryOf(request.body['expired_time']) }),
    reply: noData,
  }),
  'PUT /api/token/': {
    ...updateFields,
    call: (api, request) => (request.query['status_only'] ? updateStatus : updateFields).call(api, request),
  },
  'DELETE /api/token/:id': bind((api) => api.user.tokens.remove, { input: pathId, reply: noData }),
}
