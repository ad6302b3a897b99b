import { pushAttention } from '#features/attention/push.ts'
import type { Job } from './job.ts'

export const attention: Job = {
  name: 'attention',
  everySeconds: 300,
  run: async (services) => ({
    text: '{items} 项新的待处理事项，已通知 {administrators} 位管理员',
    params: await pushAttention(services),
  }),
}
