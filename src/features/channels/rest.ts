import {
  askedIntegers,
  boolean,
  csv,
  givenFlag,
  givenNumber,
  id,
  ids,
  integer,
  seconds,
  text,
  zeroBasedPage,
} from '#rest/read.ts'
import {
  always,
  asBarePage,
  asFlag,
  asInteger,
  asJsonText,
  asJsonTextOrNull,
  asListOf,
  asNames,
  asNumber,
  asObject,
  asOneOf,
  asSeconds,
  asText,
  asTextOrNull,
  noData,
  replyOfPart,
  sameList,
} from '#rest/reply.ts'
import { binder, type CallerOf, type RestRequest, type RouteTable } from '#rest/route.ts'
import { type CreateChannel, largestChannelPage, type UpdateChannel } from './schema.ts'
import type { ChannelView } from './view.ts'
import type { channelsAdminRouter } from './router.ts'

type Api = { admin: { channels: CallerOf<typeof channelsAdminRouter> } }

const bind = binder<Api>()

const toRestChannel = asObject<ChannelView & { key?: string }>({
  id: asInteger('id'),
  type: asInteger('type'),
  key: asText(({ key }) => key ?? ''),
  name: asText('name'),
  status: asInteger('status'),
  openai_organization: asTextOrNull('openaiOrganization'),
  test_model: asTextOrNull('testModel'),
  max_input_tokens: asInteger('maxInputTokens'),
  base_url: asTextOrNull('baseUrl'),
  other: asText('other'),
  models: asNames('models'),
  group: asNames('groups'),
  model_prefix: asTextOrNull('modelPrefix'),
  tag: asTextOrNull('tag'),
  model_mapping: asJsonTextOrNull('modelMapping'),
  status_code_mapping: asJsonTextOrNull('statusCodeMapping'),
  setting: asJsonTextOrNull('setting'),
  param_override: asJsonTextOrNull('paramOverride'),
  system_prompt: asTextOrNull('systemPrompt'),
  priority: asInteger('priority'),
  weight: asInteger('weight'),
  auto_ban: asOneOf(0, 1)(({ autoBan }) => (autoBan ? 1 : 0)),
  created_time: asSeconds('createdAt'),
  test_time: asSeconds('testedAt'),
  response_time: asInteger('responseTimeMs'),
  balance: asNumber('balance'),
  balance_currency: asTextOrNull('balanceCurrency'),
  balance_updated_time: asSeconds('balanceUpdatedAt'),
  used_quota: asInteger('usedQuota'),
  other_info: asJsonText(({ statusAt, statusReason }) =>
    statusAt ? JSON.stringify({ status_reason: statusReason, status_time: seconds(statusAt) }) : '',
  ),
})

const modelPermission = asObject<null>({
  id: always('modelperm-LwHkVFn8AcMItP432fKKDIKJ'),
  object: always('model_permission'),
  created: always(1_626_777_600),
  allow_create_engine: always(true),
  allow_sampling: always(true),
  allow_logprobs: always(true),
  allow_search_indices: always(false),
  allow_view: always(true),
  allow_fine_tuning: always(false),
  organization: always('*'),
  group: always(null),
  is_blocking: always(false),
})

/** An entry of the list of models as the OpenAI interface has it, with the permissions it once listed. */
const toRestModel = asObject<{ id: string; ownedBy: string }>({
  id: asText('id'),
  object: always('model'),
  created: always(1_626_777_600),
  owned_by: asText('ownedBy'),
  permission: replyOfPart(asListOf(modelPermission), () => [null]),
  root: asText('id'),
  parent: always(null),
})

type Body = RestRequest['body']

