import { drawingTimeLimitMs } from '#core/tasks/drawing.ts'
import { ownReasons } from '#core/tasks/fail-reason.ts'
import { finished } from '#core/tasks/progress.ts'
import { DrawingTask } from '#db/entities/drawing-task.ts'
import { readDrawingReports } from './drawing-report.ts'
import { changesOf, updateDrawing } from './drawing-update.ts'
import { givenUp, markPolled, updateEach } from './update-task.ts'
import { inParts, mostAsked } from './rounds.ts'
import type { UpstreamChannel } from '#relay/upstream-call/channel.ts'
import { askUpstream, findTaskChannels, reasonOf, type TaskServices, withoutKey } from './task-channels.ts'

/** How many drawings one round looks at; those not asked for longest come first. */
const mostInRound = 2000

/** One round: asks each channel after its unfinished drawings, and ends those that nobody will report on. */
export async function pollDrawings(services: TaskServices): Promise<number> {
  const tasks = await services.database.orm.em
    .fork()
    .find(
      DrawingTask,
      { progress: { $ne: finished } },
      { orderBy: { polledAt: 'asc nulls first', id: 'asc' }, limit: mostInRound, disableIdentityMap: true },
    )
  await look(services, tasks)
  return tasks.length
}

/** The same for some tasks alone, at once. */
export async function askAfterDrawings(services: TaskServices, ids: number[]): Promise<void> {
  const tasks = await services.database.orm.em
    .fork()
    .find(DrawingTask, { id: { $in: ids }, progress: { $ne: finished } }, { disableIdentityMap: true })
  await look(services, tasks)
}

async function look(services: TaskServices, tasks: DrawingTask[]): Promise<void> {
  if (tasks.length === 0) return
  const now = services.ambient.now()
  const nameless = tasks.filter((task) => task.mjId === '')
  for (const task of nameless) {
    await updateDrawing(services, task.id, givenUp(task.failReason || ownReasons.nameless, now))
  }
  const named = tasks.filter((task) => task.mjId !== '')
  const channels = await findTaskChannels(services, [...new Set(named.map((task) => task.channelId))])
  for (const task of named.filter(({ channelId }) => !channels.has(channelId))) {
    await updateDrawing(services, task.id, givenUp(ownReasons.channelGone(task.channelId), now))
  }
  const reachable = named.filter(({ channelId }) => channels.has(channelId))
  const places = [...Map.groupBy(reachable, (task) => `${task.channelId} ${task.keyHmac}`).values()]
  await inParts(places, async (group) => {
    const [first] = group
    const place = first && channels.get(first.channelId)?.(first.keyHmac)
    for (let at = 0; place && at < group.length; at += mostAsked)
      await askPlace(services, place, group.slice(at, at + mostAsked))
  })
  const overdue = reachable.filter((task) => (task.submittedAt?.getTime() ?? 0) < now.getTime() - drawingTimeLimitMs)
  for (const task of overdue) await updateDrawing(services, task.id, givenUp(ownReasons.overdue(1), now))
}

async function askPlace(services: TaskServices, place: UpstreamChannel, tasks: DrawingTask[]): Promise<void> {
  const ids = [...new Set(tasks.map((task) => task.mjId))]
  try {
    const answer = await askUpstream(services, place, {
      path: '/mj/task/list-by-condition',
      headers: { 'mj-api-secret': place.key },
      body: { ids },
    })
    const reports = new Map(readDrawingReports(answer).map((report) => [report.id, report]))
    await updateEach(services, { tasks, place }, async (task) => {
      const report = reports.get(task.mjId)
      const changes = report && changesOf(task, withoutKey(report, place), services.ambient.now())
      if (changes) await updateDrawing(services, task.id, changes)
    })
  } catch (error) {
    const reason = reasonOf(error, place)
    services.log.warn({ reason, channel: place.id }, 'a channel could not be asked after its drawings')
  }
  await markPolled(services, 'drawing_tasks', tasks)
}
