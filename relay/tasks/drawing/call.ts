import type { TaskCall } from '../call.ts'
import type { DrawingAction } from '#core/tasks/drawing.ts'
import type { DrawingRequest } from '#relay/dialects/drawing/request.ts'
import type { DrawingMode } from '#core/tasks/drawing.ts'
import type { DrawingTask } from '#db/entities/drawing-task.ts'

/** One admitted submission. */
export type DrawingCall = TaskCall & {
  action: DrawingAction
  request: DrawingRequest
  mode: DrawingMode | ''
  /** The task that this one follows. */
  followed: DrawingTask | null
}