const pathId = ({ params }: RestRequest) => ({ id: id(params['id']) })
const sortOf = (value: unknown) => (boolean(value) ? ('id' as const) : ('priority' as const))
/** Clients send a name list as text, some as a list. */
const names = (value: unknown): string[] => csv(Array.isArray(value) ? value.join(',') : value)
const weightOf = (body: Body): number | undefined => {
  const weight = givenNumber(body, 'weight')
  return weight === undefined ? undefined : Math.max(0, weight)
}
const autoBanOf = (body: Body): boolean | undefined => {
  const value = body['auto_ban']
  return typeof value === 'number' ? value !== 0 : givenFlag(body, 'auto_ban')
}

/** Fields that may be emptied; absent ones stay as they are. */
const optionalFields = (body: Body) => ({
  openaiOrganization: text(body['openai_organization']),
  testModel: text(body['test_model']),
  maxInputTokens: givenNumber(body, 'max_input_tokens'),
  baseUrl: text(body['base_url']),
  modelPrefix: text(body['model_prefix']),
  tag: text(body['tag']),
  modelMapping: text(body['model_mapping']),
  statusCodeMapping: text(body['status_code_mapping']),
  setting: text(body['setting']),
  paramOverride: text(body['param_override']),
  systemPrompt: text(body['system_prompt']),
  priority: givenNumber(body, 'priority'),
  weight: weightOf(body),
  autoBan: autoBanOf(body),
})

const filled = <Value extends { length: number }>(value: Value | undefined): Value | undefined =>
  value === undefined || value.length === 0 ? undefined : value

const toCreate = ({ body }: RestRequest): Parameters<typeof asCreate>[0] => ({
  ...optionalFields(body),
  name: text(body['name']) ?? '',
  type: givenNumber(body, 'type') ?? 1,
  key: text(body['key']) ?? '',
  models: names(body['models']),
  groups: filled(names(body['group'])),
  other: text(body['other']),
  status: statusOf(body),
})
const asCreate = (input: Partial<CreateChannel> & Pick<CreateChannel, 'name' | 'type' | 'key' | 'models'>) => input

/** 0 is left out; what is no status is for the schema to refuse. */
const statusOf = (body: Body) => (givenNumber(body, 'status') || undefined) as UpdateChannel['status']

/** Plain text fields sent empty stay as they are. */
const toUpdate = ({ body }: RestRequest): UpdateChannel => ({
  id: id(body['id']),
  ...optionalFields(body),
  name: filled(text(body['name'])?.trim()),
  type: givenNumber(body, 'type') || undefined,
  key: filled(text(body['key'])),
  models: filled(names(body['models'])),
  groups: filled(names(body['group'])),
  other: filled(text(body['other'])),
  status: statusOf(body),
})

const tagOf = ({ body }: RestRequest) => ({ tag: text(body['tag']) ?? '' })
const count = asInteger<{ count: number }>('count')

