import { askedEnd, askedInstant, askedInteger, askedNumber, lastSecond, zeroBasedPage } from '#rest/read.ts'
import {
  always,
  asAnything,
  asBarePage,
  asInteger,
  asJsonText,
  asMilliseconds,
  asObject,
  asSeconds,
  asText,
  type ReplyFields,
} from '#rest/reply.ts'
import { binder, type CallerOf, type RestRequest, type RouteTable } from '#rest/route.ts'
import type { DrawingView, MusicTaskView } from './view.ts'
import type { tasksAdminRouter, tasksUserRouter } from './router.ts'

type Api = { user: { tasks: CallerOf<typeof tasksUserRouter> }; admin: { tasks: CallerOf<typeof tasksAdminRouter> } }

const bind = binder<Api>()

type Query = RestRequest['query']

/** Milliseconds since 1970; 0 and absent are open. */
const askedMs = (query: Query, name: string): Date | undefined => {
  const given = askedNumber(query, name) ?? 0
  return given <= 0 ? undefined : new Date(Math.min(Math.floor(given), lastSecond * 1000 + 999))
}

/** These lists carry JSON as text. */
const jsonText = (value: unknown): string => (value === null ? '' : JSON.stringify(value))

const drawing: ReplyFields<DrawingView> = {
  id: asInteger('id'),
  code: asInteger('code'),
  user_id: asInteger('userId'),
  action: asText('action'),
  mj_id: asText('mjId'),
  prompt: asText('prompt'),
  prompt_en: asText('promptEn'),
  description: asText('description'),
  state: asText('state'),
  submit_time: asMilliseconds('submittedAt'),
  start_time: asMilliseconds('startedAt'),
  finish_time: asMilliseconds('finishedAt'),
  image_url: asText('imageUrl'),
  status: asText('status'),
  progress: asText('progress'),
  fail_reason: asText('failReason'),
  channel_id: asInteger('channelId'),
  quota: asInteger('quota'),
  buttons: asJsonText(({ buttons }) => jsonText(buttons)),
  properties: asJsonText(({ properties }) => jsonText(properties)),
}

const musicTask: ReplyFields<MusicTaskView> = {
  id: asInteger('id'),
  created_at: asSeconds('createdAt'),
  updated_at: asSeconds('updatedAt'),
  task_id: asText('taskId'),
  platform: asText('platform'),
  user_id: asInteger('userId'),
  channel_id: asInteger('channelId'),
  quota: asInteger('quota'),
  action: asText('action'),
  status: asText('status'),
  fail_reason: asText('failReason'),
  submit_time: asSeconds('submittedAt'),
  start_time: asSeconds('startedAt'),
  finish_time: asSeconds('finishedAt'),
  progress: asText('progress'),
  properties: asAnything(({ properties }) => properties ?? { input: '' }),
  data: asAnything('data'),
}

/** These documented lists tell an owner no channel. */
const withoutChannel = { channel_id: always(0) }

const page = zeroBasedPage(null)
const channelOf = (query: Query) => askedInteger(query, 'channel_id') ?? 0

const drawingFilters = (query: Query) => ({
  mjId: query['mj_id'] ?? '',
  start: askedMs(query, 'start_timestamp'),
  end: askedMs(query, 'end_timestamp'),
})

const musicFilters = (query: Query) => ({
  taskId: query['task_id'] ?? '',
  platform: query['platform'] ?? '',
  action: query['action'] ?? '',
  status: query['status'] ?? '',
  start: askedInstant(query, 'start_timestamp'),
  end: askedEnd(query, 'end_timestamp'),
})

export const taskRoutes: RouteTable<Api> = {
  'GET /api/mj/': bind((api) => api.admin.tasks.drawings, {
    input: (request) => ({
      ...drawingFilters(request.query),
      channelId: channelOf(request.query),
      ...page(request),
    }),
    reply: asBarePage(asObject(drawing)),
  }),
  'GET /api/mj/self': bind((api) => api.user.tasks.drawings, {
    input: (request) => ({ ...drawingFilters(request.query), ...page(request) }),
    reply: asBarePage(asObject({ ...drawing, ...withoutChannel })),
  }),
  'GET /api/task/': bind((api) => api.admin.tasks.musicTasks, {
    input: (request) => ({ ...musicFilters(request.query), channelId: channelOf(request.query), ...page(request) }),
    reply: asBarePage(asObject(musicTask)),
  }),
  'GET /api/task/self': bind((api) => api.user.tasks.musicTasks, {
    input: (request) => ({ ...musicFilters(request.query), ...page(request) }),
    reply: asBarePage(asObject({ ...musicTask, ...withoutChannel })),
  }),
}
