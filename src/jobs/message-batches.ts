import { pollBatches } from '#features/message-batches/service.ts'
import type { Job } from './job.ts'

/** Charges batches of messages whose owners never ask for them again. */
export const messageBatches: Job = {
  name: 'message-batches',
  everySeconds: 30,
  run: async (services) => ({ text: '已查询 {batches} 个批量请求', params: { batches: await pollBatches(services) } }),
}
