import { textKindOf } from '#core/options/codec.ts'
import { isOptionKey, type OptionKey, optionOf } from '#core/options/registry/index.ts'
import { givenFlag, givenNumber } from '#rest/read.ts'
import { asInteger, asListOf, asObject, asRecord, asText, noData } from '#rest/reply.ts'
import { binder, type CallerOf, type RouteTable } from '#rest/route.ts'
import type { ModelMapping } from '#core/options/model-mapping.ts'
import type { UpdateModelMapping } from './schema.ts'
import type { optionsAdminRouter } from './router.ts'

type Api = { admin: { options: CallerOf<typeof optionsAdminRouter> } }

const bind = binder<Api>()

/** Clients send switches and numbers as themselves too. */
const optionText = (value: unknown): string => {
  if (value === undefined || value === null) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** A switch in the words of scripts; what is none of them is refused, for it would be stored as "off". */
function changeOf(body: Readonly<Record<string, unknown>>) {
  const key = optionText(body['key'])
  const isSwitch = isOptionKey(key) && textKindOf(optionOf(key)) === 'boolean'
  return { key, value: isSwitch ? String(givenFlag(body, 'value') ?? false) : optionText(body['value']) }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Ranks as clients write numbers; whatever is missing or malformed is refused by the procedure's own schema. */
const mappingOf = (mapping: unknown): unknown =>
  isObject(mapping)
    ? Object.fromEntries(
        Object.entries(mapping).map(([name, entries]) => [
          name,
          Array.isArray(entries) ? entries.map(entryOf) : entries,
        ]),
      )
    : mapping

const entryOf = (entry: unknown): unknown =>
  isObject(entry)
    ? {
        ...entry,
        ...('priorities' in entry ? { priorities: givenNumber(entry, 'priorities') ?? 0 } : {}),
        weight: givenNumber(entry, 'weight') ?? 0,
      }
    : entry

/** A secret does not follow to another address. */
const retypeNotice = (cleared: OptionKey[]): string =>
  cleared.length === 0 ? '' : `地址已更改，请重新填写${cleared.map((key) => optionOf(key).label).join('、')}`

const toRestMapping = asObject<{ mapping: ModelMapping }>({
  mapping: asRecord(
    ({ mapping }) => Object.entries(mapping),
    asListOf(
      asObject<ModelMapping[string][number]>({
        model: asText('model'),
        priorities: asInteger('priorities'),
        weight: asInteger('weight'),
      }),
    ),
  ),
})

export const optionRoutes: RouteTable<Api> = {
  'GET /api/option/': bind((api) => api.admin.options.texts, {
    reply: asListOf(asObject<{ key: string; value: string }>({ key: asText('key'), value: asText('value') })),
  }),
  'PUT /api/option/': bind((api) => api.admin.options.update, {
    input: ({ body }) => changeOf(body),
    reply: noData,
    message: ({ cleared }) => retypeNotice(cleared),
    status: { 'input.unreadable': 400 },
  }),
  'POST /api/option/rest_model_ratio': bind((api) => api.admin.options.resetModelRatio, {
    reply: noData,
    message: '重置模型倍率成功',
  }),
  'GET /api/model_mapping/': bind((api) => api.admin.options.mapping.get, { reply: toRestMapping }),
  'PUT /api/model_mapping/': bind((api) => api.admin.options.mapping.update, {
    input: ({ body }) => ({ mapping: mappingOf(body['mapping']) }) as UpdateModelMapping,
    reply: toRestMapping,
    message: '保存成功',
    status: { 'input.invalid': 400, 'input.unreadable': 400 },
  }),
  'POST /api/model_mapping/reload': bind((api) => api.admin.options.mapping.reload, {
    reply: noData,
    message: '模型映射已重新加载',
  }),
}