export const channelRoutes: RouteTable<Api> = {
  'GET /api/channel/': bind((api) => api.admin.channels.list, {
    input: (request) => ({
      ...zeroBasedPage('page_size', largestChannelPage)(request),
      sort: sortOf(request.query['id_sort']),
      tagMode: boolean(request.query['tag_mode']) ?? false,
    }),
    reply: asBarePage(toRestChannel),
  }),
  'GET /api/channel/search': bind((api) => api.admin.channels.search, {
    input: ({ query }) => ({
      keyword: query['keyword'] ?? '',
      model: query['model'] ?? '',
      group: query['group'] === 'null' ? '' : (query['group'] ?? ''),
      types: askedIntegers(query, 'types'),
      statuses: askedIntegers(query, 'statuses'),
      tags: csv(query['tags']),
      sort: sortOf(query['id_sort']),
      tagMode: boolean(query['tag_mode']) ?? false,
    }),
    reply: asListOf(toRestChannel),
  }),
  'GET /api/channel/models': bind((api) => api.admin.channels.models, { reply: asListOf(toRestModel) }),
  'GET /api/channel/models_enabled': bind((api) => api.admin.channels.modelsEnabled, {
    reply: sameList,
  }),
  'GET /api/channel/tags': bind((api) => api.admin.channels.tags.list, {
    reply: sameList,
    input: ({ query }) => ({
      offset: Math.max(0, integer(query['offset']) ?? 0),
      limit: Math.min(Math.max(1, integer(query['limit']) ?? 200), 1000),
    }),
  }),
  'GET /api/channel/fetch_models/:id': bind((api) => api.admin.channels.fetchModelsOf, {
    reply: sameList,
    input: pathId,
    status: { 'channel.fetch_models_failed': 200 },
  }),
  'POST /api/channel/fetch_models': bind((api) => api.admin.channels.fetchModels, {
    reply: sameList,
    // What is missing or malformed is refused by the procedure's own schema.
    input: ({ body }) => ({
      id: id(body['id']) || undefined,
      type: givenNumber(body, 'type') as number,
      baseUrl: text(body['base_url']) ?? '',
      key: text(body['key']) ?? '',
    }),
    status: { 'input.invalid': 400, 'input.unreadable': 400 },
  }),
  'GET /api/channel/test/:id': bind((api) => api.admin.channels.probe, {
    status: { 'channel.test_unpriced': 200 },
    input: (request) => ({ ...pathId(request), model: request.query['model'] ?? '' }),
    reply: noData,
    message: ({ message }) => message,
    topLevel: asObject<{ success: boolean; seconds: number }>({
      success: asFlag('success'),
      time: asNumber('seconds'),
    }),
    topLevelOfRefusal: { time: 0 },
  }),
  'GET /api/channel/test': bind((api) => api.admin.channels.testAll, { reply: noData }),
  'GET /api/channel/update_balance': bind((api) => api.admin.channels.updateBalances, { reply: noData }),
  'GET /api/channel/update_balance/:id': bind((api) => api.admin.channels.updateBalance, {
    input: pathId,
    reply: noData,
    topLevel: asObject<{ balance: number; currency: string | null }>({
      balance: asNumber('balance'),
      balance_currency: asTextOrNull('currency'),
    }),
  }),
  'GET /api/channel/:id': bind((api) => api.admin.channels.get, { input: pathId, reply: toRestChannel }),
  'POST /api/channel/': bind((api) => api.admin.channels.create, { input: toCreate, reply: noData }),
  'PUT /api/channel/': bind((api) => api.admin.channels.update, { input: toUpdate, reply: toRestChannel }),
  'DELETE /api/channel/disabled': bind((api) => api.admin.channels.removeDisabled, { reply: count }),
  'DELETE /api/channel/:id': bind((api) => api.admin.channels.remove, { input: pathId, reply: noData }),
  'POST /api/channel/batch': bind((api) => api.admin.channels.removeMany, {
    input: ({ body }) => ({ ids: ids(body['ids']) }),
    reply: asInteger((_output, { body }) => ids(body['ids']).length),
  }),
  'POST /api/channel/batch/tag': bind((api) => api.admin.channels.setTag, {
    input: ({ body }) => ({ ids: ids(body['ids']), tag: text(body['tag']) ?? '' }),
    reply: count,
  }),
  'POST /api/channel/fix': bind((api) => api.admin.channels.fixAbilities, { reply: count }),
  'PUT /api/channel/tag': bind((api) => api.admin.channels.tags.edit, {
    input: ({ body }) => ({
      tag: text(body['tag']) ?? '',
      newTag: body['new_tag'] === null ? undefined : text(body['new_tag']),
      modelMapping: filled(text(body['model_mapping'])),
      models: filled(names(body['models'])),
      groups: filled(names(body['groups'])),
      priority: givenNumber(body, 'priority'),
      weight: weightOf(body),
    }),
    reply: noData,
  }),
  'POST /api/channel/tag/enabled': bind((api) => api.admin.channels.tags.enable, { input: tagOf, reply: noData }),
  'POST /api/channel/tag/disabled': bind((api) => api.admin.channels.tags.disable, { input: tagOf, reply: noData }),
}
