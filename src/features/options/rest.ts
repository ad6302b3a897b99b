import { type OptionKey, optionOf } from '#core/options/registry/index.ts'
import { binder, type CallerOf, noData, type RouteTable } from '#rest/route.ts'
import type { UpdateModelMapping } from './schema.ts'
import type { optionsAdminRouter } from './router.ts'

type Api = { admin: { options: CallerOf<typeof optionsAdminRouter> } }

const bind = binder<Api>()

/** Clients send switches and numbers as themselves too. */
const optionText = (value: unknown): string => {
  if (value === undefined || value === null) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** A secret does not follow to another address. */
const retypeNotice = (cleared: OptionKey[]): string =>
  cleared.length === 0 ? '' : `地址已更改，请重新填写${cleared.map((key) => optionOf(key).label).join('、')}`

export const optionRoutes: RouteTable<Api> = {
  'GET /api/option/': bind((api) => api.admin.options.texts),
  'PUT /api/option/': bind((api) => api.admin.options.update, {
    input: ({ body }) => ({ key: optionText(body['key']), value: optionText(body['value']) }),
    reply: noData,
    message: ({ cleared }) => retypeNotice(cleared),
    status: { 'input.unreadable': 400 },
  }),
  'POST /api/option/rest_model_ratio': bind((api) => api.admin.options.resetModelRatio, {
    reply: noData,
    message: '重置模型倍率成功',
  }),
  'GET /api/model_mapping/': bind((api) => api.admin.options.mapping.get),
  'PUT /api/model_mapping/': bind((api) => api.admin.options.mapping.update, {
    // Whatever is missing or malformed is refused by the procedure's own schema.
    input: ({ body }) => ({ mapping: body['mapping'] }) as UpdateModelMapping,
    message: '保存成功',
    status: { 'input.invalid': 400, 'input.unreadable': 400 },
  }),
  'POST /api/model_mapping/reload': bind((api) => api.admin.options.mapping.reload, {
    reply: noData,
    message: '模型映射已重新加载',
  }),
}
