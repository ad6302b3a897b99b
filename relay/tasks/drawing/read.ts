import { DomainError } from '#core/errors.ts'
import { submitCode } from '#core/tasks/drawing.ts'
import { withoutUpstreamWords } from '#core/tasks/fail-reason.ts'
import type { DrawingTask } from '#db/entities/drawing-task.ts'
import { findOwnDrawings } from '#features/tasks/service/store.ts'
import { readSubmitReply } from '#relay/dialects/drawing/reply.ts'
import { forwardedImageUrl, taskObject } from '#relay/dialects/drawing/task-object.ts'
import { admitGroup } from '#relay/request/admit.ts'
import { maskSecrets } from '#core/masking/mask-secrets.ts'
import { hidesFailures } from '#core/options/hides-failures.ts'
import { attemptSecrets } from '#relay/attempt/upstream-channel.ts'
import type { Caller, Incoming, RelayServices } from '#relay/request/call.ts'
import { originOf } from '#relay/request/origin.ts'
import { readBody } from '#relay/request/read-body.ts'
import { TransportError } from '#relay/transport/transport-error.ts'
import type { Exchange } from '#relay/limited-call.ts'
import { handleTask } from '../admit.ts'
import { askService } from '../ask.ts'
import { idsOf } from '../ids.ts'
import { placeOfTask } from '../place.ts'
import { reportDrawing } from '../report.ts'
import { shownRefusal } from './refusal.ts'

/** A task of the caller's own. */
async function ownDrawing(services: RelayServices, caller: Caller, id: string): Promise<DrawingTask> {
  admitGroup(services, caller)
  const [task] = await findOwnDrawings(services, caller.user.id, [id])
  if (!task) throw new DomainError('drawing.task_unknown')
  return task
}

const seedLimitMs = 30_000

function shown(services: RelayServices, incoming: Pick<Incoming, 'req'>, task: DrawingTask) {
  const forwards = services.options.get('MjForwardUrlEnabled') && task.imageUrl !== ''
  const given = {
    serverAddress: services.options.get('ServerAddress') || originOf(services, incoming),
    nanoseconds: String(BigInt(services.ambient.now().getTime()) * 1_000_000n),
  }
  const seen = hidesFailures(services) ? withoutUpstreamWords(task) : task
  return taskObject(
    {
      ...seen,
      submittedAt: task.submittedAt ?? null,
      startedAt: task.startedAt ?? null,
      finishedAt: task.finishedAt ?? null,
    },
    forwards ? forwardedImageUrl(task, given) : task.imageUrl,
  )
}

/** One of the caller's own tasks. */
export const fetchDrawing = (services: RelayServices, id: string, exchange: Exchange): Promise<void> =>
  handleTask(services, exchange, {
    report: reportDrawing,
    answer: async ({ incoming, caller }) => {
      const task = await ownDrawing(services, caller, id)
      exchange.res.json(shown(services, incoming, task))
    },
  })

/** Several of the caller's own tasks; what is not there is left out. */
export const listDrawings = (services: RelayServices, exchange: Exchange): Promise<void> =>
  handleTask(services, exchange, {
    report: reportDrawing,
    answer: async ({ incoming, caller }) => {
      const { json } = await readBody(services, incoming)
      admitGroup(services, caller)
      const tasks = await findOwnDrawings(services, caller.user.id, idsOf(json['ids']))
      exchange.res.json(tasks.map((task) => shown(services, incoming, task)))
    },
  })

/** The seed of an image, which only the service that drew it knows. */
export const fetchSeed = (services: RelayServices, id: string, exchange: Exchange): Promise<void> =>
  handleTask(services, exchange, {
    report: reportDrawing,
    answer: async ({ incoming, caller }) => {
      const task = await ownDrawing(services, caller, id)
      const place = placeOfTask(services, 'drawing', task)
      const reply = await askService(services, place, {
        method: 'GET',
        path: `/mj/task/${encodeURIComponent(id)}/image-seed`,
        headers: { 'mj-api-secret': place.key.value },
        timeoutMs: seedLimitMs,
      }).catch((cause: unknown) => {
        throw cause instanceof TransportError ? new DomainError('drawing.request_failed', {}, { cause }) : cause
      })
      if (reply.text.trim() === '') throw new DomainError('drawing.reply_empty')
      const { code, text } = readSubmitReply(reply) ?? { code: submitCode.failed, text: reply.text }
      const isSeed = code === submitCode.accepted
      const shownText = isSeed
        ? maskSecrets(text, attemptSecrets(place))
        : shownRefusal(services, { incoming, place }, { status: reply.status, code, text })
      exchange.res.status(reply.status).setHeader('content-type', 'application/json; charset=utf-8').end(shownText)
    },
  })
