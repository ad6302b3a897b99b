import { DomainError, toDomainError } from '#core/errors.ts'
import { taskPriceOf } from '#core/pricing/price-of.ts'
import { taskModel } from '#core/pricing/tasks.ts'
import type { TaskPlatform } from '#core/tasks/platforms.ts'
import type { MusicTask } from '#db/entities/music-task.ts'
import { findOwnMusicTasks } from '#features/tasks/service/store.ts'
import { type MusicRequest, readMusic } from '#relay/dialects/music/request.ts'
import { attemptAll } from '#relay/attempt/attempts.ts'
import type { RelayServices } from '#relay/request/call.ts'
import { groupTerms } from '#relay/billing/price-call.ts'
import { type ReadBody, readBody } from '#relay/request/read-body.ts'
import { screenTexts } from '#relay/request/screen.ts'
import type { Exchange, Identified } from '#relay/limited-call.ts'
import { admitTask, handleTask } from '../admit.ts'
import { quotaOf } from '../charge.ts'
import { onlyThere, placeOfTask } from '../place.ts'
import { reportMusic } from '../report.ts'
import type { MusicCall } from './call.ts'
import { forwardMusic } from './forward.ts'

type Route = { platform: TaskPlatform; action: string }

/** One submission of a task, from arrival to the upstream's answer. */
export const submitMusicTask = (services: RelayServices, route: Route, exchange: Exchange): Promise<void> =>
  handleTask(services, exchange, {
    report: reportMusic,
    answer: async (identified) => {
      const call = await admitMusicTask(services, route, identified)
      const { continued, model } = call
      await attemptAll(services, call, {
        amountOf: () => quotaOf(call),
        lasting: true,
        forward: (plan) => forwardMusic(services, call, plan),
        priceOf: () => call.terms,
        route: 'task',
        ...(continued ? { selection: onlyThere(placeOfTask(services, 'music', continued), model) } : {}),
      })
    },
  })

async function admitMusicTask(services: RelayServices, route: Route, identified: Identified): Promise<MusicCall> {
  const { platform } = route
  const { incoming, caller } = identified
  const action = route.action.toUpperCase()
  const body = await readJson(services, identified)
  if (!platform.actions.includes(action)) throw new DomainError('music.action_invalid')
  const { request, missing, sent } = readMusic(action, body.json)
  const model = taskModel(platform.id, action)
  const core = admitTask(services, { incoming, caller }, { body, names: [model] })
  if (missing) throw toDomainError({ code: missing })
  await screenTexts(services, core, { texts: request.texts, refusal: 'relay.sensitive_words' })
  return {
    ...core,
    platform,
    action,
    terms: {
      price: taskPriceOf(services.options, { model, mode: '' }),
      ...groupTerms(services, { group: core.group, user: caller.user }),
    },
    request,
    sent,
    continued: await findContinued(services, { userId: caller.user.id, platform: platform.id }, request),
  }
}

async function readJson(services: RelayServices, { incoming }: Identified): Promise<ReadBody> {
  return readBody(services, incoming).catch((error: unknown) => {
    const isBody = error instanceof DomainError && error.code === 'relay.body_invalid'
    throw isBody ? new DomainError('music.body_invalid', {}, { cause: error }) : error
  })
}

async function findContinued(
  services: RelayServices,
  owner: { userId: number; platform: string },
  request: MusicRequest,
): Promise<MusicTask | null> {
  if (request.taskId === '') return null
  const [task] = await findOwnMusicTasks(services, owner, [request.taskId])
  if (!task) throw new DomainError('music.task_unknown')
  return task
}
