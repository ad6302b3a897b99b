import { DomainError } from '#core/errors.ts'
import { musicWithoutUpstreamWords } from '#core/tasks/fail-reason.ts'
import type { TaskPlatform } from '#core/tasks/platforms.ts'
import type { MusicTask } from '#db/entities/music-task.ts'
import { findOwnMusicTasks } from '#features/tasks/service/store.ts'
import { musicTaskObject } from '#relay/dialects/music/task-object.ts'
import { hidesFailures } from '#core/options/hides-failures.ts'
import { admitGroup } from '#relay/request/admit.ts'
import type { RelayServices } from '#relay/request/call.ts'
import { readBody } from '#relay/request/read-body.ts'
import type { Exchange } from '#relay/limited-call.ts'
import { handleTask } from '../admit.ts'
import { idsOf } from '../ids.ts'
import { reportMusic } from '../report.ts'

const shown = (services: RelayServices, task: MusicTask) =>
  musicTaskObject({
    ...(hidesFailures(services) ? musicWithoutUpstreamWords(task) : task),
    submittedAt: task.submittedAt ?? null,
    startedAt: task.startedAt ?? null,
    finishedAt: task.finishedAt ?? null,
  })

const success = (data: unknown) => ({ code: 'success', message: '', data })

/** One of the caller's own tasks. */
export const fetchMusicTask = (
  services: RelayServices,
  { platform, id }: { platform: TaskPlatform; id: string },
  exchange: Exchange,
): Promise<void> =>
  handleTask(services, exchange, {
    report: reportMusic,
    answer: async ({ caller }) => {
      admitGroup(services, caller)
      const owner = { userId: caller.user.id, platform: platform.id }
      const [task] = await findOwnMusicTasks(services, owner, [id])
      if (!task) throw new DomainError('music.task_unknown')
      exchange.res.json(success(shown(services, task)))
    },
  })

/** Several of the caller's own tasks, of one action where it is named; what is not there is left out. */
export const fetchMusicTasks = (services: RelayServices, platform: TaskPlatform, exchange: Exchange): Promise<void> =>
  handleTask(services, exchange, {
    report: reportMusic,
    answer: async ({ incoming, caller }) => {
      const { json } = await readBody(services, incoming)
      admitGroup(services, caller)
      const owner = { userId: caller.user.id, platform: platform.id }
      const tasks = await findOwnMusicTasks(services, owner, idsOf(json['ids']))
      const action = typeof json['action'] === 'string' ? json['action'].toUpperCase() : ''
      const wanted = tasks.filter((task) => action === '' || task.action === action)
      exchange.res.json(success(wanted.map((task) => shown(services, task))))
    },
  })
