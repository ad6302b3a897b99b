import { instant, integer, number, seconds, zeroBasedPage, listReply } from '#rest/read.ts'
import { binder, type CallerOf, type RestRequest, type RouteTable } from '#rest/route.ts'
import type { DrawingView, MusicTaskView } from './view.ts'
import type { tasksAdminRouter, tasksUserRouter } from './router.ts'

type Api = { user: { tasks: CallerOf<typeof tasksUserRouter> }; admin: { tasks: CallerOf<typeof tasksAdminRouter> } }

const bind = binder<Api>()

type Query = RestRequest['query']

const milliseconds = (value: Date | null): number => value?.getTime() ?? 0

/** Milliseconds since 1970; 0 and absent are open. */
const instantOfMs = (value: unknown): Date | undefined => {
  const given = number(value)
  return given === undefined || given <= 0 || given > 253_402_300_799_999 ? undefined : new Date(Math.floor(given))
}

/** A whole second is meant to its end. */
const endOf = (value: unknown): Date | undefined => {
  const second = instant(value)
  return second && new Date(second.getTime() + 999)
}

/** These lists carry JSON as text. */
const jsonText = (value: unknown): string => (value === null ? '' : JSON.stringify(value))

/** These documented lists tell an owner no channel. */
const toRestDrawing = (task: DrawingView) => ({
  id: task.id,
  code: task.code,
  user_id: task.userId,
  action: task.action,
  mj_id: task.mjId,
  prompt: task.prompt,
  prompt_en: task.promptEn,
  description: task.description,
  state: task.state,
  submit_time: milliseconds(task.submittedAt),
  start_time: milliseconds(task.startedAt),
  finish_time: milliseconds(task.finishedAt),
  image_url: task.imageUrl,
  status: task.status,
  progress: task.progress,
  fail_reason: task.failReason,
  channel_id: task.channelId,
  quota: task.quota,
  buttons: jsonText(task.buttons),
  properties: jsonText(task.properties),
})

const toRestMusicTask = (task: MusicTaskView) => ({
  id: task.id,
  created_at: seconds(task.createdAt),
  updated_at: seconds(task.updatedAt),
  task_id: task.taskId,
  platform: task.platform,
  user_id: task.userId,
  channel_id: task.channelId,
  quota: task.quota,
  action: task.action,
  status: task.status,
  fail_reason: task.failReason,
  submit_time: seconds(task.submittedAt),
  start_time: seconds(task.startedAt),
  finish_time: seconds(task.finishedAt),
  progress: task.progress,
  properties: task.properties ?? { input: '' },
  data: task.data,
})

const page = zeroBasedPage(null)
const channelOf = (query: Query) => Math.max(0, integer(query['channel_id']) ?? 0)

const drawingFilters = (query: Query) => ({
  mjId: query['mj_id'] ?? '',
  start: instantOfMs(query['start_timestamp']),
  end: instantOfMs(query['end_timestamp']),
})

const musicFilters = (query: Query) => ({
  taskId: query['task_id'] ?? '',
  platform: query['platform'] ?? '',
  action: query['action'] ?? '',
  status: query['status'] ?? '',
  start: instant(query['start_timestamp']),
  end: endOf(query['end_timestamp']),
})

export const taskRoutes: RouteTable<Api> = {
  'GET /api/mj/': bind((api) => api.admin.tasks.drawings, {
    input: (request) => ({
      ...drawingFilters(request.query),
      channelId: channelOf(request.query),
      ...page(request),
    }),
    reply: listReply(toRestDrawing),
  }),
  'GET /api/mj/self': bind((api) => api.user.tasks.drawings, {
    input: (request) => ({ ...drawingFilters(request.query), ...page(request) }),
    reply: listReply((task: DrawingView) => ({ ...toRestDrawing(task), channel_id: 0 })),
  }),
  'GET /api/task/': bind((api) => api.admin.tasks.musicTasks, {
    input: (request) => ({ ...musicFilters(request.query), channelId: channelOf(request.query), ...page(request) }),
    reply: listReply(toRestMusicTask),
  }),
  'GET /api/task/self': bind((api) => api.user.tasks.musicTasks, {
    input: (request) => ({ ...musicFilters(request.query), ...page(request) }),
    reply: listReply((task: MusicTaskView) => ({ ...toRestMusicTask(task), channel_id: 0 })),
  }),
}
