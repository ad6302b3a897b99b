import { always, asBarePage, asList, asNumber, asObject, asOneOf, asRecord, asText, sameList } from '#rest/reply.ts'
import { binder, type CallerOf, type RouteTable } from '#rest/route.ts'
import type { builtInModelsByType } from '#core/channel-types/built-in-models.ts'
import type { UsableGroup } from '#core/groups.ts'
import type { PricingItem } from './view.ts'
import type { modelsPublicRouter, modelsUserRouter } from './router.ts'

type Api = {
  public: { models: CallerOf<typeof modelsPublicRouter> }
  user: { models: CallerOf<typeof modelsUserRouter> }
}

const bind = binder<Api>()

const toRestPricing = asObject<PricingItem>({
  model_name: asText('model'),
  quota_type: asOneOf(0, 1)(({ price }) => (price.kind === 'call' ? 1 : 0)),
  model_ratio: asNumber(({ price }) => price.modelRatio ?? 0),
  model_price: asNumber(({ price }) => price.modelPrice ?? 0),
  owner_by: always(''),
  completion_ratio: asNumber(({ price }) => price.completionRatio ?? 0),
  enable_groups: asList('groups'),
})

const groupsByName = ({ groups }: { groups: readonly UsableGroup[] }) =>
  groups.map((group) => [group.name, group] as const)

export const modelRoutes: RouteTable<Api> = {
  'GET /api/pricing': bind((api) => api.public.models.pricing, {
    userId: 'none',
    reply: asBarePage(toRestPricing),
    topLevel: asObject({
      group_ratio: asRecord(groupsByName, asNumber('ratio')),
      usable_group: asRecord(groupsByName, asText('description')),
    }),
  }),
  'GET /api/models': bind((api) => api.user.models.builtIn, {
    reply: asRecord(
      (types: ReturnType<typeof builtInModelsByType>) =>
        types.map(({ type, models }) => [String(type), models] as const),
      sameList,
    ),
  }),
  'GET /api/user/models': bind((api) => api.user.models.list, { reply: sameList }),
}
