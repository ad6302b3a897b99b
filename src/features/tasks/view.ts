import { withoutTrailingSlashes } from '#core/trailing.ts'
import type { DrawingTask } from '#db/entities/drawing-task.ts'
import type { MusicTask } from '#db/entities/music-task.ts'

/** What is shown beside a task that is not in its row. Owners are shown no channel. */
export type TaskContext = {
  username: string
  channel: { id: number; name: string } | null
}

export type DrawingContext = TaskContext & {
  /** Images are fetched through this site, so that the upstream's address stays unknown. */
  forwardsImages: boolean
  serverAddress: string
}

const imagePath = (mjId: string): string => `/mj/image/${encodeURIComponent(mjId)}`

/** Images have an address on this site; a task without a number has none. */
const hasImage = ({ imageUrl, mjId }: DrawingTask): boolean => imageUrl !== '' && mjId !== ''

export function toDrawingView(task: DrawingTask, context: DrawingContext) {
  const { username, channel, forwardsImages, serverAddress } = context
  return {
    id: task.id,
    code: task.code,
    userId: task.userId,
    username,
    channelId: channel?.id ?? 0,
    channelName: channel?.name ?? '',
    action: task.action,
    mode: task.mode,
    mjId: task.mjId,
    prompt: task.prompt,
    promptEn: task.promptEn,
    description: task.description,
    state: task.state,
    submittedAt: task.submittedAt ?? null,
    startedAt: task.startedAt ?? null,
    finishedAt: task.finishedAt ?? null,
    imageUrl:
      hasImage(task) && forwardsImages ? withoutTrailingSlashes(serverAddress) + imagePath(task.mjId) : task.imageUrl,
    /** The image on this site, for pages of it. */
    previewPath: hasImage(task) ? imagePath(task.mjId) : '',
    videoUrl: task.videoUrl,
    status: task.status,
    progress: task.progress,
    failReason: task.failReason,
    quota: task.quota,
    requestId: task.requestId,
    buttons: task.buttons ?? null,
    properties: task.properties ?? null,
  }
}
export type DrawingView = ReturnType<typeof toDrawingView>

export const toMusicTaskView = (task: MusicTask, { username, channel }: TaskContext) => ({
  id: task.id,
  createdAt: task.createdAt,
  updatedAt: task.updatedAt,
  taskId: task.taskId,
  platform: task.platform,
  userId: task.userId,
  username,
  channelId: channel?.id ?? 0,
  channelName: channel?.name ?? '',
  quota: task.quota,
  action: task.action,
  status: task.status,
  failReason: task.failReason,
  submittedAt: task.submittedAt ?? null,
  startedAt: task.startedAt ?? null,
  finishedAt: task.finishedAt ?? null,
  progress: task.progress,
  requestId: task.requestId,
  properties: task.properties ?? null,
  data: task.data ?? null,
})
export type MusicTaskView = ReturnType<typeof toMusicTaskView>
