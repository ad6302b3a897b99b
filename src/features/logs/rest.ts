import { askedEnd, askedInstant, askedInteger, instant, emptyWords, pageQuery, pageQueryUpTo } from '#rest/read.ts'
import {
  asBarePage,
  asFlag,
  asInteger,
  asJsonText,
  asListOf,
  asObject,
  asPage,
  asSeconds,
  asText,
  replyOfPart,
} from '#rest/reply.ts'
import { binder, type CallerOf, type RestRequest, type RouteTable } from '#rest/route.ts'
import { clientFigures } from './client-figures.ts'
import { largestLogPage } from './schema.ts'
import type { LogStat } from './stat.ts'
import type { LogView } from './view.ts'
import type { logsAdminRouter, logsUserRouter } from './router.ts'

type Api = { user: { logs: CallerOf<typeof logsUserRouter> }; admin: { logs: CallerOf<typeof logsAdminRouter> } }

const bind = binder<Api>()

const rowFields = asObject<LogView>({
  id: asInteger('id'),
  user_id: asInteger('userId'),
  created_at: asSeconds('createdAt'),
  type: asInteger('type'),
  content: asText('content'),
  username: asText('username'),
  token_name: asText('tokenName'),
  token_id: asInteger('tokenId'),
  model_name: asText('modelName'),
  quota: asInteger('quota'),
  prompt_tokens: asInteger('promptTokens'),
  completion_tokens: asInteger('completionTokens'),
  use_time: asInteger(({ useTimeMs }) => Math.floor(useTimeMs / 1000)),
  is_stream: asFlag('isStream'),
  channel: asInteger('channelId'),
  channel_name: asText('channelName'),
  group: asText('group'),
  client_ip: asText('clientIp'),
  other: asJsonText(({ other }) => (other ? JSON.stringify(other) : '')),
})
const toRestLog = replyOfPart(rowFields, clientFigures)

type Query = RestRequest['query']

/** A number is an id, any other word a name: it is not left out as if nothing had been asked. */
function channelOf(value: string | undefined): { channelId?: number; channelName?: string } {
  const name = value?.trim() ?? ''
  if (emptyWords.has(name)) return {}
  return /^-?\d+$/.test(name) ? { channelId: Number(name) } : { channelName: name }
}

const ownFilters = (query: Query) => ({
  type: askedInteger(query, 'type') ?? 0,
  tokenName: query['token_name'] ?? '',
  modelName: query['model_name'] ?? '',
  group: query['group'] ?? '',
  session: query['session'] ?? '',
  agent: query['agent'] ?? '',
  project: query['project'] ?? '',
  start: askedInstant(query, 'start_timestamp'),
  end: askedEnd(query, 'end_timestamp'),
})

const filters = (query: Query) => ({
  ...ownFilters(query),
  username: query['username'] ?? '',
  ...channelOf(query['channel']),
})

const keyword = ({ query }: RestRequest) => ({ keyword: query['keyword'] ?? '' })
const list = asListOf(toRestLog)
const documentedStat = asObject<LogStat>({ quota: asInteger('quota'), rpm: asInteger('rpm'), tpm: asInteger('tpm') })

export const logRoutes: RouteTable<Api> = {
  'GET /api/log/': bind((api) => api.admin.logs.list, {
    input: (request) => ({ ...filters(request.query), ...pageQueryUpTo(largestLogPage)(request), isDocumented: true }),
    reply: asPage(toRestLog),
  }),
  'GET /api/log/self': bind((api) => api.user.logs.list, {
    input: (request) => ({ ...ownFilters(request.query), ...pageQuery(request), isDocumented: true }),
    reply: asPage(toRestLog),
  }),
  'GET /api/log/stat': bind((api) => api.admin.logs.stat, {
    input: ({ query }) => filters(query),
    reply: documentedStat,
  }),
  'GET /api/log/self/stat': bind((api) => api.user.logs.stat, {
    input: ({ query }) => ({ ...ownFilters(query), channelId: askedInteger(query, 'channel') ?? 0 }),
    reply: documentedStat,
  }),
  'GET /api/log/search': bind((api) => api.admin.logs.search, { input: keyword, reply: list }),
  'GET /api/log/self/search': bind((api) => api.user.logs.search, { input: keyword, reply: list }),
  'GET /api/log/token': bind((api) => api.user.logs.byKey, {
    anyOrigin: true,
    input: (request) => ({ key: request.query['key'] ?? '', page: pageQuery(request).page }),
    reply: asBarePage(toRestLog),
  }),
  'DELETE /api/log/': bind((api) => api.admin.logs.clear, {
    input: ({ query }) => ({ before: instant(query['target_timestamp']) }),
    reply: asInteger('count'),
  }),
}
