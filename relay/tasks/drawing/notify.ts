import { DomainError } from '#core/errors.ts'
import { roles } from '#core/roles.ts'
import { askAfterDrawings } from '#features/tasks/service/poll-drawings.ts'
import { findDrawing, findOwnDrawings } from '#features/tasks/service/store.ts'
import { admitGroup } from '#relay/request/admit.ts'
import type { RelayServices } from '#relay/request/call.ts'
import { readBody } from '#relay/request/read-body.ts'
import type { Exchange } from '#relay/limited-call.ts'
import { handleTask } from '../admit.ts'
import { reportDrawing } from '../report.ts'

/**
 * Takes notices about tasks. Nothing a notice says is believed, or any holder of a key could report a failure and be
 * refunded: one that names a known task makes its channel be asked at once. Notices of one task share a question.
 */
export function createNotify(services: RelayServices): (exchange: Exchange) => Promise<void> {
  const asking = new Map<number, { now: Promise<void>; next: Promise<void> | null }>()

  const start = (id: number): Promise<void> => {
    const now = askAfterDrawings(services, [id]).finally(() => {
      if (asking.get(id)?.next === null) asking.delete(id)
    })
    asking.set(id, { now, next: null })
    return now
  }
  /** What is asked already may miss what has just happened, so that one more question follows it, for all who wait. */
  const ask = (id: number): Promise<void> => {
    const running = asking.get(id)
    if (!running) return start(id)
    running.next ??= running.now.then(
      () => start(id),
      () => start(id),
    )
    return running.next
  }

  return (exchange) =>
    handleTask(services, exchange, {
      report: reportDrawing,
      answer: async ({ incoming, caller }) => {
        const { json } = await readBody(services, incoming)
        admitGroup(services, caller)
        const id = typeof json['id'] === 'string' || typeof json['id'] === 'number' ? String(json['id']) : ''
        const [own] = await findOwnDrawings(services, caller.user.id, [id])
        const task = own ?? (caller.user.role >= roles.admin ? await findDrawing(services, id) : null)
        if (!task) throw new DomainError('drawing.notified_unknown')
        await ask(task.id).catch((cause: unknown) => {
          throw new DomainError('drawing.notice_failed', {}, { cause })
        })
        exchange.res.status(200).end()
      },
    })
}
