import { DomainError } from '#core/errors.ts'
import type { DrawingTask } from '#db/entities/drawing-task.ts'
import { findOwnDrawings } from '#features/tasks/service/store.ts'
import type { DrawingRequest } from '#relay/dialects/drawing/request.ts'
import type { RelayServices } from '#relay/request/call.ts'

/**
 * The task that a submission follows; null for a first one.
 * @throws {DomainError} when the caller has no such task, or it cannot be followed yet.
 */
export async function findFollowed(
  services: RelayServices,
  userId: number,
  request: DrawingRequest,
): Promise<DrawingTask | null> {
  if (request.taskId === '') return null
  const [task] = await findOwnDrawings(services, userId, [request.taskId])
  if (!task) throw new DomainError('drawing.task_not_found')
  const wantsSuccess = services.options.get('MjActionCheckSuccessEnabled') && request.submission !== 'modal'
  if (wantsSuccess && task.status !== 'SUCCESS') throw new DomainError('drawing.task_unfinished')
  return task
}
