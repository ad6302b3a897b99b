import { platformOf, taskTimeLimitMs } from '#core/tasks/platforms.ts'
import { ownReasons } from '#core/tasks/fail-reason.ts'
import { finished } from '#core/tasks/progress.ts'
import { MusicTask } from '#db/entities/music-task.ts'
import { readMusicReports } from './music-report.ts'
import { changesOf, updateMusicTask } from './music-update.ts'
import { givenUp, markPolled, updateEach } from './update-task.ts'
import { inParts, mostAsked } from './rounds.ts'
import type { UpstreamChannel } from '#relay/upstream-call/channel.ts'
import { askUpstream, findTaskChannels, reasonOf, type TaskServices, withoutKey } from './task-channels.ts'

/** How many jobs one round looks at; those not asked for longest come first. */
const mostInRound = 500

/** One round over every platform: asks each channel after its unfinished jobs, and ends those that nobody will report on. */
export async function pollMusic(services: TaskServices): Promise<number> {
  const tasks = await services.database.orm.em
    .fork()
    .find(
      MusicTask,
      { progress: { $ne: finished }, status: { $nin: ['SUCCESS', 'FAILURE'] } },
      { orderBy: { polledAt: 'asc nulls first', id: 'asc' }, limit: mostInRound, disableIdentityMap: true },
    )
  if (tasks.length === 0) return 0
  const now = services.ambient.now()
  for (const task of tasks.filter(({ taskId }) => taskId === '')) {
    await updateMusicTask(services, task.id, givenUp(task.failReason || ownReasons.nameless, now))
  }
  const named = tasks.filter(({ taskId }) => taskId !== '')
  const channels = await findTaskChannels(services, [...new Set(named.map((task) => task.channelId))])
  for (const task of named.filter(({ channelId }) => !channels.has(channelId))) {
    await updateMusicTask(services, task.id, givenUp(ownReasons.channelGone(task.channelId), now))
  }
  const reachable = named.filter(({ channelId }) => channels.has(channelId))
  const groups = Map.groupBy(reachable, (task) => `${task.platform} ${task.channelId} ${task.keyHmac}`)
  await inParts([...groups.values()], async (group) => {
    const [first] = group
    const place = first && channels.get(first.channelId)?.(first.keyHmac)
    for (let at = 0; place && at < group.length; at += mostAsked)
      await askPlace(services, place, group.slice(at, at + mostAsked))
  })
  const overdue = reachable.filter((task) => (task.submittedAt?.getTime() ?? 0) < now.getTime() - taskTimeLimitMs)
  for (const task of overdue) await updateMusicTask(services, task.id, givenUp(ownReasons.overdue(24), now))
  return tasks.length
}

async function askPlace(services: TaskServices, place: UpstreamChannel, tasks: MusicTask[]): Promise<void> {
  const platform = platformOf(tasks[0]?.platform ?? '')
  if (!platform) return
  const ids = [...new Set(tasks.map((task) => task.taskId))]
  try {
    const answer = await askUpstream(services, place, {
      path: platform.fetchPath,
      headers: { authorization: `Bearer ${place.key}` },
      body: { ids },
    })
    const reports = new Map(readMusicReports(answer).map((report) => [report.task_id, report]))
    await updateEach(services, { tasks, place }, async (task) => {
      const report = reports.get(task.taskId)
      const changes = report && changesOf(task, withoutKey(report, place), services.ambient.now())
      if (changes) await updateMusicTask(services, task.id, changes)
    })
  } catch (error) {
    const reason = reasonOf(error, place)
    services.log.warn({ reason, channel: place.id }, 'a channel could not be asked after its jobs')
  }
  await markPolled(services, 'music_tasks', tasks)
}
