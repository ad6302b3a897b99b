import { binder, type CallerOf, type RouteTable } from '#rest/route.ts'
import type { PricingItem } from './view.ts'
import type { modelsPublicRouter, modelsUserRouter } from './router.ts'

type Api = {
  public: { models: CallerOf<typeof modelsPublicRouter> }
  user: { models: CallerOf<typeof modelsUserRouter> }
}

const bind = binder<Api>()

const toRestPricing = ({ model, groups, price }: PricingItem) => ({
  model_name: model,
  quota_type: price.kind === 'call' ? 1 : 0,
  model_ratio: price.modelRatio ?? 0,
  model_price: price.modelPrice ?? 0,
  owner_by: '',
  completion_ratio: price.completionRatio ?? 0,
  enable_groups: groups,
})

export const modelRoutes: RouteTable<Api> = {
  'GET /api/pricing': bind((api) => api.public.models.pricing, {
    userId: 'none',
    reply: ({ items }) => items.map(toRestPricing),
    topLevel: ({ groups }) => ({
      group_ratio: Object.fromEntries(groups.map(({ name, ratio }) => [name, ratio])),
      usable_group: Object.fromEntries(groups.map(({ name, description }) => [name, description])),
    }),
  }),
  'GET /api/models': bind((api) => api.user.models.builtIn, {
    reply: (types) => Object.fromEntries(types.map(({ type, models }) => [String(type), models])),
  }),
  'GET /api/user/models': bind((api) => api.user.models.list),
}
