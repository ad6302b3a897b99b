/** Why a task failed, where the gateway says so and not its upstream. */
export const ownReasons = {
  nameless: '上游没有返回任务编号',
  channelGone: (channelId: number) => `渠道 ${channelId} 不存在`,
  overdue: (hours: number) => `上游任务超过 ${hours} 小时未完成`,
}

const own = [ownReasons.nameless, ownReasons.channelGone(0), ownReasons.overdue(0)]

const isOwn = (reason: string): boolean => own.includes(reason.replace(/\d+/, '0'))

const hidden = '上游任务失败'

type Described = { failReason: string; description: string }

/** A task without its upstream's words of why it failed, for whom an operator hides them from. What it answered to a submission that failed are such, too. */
export function withoutUpstreamWords<Task extends Described>(task: Task): Task {
  if (task.failReason === '' || isOwn(task.failReason)) return task
  return { ...task, failReason: hidden, description: hidden }
}

/** The same of music, whose results may tell of each piece why it failed. */
export function musicWithoutUpstreamWords<Task extends { failReason: string; status: string; data?: unknown }>(
  task: Task,
): Task {
  if (task.failReason === '' || isOwn(task.failReason)) return task
  return { ...task, failReason: hidden, ...(task.status === 'FAILURE' ? { data: null } : {}) }
}
