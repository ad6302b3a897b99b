import { pollTasks } from '#features/tasks/service/poll.ts'
import type { Job } from './job.ts'

/** Asks upstreams what became of drawings and music, and ends what nobody will report on. */
export const taskPolling: Job = {
  name: 'task-polling',
  everySeconds: 15,
  run: async (services) => ({
    text: '已查询 {drawings} 个绘图任务和 {jobs} 个音乐任务',
    params: await pollTasks(services),
  }),
}
