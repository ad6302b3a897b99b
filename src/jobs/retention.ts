import { removeExpired } from '#features/retention/service.ts'
import type { Job } from './job.ts'

export const retention: Job = {
  name: 'retention',
  everySeconds: 3600,
  run: async (services, { signal }) => ({
    text: '已清理 {rows} 行过期数据，其中日志 {logs} 行',
    params: await removeExpired(services, signal),
  }),
}
