import type { TaskCall } from '../call.ts'
import type { TaskPlatform } from '#core/tasks/platforms.ts'
import type { MusicRequest } from '#relay/dialects/music/request.ts'
import type { MusicTask } from '#db/entities/music-task.ts'

/** One admitted submission. */
export type MusicCall = TaskCall & {
  platform: TaskPlatform
  request: MusicRequest
  /** The caller's body with the platform's presets. */
  sent: Record<string, unknown>
  /** The task that this one continues. */
  continued: MusicTask | null
}
