import { givenFlag, givenNumber, id, ids, instant, pageQueryUpTo, text } from '#rest/read.ts'
import {
  always,
  asFlag,
  asInteger,
  asObject,
  asPage,
  asSeconds,
  asText,
  noData,
  sameList,
  sameNumber,
} from '#rest/reply.ts'
import { binder, type CallerOf, type RestRequest, type RouteTable } from '#rest/route.ts'
import type { redemptionsAdminRouter, redemptionsUserRouter } from './router.ts'
import { largestRedemptionPage, type SetRedemptionStatus } from './schema.ts'
import type { RedemptionView } from './view.ts'

type Api = {
  user: { redemptions: CallerOf<typeof redemptionsUserRouter> }
  admin: { redemptions: CallerOf<typeof redemptionsAdminRouter> }
}

const bind = binder<Api>()

const toRestRedemption = asObject<RedemptionView>({
  id: asInteger('id'),
  user_id: asInteger('userId'),
  key: asText('key'),
  status: asInteger('status'),
  name: asText('name'),
  quota: asInteger('quota'),
  created_time: asSeconds('createdAt'),
  redeemed_time: asSeconds('redeemedAt'),
  valid_from: asSeconds('validFrom'),
  valid_until: asSeconds('validUntil'),
  count: always(0),
  used_user_id: asInteger('usedUserId'),
  is_gift: asFlag('isGift'),
  max_uses: asInteger('maxUses'),
  used_count: asInteger('usedCount'),
  DeletedAt: always(null),
})

/** 0 is "open"; what is no time is left for the schema to refuse. A new code is open, too, where nothing is said. */
function windowEdge(body: RestRequest['body'], name: string): Date | null | undefined {
  const given = givenNumber(body, name)
  if (given === undefined) return undefined
  return given === 0 ? null : (instant(given) ?? new Date(Number.NaN))
}

function fieldsOf({ body }: RestRequest) {
  const validUntil = windowEdge(body, 'valid_until')
  return {
    name: text(body['name']) ?? '',
    quota: givenNumber(body, 'quota') ?? 0,
    validFrom: windowEdge(body, 'valid_from'),
    // Under the other name programs send that were written for related servers: a code is not to go on for ever because of it.
    validUntil: validUntil === undefined ? windowEdge(body, 'expired_time') : validUntil,
  }
}

const pathId = ({ params }: RestRequest) => ({ id: id(params['id']) })
const nameOf = ({ query }: RestRequest) => ({ name: query['name'] ?? '' })

const count = sameNumber
const page = pageQueryUpTo(largestRedemptionPage)

const updateFields = bind((api) => api.admin.redemptions.update, {
  input: (request) => ({
    ...fieldsOf(request),
    id: id(request.body['id']),
    maxUses: givenNumber(request.body, 'max_uses'),
  }),
  reply: toRestRedemption,
})

const updateStatus = bind((api) => api.admin.redemptions.setStatus, {
  input: ({ body }) => ({
    id: id(body['id']),
    status: givenNumber(body, 'status') as SetRedemptionStatus['status'],
  }),
  reply: toRestRedemption,
})

export const redemptionRoutes: RouteTable<Api> = {
  'POST /api/user/topup': bind((api) => api.user.redemptions.redeem, {
    input: ({ body, query }) => ({ key: text(body['key']) ?? '', turnstile: query['turnstile'] ?? '' }),
    reply: asObject<{ quota: number; isGift: boolean }>({ quota: asInteger('quota'), is_gift: asFlag('isGift') }),
  }),

  'GET /api/redemption/': bind((api) => api.admin.redemptions.list, {
    input: page,
    reply: asPage(toRestRedemption),
  }),
  'GET /api/redemption/search': bind((api) => api.admin.redemptions.list, {
    input: (request) => ({ ...page(request), keyword: request.query['keyword'] ?? '' }),
    reply: asPage(toRestRedemption),
  }),
  'GET /api/redemption/count-by-name': bind((api) => api.admin.redemptions.countByName, {
    input: nameOf,
    reply: count,
  }),
  'GET /api/redemption/:id': bind((api) => api.admin.redemptions.get, { input: pathId, reply: toRestRedemption }),
  'POST /api/redemption/': bind((api) => api.admin.redemptions.create, {
    reply: sameList,
    input: (request) => {
      const { body } = request
      const key = text(body['key'])?.trim() ?? ''
      return {
        ...fieldsOf(request),
        // A text of one's own is one code, whatever is counted beside it.
        count: key === '' ? (givenNumber(body, 'count') ?? 0) : 1,
        isGift: givenFlag(body, 'is_gift') ?? false,
        maxUses: givenNumber(body, 'max_uses'),
        key,
      }
    },
  }),
  'PUT /api/redemption/': {
    ...updateFields,
    call: (api, request) => (request.query['status_only'] ? updateStatus : updateFields).call(api, request),
  },
  'PUT /api/redemption/batch-disable': bind((api) => api.admin.redemptions.disable, {
    input: ({ body }) => ({ ids: ids(body['ids']) }),
    reply: count,
  }),
  'DELETE /api/redemption/delete-by-name': bind((api) => api.admin.redemptions.removeByName, {
    input: nameOf,
    reply: count,
  }),
  'DELETE /api/redemption/delete-disabled': bind((api) => api.admin.redemptions.removeDisabled, { reply: count }),
  'DELETE /api/redemption/:id': bind((api) => api.admin.redemptions.remove, { input: pathId, reply: noData }),
}
