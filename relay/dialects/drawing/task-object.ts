import { withoutTrailingSlashes } from '#core/trailing.ts'

/** A stored task, as far as callers see it. */
export type StoredDrawing = {
  mjId: string
  action: string
  customId: string
  botType: string
  prompt: string
  promptEn: string
  description: string
  state: string
  submittedAt: Date | null
  startedAt: Date | null
  finishedAt: Date | null
  imageUrl: string
  videoUrl: string
  videoUrls: unknown
  status: string
  progress: string
  failReason: string
  buttons: unknown
  properties: unknown
}

const milliseconds = (instant: Date | null): number => instant?.getTime() ?? 0

/** A task as its callers read it; `imageUrl` is the address they may have. */
export const taskObject = (task: StoredDrawing, imageUrl: string) => ({
  id: task.mjId,
  action: task.action,
  customId: task.customId,
  botType: task.botType,
  prompt: task.prompt,
  promptEn: task.promptEn,
  description: task.description,
  state: task.state,
  submitTime: milliseconds(task.submittedAt),
  startTime: milliseconds(task.startedAt),
  finishTime: milliseconds(task.finishedAt),
  imageUrl,
  videoUrl: task.videoUrl,
  videoUrls: Array.isArray(task.videoUrls) ? task.videoUrls : [],
  status: task.status,
  progress: task.progress,
  failReason: task.failReason,
  buttons: Array.isArray(task.buttons) ? task.buttons : [],
  maskBase64: '',
  properties: task.properties ?? { finalPrompt: '', finalZhPrompt: '' },
})

/** Where callers get an image: here, with a mark that defeats caches until it is final. */
export function forwardedImageUrl(
  task: Pick<StoredDrawing, 'mjId' | 'status'>,
  given: { serverAddress: string; nanoseconds: string },
): string {
  const address = `${withoutTrailingSlashes(given.serverAddress)}/mj/image/${encodeURIComponent(task.mjId)}`
  return task.status === 'SUCCESS' ? address : `${address}?rand=${given.nanoseconds}`
}
