import { boolean, instant, integer, integers, number, pageQuery, pageReply, seconds, text } from '#rest/read.ts'
import { binder, type CallerOf, noData, type RestRequest, type RouteTable } from '#rest/route.ts'
import type { redemptionsAdminRouter, redemptionsUserRouter } from './router.ts'
import type { SetRedemptionStatus } from './schema.ts'
import type { RedemptionView } from './view.ts'

type Api = {
  user: { redemptions: CallerOf<typeof redemptionsUserRouter> }
  admin: { redemptions: CallerOf<typeof redemptionsAdminRouter> }
}

const bind = binder<Api>()

const toRestRedemption = (redemption: RedemptionView) => ({
  id: redemption.id,
  user_id: redemption.userId,
  key: redemption.key,
  status: redemption.status,
  name: redemption.name,
  quota: redemption.quota,
  created_time: seconds(redemption.createdAt),
  redeemed_time: seconds(redemption.redeemedAt),
  valid_from: seconds(redemption.validFrom),
  valid_until: seconds(redemption.validUntil),
  count: 0,
  used_user_id: redemption.usedUserId,
  is_gift: redemption.isGift,
  max_uses: redemption.maxUses,
  used_count: redemption.usedCount,
  DeletedAt: null,
})

/** 0 and nothing at all are "open"; what is no time is left for the schema to refuse. */
function windowEdge(value: unknown): Date | null {
  const given = number(value)
  if (given === undefined || given === 0) return null
  return instant(given) ?? new Date(Number.NaN)
}

const fieldsOf = ({ body }: RestRequest) => ({
  name: text(body['name']) ?? '',
  quota: number(body['quota']) ?? 0,
  validFrom: windowEdge(body['valid_from']),
  validUntil: windowEdge(body['valid_until']),
})

const pathId = ({ params }: RestRequest) => ({ id: integer(params['id']) ?? 0 })
const nameOf = ({ query }: RestRequest) => ({ name: query['name'] ?? '' })

const updateFields = bind((api) => api.admin.redemptions.update, {
  input: (request) => ({
    ...fieldsOf(request),
    id: integer(request.body['id']) ?? 0,
    maxUses: number(request.body['max_uses']),
  }),
  reply: toRestRedemption,
})

const updateStatus = bind((api) => api.admin.redemptions.setStatus, {
  input: ({ body }) => ({
    id: integer(body['id']) ?? 0,
    status: integer(body['status']) as SetRedemptionStatus['status'],
  }),
  reply: toRestRedemption,
})

export const redemptionRoutes: RouteTable<Api> = {
  'POST /api/user/topup': bind((api) => api.user.redemptions.redeem, {
    input: ({ body, query }) => ({ key: text(body['key']) ?? '', turnstile: query['turnstile'] ?? '' }),
    reply: ({ quota, isGift }) => ({ quota, is_gift: isGift }),
  }),

  'GET /api/redemption/': bind((api) => api.admin.redemptions.list, {
    input: pageQuery,
    reply: pageReply(toRestRedemption),
  }),
  'GET /api/redemption/search': bind((api) => api.admin.redemptions.list, {
    input: (request) => ({ ...pageQuery(request), keyword: request.query['keyword'] ?? '' }),
    reply: pageReply(toRestRedemption),
  }),
  'GET /api/redemption/count-by-name': bind((api) => api.admin.redemptions.countByName, { input: nameOf }),
  'GET /api/redemption/:id': bind((api) => api.admin.redemptions.get, { input: pathId, reply: toRestRedemption }),
  'POST /api/redemption/': bind((api) => api.admin.redemptions.create, {
    input: (request) => {
      const { body } = request
      const key = text(body['key'])?.trim() ?? ''
      return {
        ...fieldsOf(request),
        // A text of one's own is one code, whatever is counted beside it.
        count: key === '' ? (number(body['count']) ?? 0) : 1,
        isGift: boolean(body['is_gift']) ?? false,
        maxUses: number(body['max_uses']),
        key,
      }
    },
  }),
  'PUT /api/redemption/': {
    ...updateFields,
    call: (api, request) => (request.query['status_only'] ? updateStatus : updateFields).call(api, request),
  },
  'PUT /api/redemption/batch-disable': bind((api) => api.admin.redemptions.disable, {
    input: ({ body }) => ({ ids: integers(body['ids']) }),
  }),
  'DELETE /api/redemption/delete-by-name': bind((api) => api.admin.redemptions.removeByName, { input: nameOf }),
  'DELETE /api/redemption/delete-disabled': bind((api) => api.admin.redemptions.removeDisabled),
  'DELETE /api/redemption/:id': bind((api) => api.admin.redemptions.remove, { input: pathId, reply: noData }),
}
